/**
 * A form with one file as a stream: the file is read while it is sent, so it may have any size, and progress can be
 * shown.
 */
import { stat } from 'node:fs/promises'
import { Failure } from '../terminal/terminal.ts'

export interface Upload {
  fields: readonly (readonly [name: string, value: string])[]
  file: Blob
  fileName: string
}

/** @param onSent called with the share that was taken so far, 0 to 1 */
export function formStream(
  { fields, file, fileName }: Upload,
  onSent: (share: number) => void,
): { body: ReadableStream<Uint8Array>; contentType: string } {
  const boundary = `myna-${crypto.randomUUID()}`
  const part = (name: string, rest: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}`
  const texts = fields.map(([name, value]) => part(name, `\r\n\r\n${value}\r\n`))
  const quoted = fileName.replace(/["\\\r\n]/g, '_')
  const ofFile = part('file', `; filename="${quoted}"`)
  const head = `${texts.join('')}${ofFile}\r\nContent-Type: application/octet-stream\r\n\r\n`
  const [first, last] = [Buffer.from(head), Buffer.from(`\r\n--${boundary}--\r\n`)]
  const total = first.length + file.size + last.length
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let sent = 0
    const count = (chunk: Uint8Array): Uint8Array => {
      sent += chunk.length
      onSent(sent / total)
      return chunk
    }
    yield count(first)
    // A Blob composed of others omits parts that are on disk.
    for await (const chunk of file.stream()) yield count(chunk)
    yield count(last)
  }
  return { body: streamOf(chunks()), contentType: `multipart/form-data; boundary=${boundary}` }
}

const streamOf = (chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  )

// The recording that a command sends: checked here first, so that a file that is not a recording never leaves the
// machine.
/** @param whenEmpty the error's code for a file without a byte @throws Failure `cannot_read`, `whenEmpty` */
export async function recordingIn(path: string, whenEmpty: string): Promise<Blob> {
  const found = await stat(path).catch((error: Error & { code?: string }) => {
    const why = error.code === 'ENOENT' ? `There is no file ${path}.` : `Cannot read ${path}: ${error.message}`
    throw new Failure(why, 'cannot_read')
  })
  if (!found.isFile()) throw new Failure(`Cannot read ${path}: not a regular file.`, 'cannot_read')
  if (found.size === 0) throw new Failure(`${path} is empty.`, whenEmpty)
  return Bun.file(path)
}
