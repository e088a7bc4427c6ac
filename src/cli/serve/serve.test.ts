/**
 * The whole program as real processes: started, killed, started again.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { runCommand } from '../../testing/command.ts'
import { isDead } from '../../testing/process.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { breaks } from '../../testing/streams.ts'
import { until } from '../../testing/until.ts'

const started: Program[] = []
afterEach(async () => {
  for (const program of started.splice(0)) await program.end()
})
async function start(dataDir: string, env: Record<string, string> = {}, flags: string[] = []): Promise<Program> {
  const program = await startProgram(dataDir, env, flags)
  started.push(program)
  return program
}

const sentence = 'The quick brown fox jumps over the lazy dog, and then it does so once more. '
const record = async (program: Program, key: string, id: string | null) =>
  (await (await program.fetch(`/v1/operations/${id}`, key)).json()) as Record<string, unknown>

/** A stream whose first bytes were read. */
async function speaking(program: Program, key: string) {
  const response = await program.speak(key, { input: sentence.repeat(40), response_format: 'pcm' })
  const reader = response.body!.getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(0)
  return { id: response.headers.get('x-request-id'), reader }
}

test('killing the engine in mid-stream, and the next one too, costs only that stream', async () => {
  const program = await start(temporaryFolder())
  const { id, reader } = await speaking(program, program.key)
  const first = await program.engine()
  process.kill(first.pid!, 'SIGKILL')
  // The stream continues in it (resume.test.ts), and no second time.
  await until('another engine speaks', async () => {
    const { pid, activeStreams } = await program.engine()
    return pid !== null && pid !== first.pid && activeStreams === 1
  })
  const before = await program.engine()
  process.kill(before.pid!, 'SIGKILL')
  expect(await breaks(reader)).toBe(true)
  expect(await record(program, program.key, id)).toMatchObject({
    state: 'terminal',
    outcome: 'stream_failed',
    charged_micros: 0,
  })
  const next = await program.speak(program.key, { input: sentence })
  expect(next.status).toBe(200)
  expect((await next.arrayBuffer()).byteLength).toBeGreaterThan(10_000)
  const after = await program.engine()
  expect(after.pid).not.toBe(before.pid)
  expect(after.lastError).toContain('SIGKILL')
}, 30_000)

test('a killed server reports the truth after its restart, and leaves no engine behind', async () => {
  const dataDir = temporaryFolder()
  const first = await start(dataDir)
  const key = first.key
  const whole = await first.speak(key, { input: 'This one was heard.' }, { 'idempotency-key': 'whole' })
  await whole.arrayBuffer()
  const { id } = await speaking(first, key)
  const { pid: enginePid } = await first.engine()
  first.kill('SIGKILL')
  await until('the engine is gone', () => isDead(enginePid!))
  const second = await start(dataDir)
  expect(await record(second, key, id)).toMatchObject({
    state: 'terminal',
    outcome: 'stream_failed',
    charged_micros: 0,
    error: { code: 'server_stopped' },
  })
  expect(await record(second, key, whole.headers.get('x-request-id'))).toMatchObject({ outcome: 'completed' })
  const again = await second.speak(key, { input: 'This one was heard.' }, { 'idempotency-key': 'whole' })
  expect(again.status).toBe(409)
}, 40_000)

test('a second server on the same data folder is refused in a sentence, and the first keeps running', async () => {
  const dataDir = temporaryFolder()
  const program = await start(dataDir)
  const second = await start(dataDir)
  expect(await second.exited).toBe(1)
  expect(second.stderr()).toContain('Another myna serves this data folder')
  expect((await program.fetch('/health')).status).toBe(200)
}, 30_000)

test('a port in use is reported with the remedy', async () => {
  const program = await start(temporaryFolder())
  const second = await start(temporaryFolder(), {}, ['--port', new URL(program.url).port])
  expect(await second.exited).toBe(1)
  expect(second.stderr()).toMatch(/Cannot listen on 127\.0\.0\.1:\d+: it is in use/)
}, 30_000)

test('SIGTERM lets a stream finish, then exits with 0 and leaves nothing behind', async () => {
  const dataDir = temporaryFolder()
  const program = await start(dataDir)
  const { id, reader } = await speaking(program, program.key)
  const { pid: enginePid } = await program.engine()
  program.kill('SIGTERM')
  expect(await breaks(reader)).toBe(false)
  expect(await program.exited).toBe(0)
  expect(isDead(enginePid!)).toBe(true)
  expect(existsSync(join(dataDir, 'myna.sock'))).toBe(false)
  const again = await start(dataDir)
  expect((await record(again, program.key, id)).outcome).toBe('completed')
}, 60_000)

test('without a grace period, SIGTERM settles the stream as failed and free', async () => {
  const dataDir = temporaryFolder()
  const program = await start(dataDir, { MYNA_DRAIN_MS: '0' })
  const { id, reader } = await speaking(program, program.key)
  program.kill('SIGTERM')
  expect(await breaks(reader)).toBe(true)
  expect(await program.exited).toBe(0)
  const again = await start(dataDir)
  expect(await record(again, program.key, id)).toMatchObject({ outcome: 'stream_failed', charged_micros: 0 })
}, 30_000)

