/**
 * `serve --replace` as real processes: the old server finishes its own work, and all new requests reach the new one.
 */
import { afterEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../../audit/audit.ts'
import { isLocked } from '../../store/lock.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { breaks } from '../../testing/streams.ts'
import { until } from '../../testing/until.ts'

const started: Program[] = []
afterEach(async () => {
  for (const program of started.splice(0)) await program.end()
})

/** The flags of a program come after `--port 0`, so the last port counts. */
async function start(dataDir: string, flags: string[] = [], env: Record<string, string> = {}): Promise<Program> {
  const program = await startProgram(dataDir, env, flags)
  started.push(program)
  return program
}
const successor = (dataDir: string, { url }: Program) => start(dataDir, ['--port', new URL(url).port, '--replace'])

const sentence = 'The quick brown fox jumps over the lazy dog, and then it does so once more. '
const record = async (program: Program, key: string, id: string | null) =>
  (await (await program.fetch(`/v1/operations/${id}`, key)).json()) as Record<string, unknown>

async function speaking(program: Program) {
  const response = await program.speak(program.key, { input: sentence.repeat(40), response_format: 'pcm' })
  const reader = response.body!.getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(0)
  return { id: response.headers.get('x-request-id'), reader }
}

test('a stream continues to its end, new requests are answered, and the new server takes over the folder', async () => {
  const dataDir = temporaryFolder()
  const first = await start(dataDir)
  const { id, reader } = await speaking(first)
  const second = await successor(dataDir, first)
  expect(second.url).toBe(first.url)
  const heard = await second.speak(first.key, { input: 'Hello.' })
  expect([heard.status, (await heard.arrayBuffer()).byteLength > 0]).toEqual([200, true])
  expect(await breaks(reader)).toBe(false)
  expect(await first.exited).toBe(0)
  expect(await record(second, first.key, id)).toMatchObject({ state: 'terminal', outcome: 'completed' })
  await until('the folder is the new server’s', () => second.stderr().includes('the former server has ended'))
  expect([isLocked(dataDir), existsSync(join(dataDir, 'myna.sock'))]).toEqual([true, true])
  expect((await second.engine()).state).toBe('ready')
  second.kill('SIGTERM')
  expect(await second.exited).toBe(0)
  expect((await audit(dataDir, 'full')).faults).toEqual([])
}, 90_000)

test('what the old server still works on is cancelled through the new one', async () => {
  const dataDir = temporaryFolder()
  const first = await start(dataDir)
  const { id, reader } = await speaking(first)
  const second = await successor(dataDir, first)
  const cancel = () => second.fetch(`/v1/operations/${id}/cancel`, first.key, { method: 'POST' })
  expect(await (await cancel()).json()).toEqual({ ok: true })
  expect(await breaks(reader)).toBe(true)
  expect(await record(second, first.key, id)).toMatchObject({ state: 'terminal', outcome: 'cancelled' })
  expect(await (await cancel()).json()).toEqual({ ok: false })
  expect(await first.exited).toBe(0)
}, 90_000)

test('an old server that is killed in its drain leaves nothing pending', async () => {
  const dataDir = temporaryFolder()
  const first = await start(dataDir)
  const { id, reader } = await speaking(first)
  const second = await successor(dataDir, first)
  const own = await second.speak(first.key, { input: sentence.repeat(40), response_format: 'pcm' })
  first.kill('SIGKILL')
  expect(await breaks(reader)).toBe(true)
  await until('it is settled', async () => (await record(second, first.key, id)).state === 'terminal')
  expect(await record(second, first.key, id)).toMatchObject({ outcome: 'stream_failed', charged_micros: 0 })
  await own.arrayBuffer()
  const ownId = own.headers.get('x-request-id')
  expect(await record(second, first.key, ownId)).toMatchObject({ outcome: 'completed' })
}, 90_000)

test('without another server it starts as usual', async () => {
  const program = await start(temporaryFolder(), ['--replace'])
  expect((await program.speak(program.key, { input: 'Hello.' })).status).toBe(200)
}, 60_000)

test('a third server is refused while two change places, and afterwards', async () => {
  const dataDir = temporaryFolder()
  const first = await start(dataDir)
  const { reader } = await speaking(first)
  const second = await successor(dataDir, first)
  const third = await start(dataDir)
  expect(await third.exited).toBe(1)
  expect(third.stderr()).toContain('Another myna serves this data folder')
  expect(await breaks(reader)).toBe(false)
  expect(await first.exited).toBe(0)
  expect((await second.fetch('/health')).status).toBe(200)
}, 90_000)

test('a new server that cannot start leaves the old one unaffected', async () => {
  const dataDir = temporaryFolder()
  const first = await start(dataDir)
  const second = await start(dataDir, ['--replace'], { MYNA_VOICE_ALIASES: 'alloy' })
  expect(await second.exited).toBe(2)
  expect((await first.speak(first.key, { input: 'Hello.' })).status).toBe(200)
}, 60_000)
