/**
 * Parses forms with one file as they arrive. The file goes to disk, so that memory stays flat; its limit holds for
 * chunked uploads too and is reported as soon as it is exceeded. A second file is only counted; files under other names
 * are ignored. The spooled file is removed in every case.
 */
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'
import type { Body } from './body.ts'
import { invalidInput } from './invalid.ts'
import { PacedBody } from './paced-body.ts'

export interface FormOptions {
  maxFileBytes: number
  /** Names under which the file may arrive, each also with `[]`. */
  fileFields: ReadonlySet<string>
  /** Text fields that are ignored, however long they are. */
  unusedFields?: ReadonlySet<string>
  timer: Timer
  /** Folder for spooled files. */
  dir: string
}

export interface SpooledFile {
  path: string
  bytes: number
  /** SHA-256 in hex. */
  hash: string
  /** For display only: no path, no control characters. */
  fileName: string
  declaredType: string
}

export interface Form {
  /** `key[]` and a repeated `key` make a list, `key[name]` an object; anything else is the text itself. */
  fields: Body
  /** The first file. */
  file: SpooledFile | null
  fileCount: number
}

/** A form whose file stays on disk until `remove` is called. */
export interface SpooledForm extends Form {
  remove(): void
}

const maxFields = 50
const maxFieldBytes = 65_536
/** Boundaries, part headers and text. */
const overheadBytes = maxFields * maxFieldBytes + 262_144
const maxFileNameChars = 255

/**
 * @param use gets the form; the file exists until `use` is done
 * @throws MynaError `unsupported_media_type`, `request_too_large`, `request_timeout`, `validation_error`,
 * `storage_full`; whatever `use` throws
 */
export async function withForm<T>(
  request: Request,
  options: FormOptions,
  use: (form: Form) => T | Promise<T>,
): Promise<T> {
  const form = await spoolForm(request, options)
  try {
    return await use(form)
  } finally {
    form.remove()
  }
}

/** Like `withForm`, but the caller removes the file. @throws MynaError as above; then no file is left */
export async function spoolForm(request: Request, options: FormOptions): Promise<SpooledForm> {
  const spool = new Spool(options)
  try {
    const fields = await parse(request, options, spool)
    return { fields, file: spool.file(), fileCount: spool.count, remove: () => spool.remove() }
  } catch (error) {
    spool.remove()
    throw error
  }
}

async function parse(request: Request, options: FormOptions, spool: Spool): Promise<Body> {
  const busboy = open(request, options.fileFields)
  const fields = Object.create(null) as Record<string, unknown>
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {})
  const guarded =
    <A extends unknown[]>(act: (...given: A) => void) =>
    (...given: A) => {
      try {
        act(...given)
      } catch (error) {
        reject(error)
      }
    }
  busboy.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || options.unusedFields?.has(plainName(name)) === true) return
    if (valueTruncated) reject(invalid(name, `string should have at most ${maxFieldBytes} bytes`))
    else addField(fields, name, value)
  })
  busboy.on('fieldsLimit', () => reject(invalid('body', `a form has at most ${maxFields} fields`)))
  busboy.on('error', (cause) => reject(unreadable(cause)))
  busboy.on('file', (name, stream, fileName, _encoding, declaredType) => {
    // This happens when the whole form fails, and that is reported elsewhere.
    stream.on('error', () => {})
    const isOurs = options.fileFields.has(plainName(name))
    if (isOurs) guarded(() => spool.begin(stream, fileName, declaredType, guarded))()
    else stream.resume()
  })
  const finished = once(busboy, 'finish')
  finished.catch(() => {})
  await feed(request, busboy, 2 * options.maxFileBytes + overheadBytes, options.timer, failed)
  busboy.end()
  await Promise.race([finished, failed])
  return fields
}

export const wrongMediaType = (): MynaError =>
  new MynaError('unsupported_media_type', 'This route takes multipart/form-data.')

