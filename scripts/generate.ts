/**
 * Writes the parts of README.md that are facts of the code: the settings. `--check` writes nothing and fails when they
 * are not current; the test command does that.
 */
import { join } from 'node:path'
import { settings } from '../src/config.ts'

const path = join(import.meta.dir, '..', 'README.md')

const rows = Object.values(settings).map(({ env, default: value, about }) => {
  const shown = Array.isArray(value) ? value.join(',') : String(value)
  return `| \`${env}\` | ${shown === '' ? '' : `\`${shown}\``} | ${about} |`
})
const table = ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')

/** @throws Error when the file lacks the marks between which the part stands */
export function withPart(text: string, name: string, part: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(open)
  const to = text.indexOf(close)
  if (from < 0 || to < from) throw new Error(`README.md has no part ${name}`)
  return `${text.slice(0, from + open.length)}\n\n${part}\n\n${text.slice(to)}`
}

if (import.meta.main) {
  const before = await Bun.file(path).text()
  const after = withPart(before, 'settings', table)
  if (!process.argv.includes('--check')) await Bun.write(path, after)
  else if (cells(before) !== cells(after)) {
    console.error('README.md is not current: run bun scripts/generate.ts')
    process.exit(1)
  }
}

/** The same table however its columns are aligned. */
function cells(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
}
