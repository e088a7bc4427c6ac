/**
 * Writes the parts of README.md that are facts of the code: the settings, the models and the API's routes. `--check`
 * writes nothing and fails when they are not current; the test command does that.
 */
import { join } from 'node:path'
import { cards } from '../src/catalog/cards.ts'
import { settings } from '../src/config.ts'
import type { Card } from '../src/domain/card.ts'
import { startInstance } from '../src/testing/instance.ts'

const path = join(import.meta.dir, '..', 'README.md')

function settingsTable(): string {
  const rows = Object.values(settings).map(({ env, default: value, about }) => {
    const shown = Array.isArray(value) ? value.join(',') : String(value)
    return [`\`${env}\``, shown === '' ? '' : `\`${shown}\``, about]
  })
  return table(['variable', 'default', 'meaning'], rows)
}

function modelsTable(): string {
  const rows = cards
    .toSorted((a, b) => a.task.localeCompare(b.task) * -1 || b.preference - a.preference)
    .map((card) => [`\`${card.id}\``, abilities(card), languages(card), download(card), card.license.name])
  return table(['id', 'does', 'languages', 'download', 'licence'], rows)
}

function abilities({ task, voices, cloning, options }: Card): string {
  if (task === 'automatic-speech-recognition')
    return options.translates === true ? 'transcribes, translates' : 'transcribes'
  const speaks = `speaks, ${voices.length} ${voices.length === 1 ? 'voice' : 'voices'}`
  return cloning === null ? speaks : `${speaks}, clones${cloning === 'approximate' ? ' approximately' : ''}`
}

const languages = ({ languages: all }: Card): string => (all.length > 8 ? `${all.length}` : all.join(' '))

function download({ files, builtIn }: Card): string {
  if (builtIn) return 'built in'
  const known = files.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)
  const isWhole = files.every(({ sizeBytes }) => sizeBytes !== null)
  return known === 0 ? 'the hub knows' : `${isWhole ? '' : 'over '}${Math.round(known / 1e6)} MB`
}

interface ApiDocument {
  paths: Record<string, Record<string, { summary?: string }>>
}

/** As a running server describes itself. */
async function routesTable(): Promise<string> {
  await using instance = await startInstance()
  const { paths } = (await (await instance.fetch('/openapi.json')).json()) as ApiDocument
  const rows = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, { summary = '' }]) => [`\`${method.toUpperCase()} ${route}\``, summary]),
  )
  return table(['route', 'what it does'], rows)
}

const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** @throws Error when the file lacks the marks between which the part stands */
function withPart(text: string, name: string, part: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(open)
  const to = text.indexOf(close)
  if (from < 0 || to < from) throw new Error(`README.md has no part ${name}`)
  return `${text.slice(0, from + open.length)}\n\n${part}\n\n${text.slice(to)}`
}

if (import.meta.main) {
  const before = await Bun.file(path).text()
  const parts = { settings: settingsTable(), models: modelsTable(), api: await routesTable() }
  const after = Object.entries(parts).reduce((text, [name, part]) => withPart(text, name, part), before)
  if (!process.argv.includes('--check')) await Bun.write(path, after)
  else if (cellsOf(before) !== cellsOf(after)) {
    console.error('README.md is not current: run bun scripts/generate.ts')
    process.exit(1)
  }
}

/** The same tables however their columns are aligned. */
function cellsOf(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
}
