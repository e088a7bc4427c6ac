/**
 * Forms of voices: one clip under any of the names that clients use for it, and text fields. Lists and maps arrive as
 * repeated and bracketed fields; what they mean is the business of `voice-fields`.
 */
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'
import { type Body, readAll } from './body.ts'
import { invalidInput } from './invalid.ts'

export interface FormLimits {
  maxFileBytes: number
  timer: Timer
}

export interface Upload {
  fields: Body
  file: { name: string; bytes: Uint8Array }
}

/** What a form holds beside its file: fields, boundaries, headers of parts. */
const overheadBytes = 262_144
const fileFields = /^(file|clip|files(\[\])?|audio_sample|audio|audio_file|sample|reference)$/

export const isMultipart = (request: Request): boolean =>
  /^\s*multipart\/form-data\b/i.test(request.headers.get('content-type') ?? '')

/**
 * Exactly one file.
 * @throws MynaError `missing_file`, `too_many_files`, `request_too_large`, `request_timeout`, `validation_error`
 */
export async function readUpload(request: Request, limits: FormLimits): Promise<Upload> {
  const parts = await partsOf(request, limits)
  const files = parts.filter((part): part is [string, File] => fileFields.test(part[0]) && part[1] instanceof File)
  const [first, second] = files
  if (first === undefined) {
    throw new MynaError('missing_file', "The form holds no audio file. Send it as 'file'.", { param: 'file' })
  }
  if (second !== undefined) {
    throw new MynaError('too_many_files', `The form holds ${files.length} files; send exactly one.`, { param: 'file' })
  }
  const [, file] = first
  if (file.size > limits.maxFileBytes) {
    throw new MynaError('request_too_large', `The file is larger than ${limits.maxFileBytes} bytes.`, {
      param: 'file',
      extras: { max_bytes: limits.maxFileBytes },
    })
  }
  return { fields: fieldsOf(parts), file: { name: file.name, bytes: await file.bytes() } }
}

/** @throws MynaError `request_too_large`, `request_timeout`, `validation_error` */
export async function readFields(request: Request, limits: FormLimits): Promise<Body> {
  return fieldsOf(await partsOf(request, { ...limits, maxFileBytes: 0 }))
}

/** Takes what the client is still sending, within the limits, so that it comes to read the answer. Never rejects. */
export async function drained(request: Request, limits: FormLimits): Promise<void> {
  if (request.bodyUsed) return
  await readAll(request, limits.maxFileBytes + overheadBytes, limits.timer).catch(() => {})
}

async function partsOf(request: Request, limits: FormLimits): Promise<[string, string | File][]> {
  const bytes = await readAll(request, limits.maxFileBytes + overheadBytes, limits.timer)
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  try {
    return [...((await new Response(bytes, { headers }).formData()) as unknown as Iterable<[string, string | File]>)]
  } catch {
    throw invalidInput(['body', 'body'], 'the form cannot be read: is its boundary right?', 'value_error')
  }
}

/** `key[]` and a repeated `key` make a list, `key[name]` a map; otherwise the text itself. */
function fieldsOf(parts: readonly [string, string | File][]): Body {
  const fields = Object.create(null) as Record<string, unknown>
  for (const [field, value] of parts) {
    if (typeof value !== 'string') continue
    const match = /^([a-z_]+)(?:\[([^\]]*)\])?$/.exec(field)
    const [, name, key] = match ?? []
    if (name === undefined) continue
    const known = fields[name]
    if (key === undefined) fields[name] = known === undefined ? value : [known, value].flat()
    else if (key === '') fields[name] = [known ?? [], value].flat()
    else fields[name] = { ...(typeof known === 'object' ? known : {}), [key]: value }
  }
  return fields
}