function open(request: Request, fileFields: ReadonlySet<string>): BusboyInstance {
  const contentType = request.headers.get('content-type') ?? ''
  if (!/^\s*multipart\/form-data\b/i.test(contentType)) {
    throw wrongMediaType()
  }
  const headers: BusboyHeaders = { 'content-type': contentType }
  const limits = { fields: maxFields, fieldSize: maxFieldBytes, headerPairs: 20 }
  // Where a file is expected, a part without a file name is a file too.
  const isPartAFile = (field: string | undefined, type: string | undefined, fileName: string | undefined) =>
    fileName !== undefined || type === 'application/octet-stream' || fileFields.has(plainName(field ?? ''))
  try {
    return new Busboy({ headers, limits, isPartAFile })
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** Passes the body to the parser at the parser's pace, until the end or the first failure. */
async function feed(
  request: Request,
  busboy: BusboyInstance,
  maxBytes: number,
  timer: Timer,
  failed: Promise<never>,
): Promise<void> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes, null)
  const body = new PacedBody(request, timer)
  let size = 0
  try {
    for (;;) {
      const piece = await Promise.race([body.read(), failed])
      if (piece === null) return
      size += piece.length
      if (size > maxBytes) throw tooLarge(maxBytes, null)
      if (!busboy.write(piece)) await Promise.race([once(busboy, 'drain'), failed])
    }
  } finally {
    body.close()
  }
}

/** The file on disk, as far as it has arrived. Written synchronously: 64 KB at a time takes microseconds. */
class Spool {
  readonly #options: FormOptions
  readonly #path: string
  readonly #hash = new Bun.CryptoHasher('sha256')
  #descriptor: number | null = null
  #bytes = 0
  #declared = { fileName: '', declaredType: '' }
  count = 0

  constructor(options: FormOptions) {
    this.#options = options
    this.#path = join(options.dir, `upload-${crypto.randomUUID()}`)
  }

  begin(
    stream: BusboyFileStream,
    fileName: string | undefined,
    declaredType: string,
    guarded: (act: (chunk: Uint8Array) => void) => (chunk: Uint8Array) => void,
  ): void {
    this.count++
    if (this.count > 1) {
      stream.resume()
      return
    }
    this.#declared = { fileName: shownName(fileName ?? ''), declaredType }
    this.#descriptor = this.#open()
    stream.on(
      'data',
      guarded((chunk) => this.#write(chunk)),
    )
  }

  file(): SpooledFile | null {
    if (this.count === 0) return null
    this.#close()
    return { path: this.#path, bytes: this.#bytes, hash: this.#hash.digest('hex'), ...this.#declared }
  }

  remove(): void {
    this.#close()
    rmSync(this.#path, { force: true })
  }

  /** The folder may have been deleted while the server runs. */
  #open(): number {
    try {
      return openSync(this.#path, 'wx', 0o600)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw roomless(error)
    }
    try {
      mkdirSync(this.#options.dir, { mode: 0o700 })
      return openSync(this.#path, 'wx', 0o600)
    } catch (error) {
      throw roomless(error)
    }
  }

  #write(chunk: Uint8Array): void {
    if (this.#descriptor === null) return
    this.#bytes += chunk.length
    if (this.#bytes > this.#options.maxFileBytes) throw tooLarge(this.#options.maxFileBytes, 'file')
    this.#hash.update(chunk)
    try {
      for (let at = 0; at < chunk.length;) at += writeSync(this.#descriptor, chunk, at)
    } catch (error) {
      throw roomless(error)
    }
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The disk's refusal as the client sees it; anything else as it is. */
const roomless = (error: unknown): unknown =>
  ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'].includes(codeOf(error))
    ? new MynaError('storage_full', 'There is no space for the file.', { cause: error })
    : error

/** The name without the `[]` of a list. */
const plainName = (name: string): string => name.replace(/\[\]$/, '')

function addField(fields: Record<string, unknown>, field: string, value: string): void {
  const [, name, key] = /^([a-z_]+)(?:\[([^\]]*)\])?$/.exec(field) ?? []
  if (name === undefined) return
  const known = fields[name]
  if (key === undefined) fields[name] = known === undefined ? value : [known, value].flat()
  else if (key === '') fields[name] = [known ?? [], value].flat()
  else fields[name] = Object.assign(Object.create(null), isPlain(known) ? known : {}, { [key]: value })
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The last part of the name, percent-decoded if possible, without invisible characters. */
function shownName(given: string): string {
  const name = given.split(/[/\\]/).at(-1) ?? ''
  return [...decoded(name).split(/[/\\]/).at(-1)!.toWellFormed().replace(/\p{C}/gu, '')]
    .slice(0, maxFileNameChars)
    .join('')
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const invalid = (field: string, message: string): MynaError => invalidInput(['body', field], message, 'value_error')

function unreadable(cause: unknown): MynaError {
  const error = invalid('body', 'the form cannot be parsed: is its boundary right, and is it complete?')
  error.cause = cause
  return error
}

const tooLarge = (maxBytes: number, param: string | null): MynaError =>
  new MynaError('request_too_large', `The ${param ?? 'form'} is larger than ${maxBytes} bytes.`, {
    ...(param !== null && { param }),
    extras: { max_bytes: maxBytes },
  })