test('a second signal cuts a stream off, and the exit code names the signal', async () => {
  const program = await start(temporaryFolder())
  const { reader } = await speaking(program, program.key)
  program.kill('SIGTERM')
  await until('it has heard the first', () => program.stderr().includes('another signal cuts them off'))
  program.kill('SIGINT')
  expect(await breaks(reader)).toBe(true)
  expect(await program.exited).toBe(130)
}, 30_000)

test('a full disk: new work is refused, running work stays pending until settled, nothing is lost', async () => {
  const dataDir = temporaryFolder()
  const program = await start(dataDir)
  const { id, reader } = await speaking(program, program.key)
  limitFiles(program.pid, Bun.file(join(dataDir, 'myna.db-wal')).size)
  const refused = await program.speak(program.key, { input: 'Hello.' }, { 'idempotency-key': 'full' })
  expect(refused.status).toBe(507)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  await reader.cancel()
  await until('readiness reports it', async () => {
    const ready = await program.fetch('/readyz')
    return ready.status === 503 && (await ready.text()).includes('"disk":"full"')
  })
  expect((await record(program, program.key, id)).state).toBe('pending')
  limitFiles(program.pid, null)
  await until('it is settled', async () => (await record(program, program.key, id)).state === 'terminal', 15_000)
  expect(await record(program, program.key, id)).toMatchObject({ outcome: 'stream_failed' })
  const next = await program.speak(program.key, { input: 'Hello.' }, { 'idempotency-key': 'full' })
  expect(next.status).toBe(200)
  await next.arrayBuffer()
}, 60_000)

/** What a full disk means for one process: no file of it may grow beyond this many bytes. */
function limitFiles(pid: number, bytes: number | null): void {
  const { exitCode } = Bun.spawnSync(['prlimit', '--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`])
  expect(exitCode).toBe(0)
}

describe('a failed start gives the reason', () => {
  const cases: [string, Record<string, string>, string[], RegExp][] = [
    ['a setting that cannot be read', { MYNA_SPEECH_QUEUE: 'many' }, [], /MYNA_SPEECH_QUEUE=many/],
    ['a port that is none', {}, ['--port', '99999'], /port/i],
    ['CUDA that is not there', {}, ['--device', 'cuda'], /cuda/i],
    [
      'a key that is none',
      { MYNA_ADMIN_KEY_FILE: import.meta.path },
      [],
      /MYNA_ADMIN_KEY_FILE=.*serve\.test\.ts: .* 32 to/,
    ],
    ['an alias that is none', { MYNA_VOICE_ALIASES: 'alloy' }, [], /NAME=VOICE_ID/],
  ]
  test.each(cases)('%s', async (_, env, flags, words) => {
    const program = await start(temporaryFolder(), env, flags)
    expect(await program.exited).toBeGreaterThan(0)
    expect(program.stderr()).toMatch(words)
  })

  test('a database without the voices that it knew', async () => {
    const dataDir = temporaryFolder()
    const voice = join(dataDir, 'voices', 'voice_01K00000000000000000000000')
    await Bun.write(join(voice, 'clip'), 'x')
    const program = await start(dataDir)
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toContain('there are files of voices')
    expect(existsSync(join(voice, 'clip'))).toBe(true)
  })

  test('an unreadable pronunciation, by its line', async () => {
    const dataDir = temporaryFolder()
    await Bun.write(join(dataDir, 'pronunciations.txt'), 'myna=MY nah\nno sense\n')
    const program = await start(dataDir)
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/pronunciations\.txt.*Line 2/)
  })

  test('a data folder that is a file', async () => {
    const file = join(temporaryFolder(), 'file')
    await Bun.write(file, 'x')
    chmodSync(file, 0o600)
    const program = await start(file)
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toContain(file)
  })
})

test('commands find the server of their data folder and need no key there', async () => {
  const dataDir = temporaryFolder()
  const program = await start(dataDir)
  const myna = (...args: string[]) => runCommand([...args, '--data', dataDir])
  for (let i = 0; i < 2; i++) {
    const file = join(dataDir, `${i}.wav`)
    expect(await myna('speak', 'Hello.', '-o', file)).toMatchObject({ code: 0 })
    expect(statSync(file).size).toBeGreaterThan(10_000)
  }
  expect(program.stderr()).toContain('GET /v1/me status=200')
  expect(program.stderr()).not.toContain('status=403')
  const keys = await myna('keys', 'list')
  expect(keys.stdout.match(/ command line /g)).toHaveLength(1)
  expect(statSync(join(dataDir, 'command-line.key')).mode & 0o777).toBe(0o600)
  expect((await myna('keys', 'create', '--account', 'anna')).stdout).toContain(`base URL ${program.url}/v1`)
  const refused = await myna('voices', 'list', '--key', 'sk-myna-wrong')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`The server at ${program.url} answered`) })
  const id = /(key_\w+) .* command line /.exec(keys.stdout)?.[1] ?? ''
  await myna('keys', 'revoke', id)
  expect(await myna('voices', 'list')).toMatchObject({ code: 0 })
}, 60_000)
