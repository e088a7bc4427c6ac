/**
 * A form with one file as a stream: the file is read as it is sent, so that it may be of any size, and whoever waits
 * can be told how much of it has left.
 */
export interface Upload {
  fields: readonly (readonly [name: string, value: string])[]
  file: Blob
  fileName: string
}

/** @param onSent told of the share of the whole that was taken so far, 0 to 1 */
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
    // A Blob put together of others leaves out what lies on disk.
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
