/**
 * Reads one card: from JSON in snake_case, as in `models/`, to the domain's `Card`. Cards are written by hand, so every
 * field is checked when the program starts and an error names the file and the field: the author finds a slip, not the
 * first client that asks for the voice.
 */
import type { Card, CardFile, CardLicense, CardOption, CardVoice, EmbeddedFile, Task, Weights } from '../domain/card.ts'

type Fields = Record<string, unknown>

/** A card that cannot be used. Its message begins with `file: field`. */
export class CardError extends Error {}

const tasks: readonly Task[] = ['text-to-speech', 'automatic-speech-recognition']
const weights: readonly Weights[] = ['int8', 'fp16', 'fp32']
const idPattern = /^[A-Za-z0-9_.-]{1,128}$/
const languagePattern = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?$/

/** The fields of one object, read by name; `end` refuses fields that were not read (misspelt ones). */
class Reader {
  readonly #asked = new Set<string>()

  constructor(
    readonly file: string,
    readonly path: string,
    readonly fields: Fields,
  ) {}

  fail(field: string, expected: string): never {
    const found = this.fields[field]
    throw new CardError(`${this.file}: ${this.path}${field}: expected ${expected}, found ${JSON.stringify(found)}`)
  }

  take(field: string): unknown {
    this.#asked.add(field)
    return this.fields[field]
  }

  text(field: string, max: number): string {
    const value = this.take(field)
    if (typeof value === 'string' && value.trim() !== '' && value.length <= max) return value
    return this.fail(field, `text of 1 to ${max} characters`)
  }

  textOrNull(field: string, max: number): string | null {
    return this.take(field) === null ? null : this.text(field, max)
  }

  oneOfOrNull<const T extends string>(field: string, known: readonly T[]): T | null {
    const value = this.take(field)
    if (value === null) return null
    return known.find((one) => one === value) ?? this.fail(field, `${known.join(', ')} or null`)
  }

  id(field: string): string {
    const value = this.take(field)
    return typeof value === 'string' && idPattern.test(value) ? value : this.fail(field, 'letters, digits, _ . -')
  }

  matching(field: string, pattern: RegExp, what: string): string {
    const value = this.take(field)
    return typeof value === 'string' && pattern.test(value) ? value : this.fail(field, what)
  }

  /** All of the object's fields as plain values. */
  options(): Record<string, CardOption> {
    const values = Object.keys(this.fields).map((name): [string, CardOption] => {
      const value = this.take(name)
      if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return [name, value]
      return this.fail(name, 'text, a number, true or false')
    })
    return Object.fromEntries(values)
  }

  language(field: string): string {
    const value = this.take(field)
    if (typeof value === 'string' && languagePattern.test(value)) return value
    return this.fail(field, 'a BCP-47 language')
  }

  whole(field: string, min: number, max: number): number {
    const value = this.take(field)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    return this.fail(field, `a whole number from ${min} to ${max}`)
  }

  flag(field: string): boolean {
    const value = this.take(field)
    return typeof value === 'boolean' ? value : this.fail(field, 'true or false')
  }

  texts(field: string, accepts: (item: string) => boolean, what: string): string[] {
    const value = this.take(field)
    if (!Array.isArray(value)) return this.fail(field, `a list of ${what}`)
    const items = value.filter((item): item is string => typeof item === 'string' && accepts(item))
    const distinct = new Set(items).size === value.length
    return value.length > 0 && distinct ? items : this.fail(field, `a list of one or more distinct ${what}`)
  }

  object(field: string): Reader {
    const value = this.take(field)
    if (!isFields(value)) return this.fail(field, 'an object')
    return new Reader(this.file, `${this.path}${field}.`, value)
  }

  objects(field: string): Reader[] {
    const value = this.take(field)
    if (!Array.isArray(value)) return this.fail(field, 'a list of objects')
    return value.map((item: unknown, at) =>
      isFields(item) ? new Reader(this.file, `${this.path}${field}[${at}].`, item) : this.fail(field, 'only objects'),
    )
  }

  /** All of the object's fields as text. */
  map(maxKey: number, maxValue: number): Record<string, string> {
    const names = Object.keys(this.fields)
    for (const name of names) if (name.length > maxKey) this.fail(name, `a name of at most ${maxKey} characters`)
    return Object.fromEntries(names.map((name) => [name, this.text(name, maxValue)]))
  }

