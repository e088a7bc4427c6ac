import { expect, test } from 'bun:test'
import { reflow } from './reflow.ts'

test('paragraphs are broken anew, and examples stay as they are', () => {
  const text = `
Reads the database and the files
of voices, and changes nothing.

Examples:
  myna audit --data /a/folder/with/a/name/that/is/long --json
  myna audit
`
  expect(reflow(text, 44)).toBe(`
Reads the database and the files of voices,
and changes nothing.

Examples:
  myna audit --data /a/folder/with/a/name/that/is/long --json
  myna audit
`)
})
