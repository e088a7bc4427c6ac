import { expect, test } from 'bun:test'
import { isShortJson } from './short-json.ts'

const nested = (depth: number): unknown => JSON.parse('{"a":['.repeat(depth) + ']}'.repeat(depth))

test.each([
  ['nothing', undefined, true],
  ['null', null, true],
  ['as much as is allowed', ['a'.repeat(96)], true],
  ['a character more', ['a'.repeat(97)], false],
  ['many small values', Array.from({ length: 60 }, () => 1), false],
  ['a little nesting', nested(10), true],
  ['a lot of it', nested(17), false],
])('%s', (_, value, expected) => {
  expect(isShortJson(value, 100)).toBe(expected)
})

test('a value that is too deep to be made text is refused like any other', () => {
  expect(isShortJson(nested(50_000), 1_000_000)).toBe(false)
})