  end(): void {
    for (const field of Object.keys(this.fields)) if (!this.#asked.has(field)) this.fail(field, 'no such field')
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isScript(name: string): boolean {
  try {
    new RegExp(`\\p{Script=${name}}`, 'u')
    return true
  } catch {
    return false
  }
}

function readLicense(from: Reader): CardLicense {
  const license = {
    name: from.text('name', 100),
    attribution: from.text('attribution', 1000),
    limits: from.textOrNull('limits', 1000),
  }
  from.end()
  return license
}

const sha256Pattern = /^[0-9a-f]{64}$/
const repoPattern = /^[A-Za-z0-9_.-]{1,96}\/[A-Za-z0-9_.-]{1,96}$/
/** `main` where no commit has been published: what it is at the time of the pull is pinned then. */
const revisionPattern = /^([0-9a-f]{40}|main)$/
const pathPattern = /^(?!.*(^|\/)\.\.?(\/|$))[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/

/** Files are listed under the repository and the commit from which they come. */
function readDownload(from: Reader): CardFile[] {
  const repo = from.matching('repo', repoPattern, 'owner/name')
  const revision = from.matching('revision', revisionPattern, 'a commit or main')
  const files = from.objects('files').map((file) => {
    const path = file.matching('path', pathPattern, 'a relative path')
    const read = {
      name: file.fields.name === undefined ? path : file.matching('name', pathPattern, 'a relative path'),
      repo,
      revision,
      path,
      sizeBytes: file.take('size_bytes') === null ? null : file.whole('size_bytes', 1, Number.MAX_SAFE_INTEGER),
      sha256: file.take('sha256') === null ? null : file.matching('sha256', sha256Pattern, 'a SHA-256 in hex'),
    }
    file.end()
    return read
  })
  from.end()
  return files
}

/** Files are listed under the wheel that the build takes them from. */
function readEmbedded(from: Reader): EmbeddedFile[] {
  const wheel = {
    package: from.matching('package', /^[a-z0-9-]{1,100}$/, 'the name of a package'),
    version: from.matching('version', /^[0-9][0-9A-Za-z.+-]{0,30}$/, 'a version'),
    path: from.matching('path', pathPattern, 'a path below the host of the index'),
    sizeBytes: from.whole('size_bytes', 1, Number.MAX_SAFE_INTEGER),
    sha256: from.matching('sha256', sha256Pattern, 'a SHA-256 in hex'),
  }
  const files = from.objects('files').map((file) => {
    const read = {
      name: file.matching('name', pathPattern, 'a relative path'),
      sizeBytes: file.whole('size_bytes', 1, Number.MAX_SAFE_INTEGER),
      sha256: file.matching('sha256', sha256Pattern, 'a SHA-256 in hex'),
      wheel,
      member: file.matching('member', pathPattern, 'a path within the wheel'),
    }
    file.end()
    return read
  })
  from.end()
  return files
}

/** The bounds are those of a voice record in the API. */
function readVoice(from: Reader): CardVoice {
  const voice = {
    id: from.id('id'),
    name: from.text('name', 100),
    description: from.text('description', 500),
    language: from.language('language'),
    labels: from.object('labels').map(64, 256),
  }
  if (Object.keys(voice.labels).length > 20) from.fail('labels', 'at most 20 labels')
  from.end()
  return voice
}

/**
 * @param file name of the file, for errors
 * @param json its parsed content
 * @throws CardError naming file and field
 */
export function readCard(file: string, json: unknown): Card {
  if (!isFields(json)) throw new CardError(`${file}: expected an object`)
  const from = new Reader(file, '', json)
  const task = from.take('task')
  const card: Card = {
    id: from.id('id'),
    family: from.id('family'),
    name: from.text('name', 100),
    description: from.text('description', 1000),
    task: tasks.find((known) => known === task) ?? from.fail('task', tasks.join(' or ')),
    architecture: from.id('architecture'),
    preference: from.whole('preference', 0, 1000),
    builtIn: from.flag('built_in'),
    license: readLicense(from.object('license')),
    files: from.objects('downloads').flatMap(readDownload),
    embedded: json.embedded === undefined ? [] : from.objects('embedded').flatMap(readEmbedded),
    options: from.object('options').options(),
    weights: json.weights === undefined ? null : from.oneOfOrNull('weights', weights),
    sources: from.texts('sources', (item) => item.trim() !== '' && item.length <= 1000, 'sentences'),
    languages: from.texts('languages', (item) => languagePattern.test(item), 'BCP-47 languages'),
    scripts: from.texts('scripts', isScript, 'Unicode scripts'),
    sampleRateHz: from.whole('sample_rate_hz', 8000, 48000),
    memoryBytes: from.whole('memory_bytes', 1, Number.MAX_SAFE_INTEGER),
    createdAt: from.whole('created_at', 0, 4_102_444_800),
    wordTimes: json.word_times === undefined ? false : from.flag('word_times'),
    cloning: from.oneOfOrNull('cloning', ['full', 'approximate']),
    mixing: json.mixing === undefined ? false : from.flag('mixing'),
    voices: from.objects('voices').map(readVoice),
    defaultVoice: from.textOrNull('default_voice', 128),
    voiceAliases: from.object('voice_aliases').map(128, 128),
  }
  from.end()
  checkFiles(card, from)
  checkVoices(card, from)
  return card
}

/** Files that are not inside the executable must come from somewhere, each under a name of its own. */
function checkFiles(card: Card, from: Reader): void {
  if (card.builtIn === card.files.length > 0) from.fail('downloads', card.builtIn ? 'none: it is built in' : 'files')
  const embedded = card.embedded ?? []
  if (!card.builtIn && embedded.length > 0) from.fail('embedded', 'none: it is not built in')
  const isDistinct = (files: readonly { name: string }[]) =>
    new Set(files.map(({ name }) => name)).size === files.length
  if (!isDistinct(card.files)) from.fail('downloads', 'distinct names')
  if (!isDistinct(embedded)) from.fail('embedded', 'distinct names')
}

/** A model that speaks has voices, and whatever names a voice names one of them. */
function checkVoices(card: Card, from: Reader): void {
  const ids = new Set(card.voices.map((voice) => voice.id))
  if (ids.size < card.voices.length) from.fail('voices', 'distinct ids')
  const speaks = card.task === 'text-to-speech'
  if (speaks !== ids.size > 0) from.fail('voices', speaks ? 'at least one voice' : 'no voices')
  if (speaks ? !ids.has(card.defaultVoice ?? '') : card.defaultVoice !== null) {
    from.fail('default_voice', speaks ? 'the id of one of its voices' : 'null')
  }
  for (const [alias, id] of Object.entries(card.voiceAliases)) {
    if (!ids.has(id)) from.object('voice_aliases').fail(alias, 'the id of one of its voices')
    if (ids.has(alias) || !idPattern.test(alias)) from.fail('voice_aliases', 'names that are no ids of its voices')
  }
}
