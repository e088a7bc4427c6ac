/**
 * Writes the parts of docs/ that follow from the code: settings, models, routes, the fields of each request, and the
 * error codes. `--check` writes nothing and fails when they are out of date; the test command runs that.
 */
import { join } from 'node:path'
import type { OpenAPIV3_1 } from 'openapi-types'
import { cards } from '../src/catalog/cards.ts'
import { settings } from '../src/config.ts'
import type { Card } from '../src/domain/card.ts'
import { codes } from '../src/http/error-codes.ts'
import { startInstance } from '../src/testing/instance.ts'

const folder = join(import.meta.dir, '..', 'docs')

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
  return table(['id', 'does', 'languages', 'download', 'license'], rows)
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
  return known === 0 ? 'size not published' : `${isWhole ? '' : 'over '}${Math.round(known / 1e6)} MB`
}

/** The running server's description of itself. */
async function readDocument(): Promise<OpenAPIV3_1.Document> {
  await using instance = await startInstance()
  return (await (await instance.fetch('/openapi.json')).json()) as OpenAPIV3_1.Document
}

function routesTable({ paths }: OpenAPIV3_1.Document): string {
  const rows = Object.entries(paths ?? {}).flatMap(([route, methods]) =>
    Object.entries(methods as Record<string, { summary?: string }>).map(([method, { summary = '' }]) => [
      `\`${method.toUpperCase()} ${route}\``,
      summary,
    ]),
  )
  return table(['route', 'what it does'], rows)
}

/** @param name of a request's schema in the document */
function fieldsTable({ components }: OpenAPIV3_1.Document, name: string): string {
  const { properties, required = [] }: OpenAPIV3_1.SchemaObject = components?.schemas?.[name] ?? {}
  if (properties === undefined) throw new Error(`the document has no fields of ${name}`)
  const rows = Object.entries(properties as Record<string, OpenAPIV3_1.SchemaObject>).map(([field, schema]) => [
    `\`${field}\``,
    kindOf(schema),
    required.includes(field) ? 'required' : schema.default === undefined ? '' : `\`${schema.default}\``,
    schema.description ?? '',
  ])
  return table(['field', 'type', 'default', 'meaning'], rows)
}

function kindOf(schema: OpenAPIV3_1.SchemaObject): string {
  const { type, minimum, maximum, maxLength, format } = schema
  if (format === 'binary') return 'file'
  if (schema.anyOf !== undefined) return kinds(schema.anyOf.map((one) => (one as OpenAPIV3_1.SchemaObject).type))
  const allowed = schema.enum?.filter((value) => value !== null).map((value) => `\`${value}\``)
  if (allowed !== undefined) return allowed.join(', ')
  const bounds = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : ''
  return `${kinds([type])}${bounds}${maxLength === undefined ? '' : `, at most ${maxLength} characters`}`
}

const kinds = (types: readonly unknown[]): string =>
  types
    .flat()
    .filter((type) => type !== 'null' && type !== undefined)
    .join(' or ') || 'any'

function errorsTable(): string {
  const rows = Object.entries(codes)
    .toSorted(([a, one], [b, other]) => one.status - other.status || a.localeCompare(b))
    .map(([code, { status, type, about, noRetry }]) => [
      String(status),
      `\`${code}\``,
      type,
      `${about}${noRetry === true ? ' (`x-should-retry: false`)' : ''}`,
    ])
  return table(['status', 'code', 'type', 'when'], rows)
}

const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** @throws Error when the file lacks the marks around the part */
function withPart(file: string, text: string, name: string, part: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(open)
  const to = text.indexOf(close)
  if (from < 0 || to < from) throw new Error(`docs/${file} has no part ${name}`)
  return `${text.slice(0, from + open.length)}\n\n${part}\n\n${text.slice(to)}`
}

if (import.meta.main) {
  const document = await readDocument()
  const requests = [
    'SpeechRequest',
    'TranscriptionRequest',
    'VoiceChange',
    'CloneRequest',
    'ConsentRequest',
    'TextToSpeechRequest',
  ]
  const fields = Object.fromEntries(requests.map((name) => [`fields ${name}`, fieldsTable(document, name)]))
  const parts: Record<string, Record<string, string>> = {
    'settings.md': { settings: settingsTable() },
    'models.md': { models: modelsTable() },
    'api.md': { routes: routesTable(document), ...fields, errors: errorsTable() },
  }
  for (const [file, byName] of Object.entries(parts)) {
    const path = join(folder, file)
    const before = await Bun.file(path).text()
    const after = Object.entries(byName).reduce((text, [name, part]) => withPart(file, text, name, part), before)
    if (!process.argv.includes('--check')) await Bun.write(path, after)
    else if (cellsOf(before) !== cellsOf(after)) {
      console.error(`docs/${file} is out of date: run bun scripts/generate.ts`)
      process.exitCode = 1
    }
  }
}

/** The same tables, however their columns are aligned. */
function cellsOf(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
}
