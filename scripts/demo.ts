/**
 * One sentence, end to end, as a user's program would do it: the compiled executable on a free port with its own data
 * folder, the official OpenAI SDK as the client, and an MP3 file as the result.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'

const sentence = 'Hello. This is Myna: your own voice service, speaking from your own machine.'
const file = 'hello.mp3'

interface Listening {
  url: string
  first_key: string
}

const dataDir = mkdtempSync(join(tmpdir(), 'myna-demo-'))
const executable = join(import.meta.dir, '..', 'build', 'out', 'myna')
const server = Bun.spawn([executable, 'serve', '--port', '0', '--data', dataDir, '--json'], {
  stdout: 'pipe',
  stderr: 'inherit',
  env: { ...process.env, MYNA_LOG: 'quiet' },
})
try {
  const { url, first_key } = await listening(server.stdout)
  await ready(url)
  await speak(url, first_key)
} finally {
  server.kill('SIGTERM')
  await server.exited
  rmSync(dataDir, { recursive: true, force: true })
}

async function listening(output: ReadableStream<Uint8Array>): Promise<Listening> {
  let text = ''
  for await (const chunk of output) {
    text += new TextDecoder().decode(chunk)
    const end = text.indexOf('\n')
    if (end >= 0) return JSON.parse(text.slice(0, end)) as Listening
  }
  throw new Error('the server ended before it listened')
}

async function ready(url: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    if ((await fetch(new URL('/readyz', url))).ok) return
    await Bun.sleep(50)
  }
  throw new Error('the server did not become ready')
}

async function speak(url: string, key: string): Promise<void> {
  const client = new OpenAI({ baseURL: url, apiKey: key })
  const beganMs = performance.now()
  const response = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: sentence })
  const parts: Uint8Array[] = []
  let firstMs: number | null = null
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    firstMs ??= performance.now() - beganMs
    parts.push(part)
  }
  const totalMs = performance.now() - beganMs
  await Bun.write(file, new Blob(parts as Uint8Array<ArrayBuffer>[]))
  const id = response.headers.get('x-request-id') ?? ''
  const answer = await fetch(`${url}/operations/${id}`, { headers: { authorization: `Bearer ${key}` } })
  const operation = (await answer.json()) as { outcome: string; charged_micros: number; completion_bytes: number }
  if (operation.outcome !== 'completed') throw new Error(`the operation ended as ${operation.outcome}`)
  console.log(`URL           ${url}`)
  console.log(`key           ${key.slice(0, 12)}...`)
  console.log(`operation     ${id}: ${operation.outcome}`)
  console.log(`charge        ${operation.charged_micros} micros ($${(operation.charged_micros / 1e6).toFixed(6)})`)
  console.log(`first audio   after ${(firstMs ?? 0).toFixed(0)} ms, all after ${totalMs.toFixed(0)} ms`)
  console.log(`audio         ${(operation.completion_bytes / 48_000).toFixed(2)} s in ${file}`)
}
