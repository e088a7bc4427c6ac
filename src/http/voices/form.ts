/** Forms for voices: one clip, under any of the names that clients use for it, and text fields. */
import { MynaError } from '../../domain/error.ts'
import type { Timer } from '../../domain/time.ts'
import type { Body } from '../body.ts'
import { withForm } from '../multipart.ts'
import { PacedBody } from '../paced-body.ts'

export interface FormLimits {
  maxFileBytes: number
  timer: Timer
  /** Folder for uploads while they are read. */
  dir: string
}

export interface Upload {
  fields: Body
  file: { name: string; bytes: Uint8Array }
}

/** The first is the one that refusals name. */
export type FileFields = readonly [string, ...string[]]

export const clipFields: FileFields = [
  'file',
  'clip',
  'files',
  'audio_sample',
  'audio',
  'audio_file',
  'sample',
  'reference',
]

export const isMultipart = (request: Request): boolean =>
  /^\s*multipart\/form-data\b/i.test(request.headers.get('content-type') ?? '')

/**
 * Exactly one file.
 * @param check may refuse the fields first: whether a file belongs to them can depend on what they say
 * @throws MynaError `missing_file`, `too_many_files`, `request_too_large`, `request_timeout`, `validation_error`,
 * `storage_full`
 */
export function readUpload(
  request: Request,
  limits: FormLimits,
  names: FileFields,
  check: (fields: Body) => void = () => {},
): Promise<Upload> {
  const [param] = names
  return withForm(request, { ...limits, fileFields: new Set(names) }, async ({ fields, file, fileCount }) => {
    check(fields)
    // A browser sends an empty part without a name when nothing was chosen.
    if (file === null || (file.bytes === 0 && file.fileName === '')) {
      throw new MynaError('missing_file', `The form has no audio file. Send it as '${param}'.`, { param })
    }
    if (fileCount > 1) {
      throw new MynaError('too_many_files', `The form has ${fileCount} files; send exactly one.`, { param })
    }
    return { fields, file: { name: file.fileName, bytes: await Bun.file(file.path).bytes() } }
  })
}

/** Ignores files. @throws MynaError `request_too_large`, `request_timeout`, `validation_error` */
export const readFields = (request: Request, limits: FormLimits): Promise<Body> =>
  withForm(request, { ...limits, maxFileBytes: 0, fileFields: new Set() }, ({ fields }) => fields)

/**
 * Reads what the client is still sending, within the limits, so that the client gets to read the answer. Never rejects.
 */
export async function drained(request: Request, { maxFileBytes, timer }: FormLimits): Promise<void> {
  if (request.bodyUsed || request.body === null) return
  const body = new PacedBody(request, timer)
  try {
    for (let left = maxFileBytes; left >= 0;) {
      const piece = await body.read()
      if (piece === null) return
      left -= piece.length
    }
  } catch {
    // The client disconnected, or sends too slowly.
  } finally {
    body.close()
  }
}
