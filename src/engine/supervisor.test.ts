import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { testEngineCommand, type TestEngine } from '../testing/engine-child.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { isDead } from '../testing/process.ts'
import { until } from '../testing/until.ts'
import { EngineDown, type Launch, Supervisor } from './supervisor.ts'
import { systemTimers, type Timers } from './timers.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const readyMs = 10_000
let lines: string[] = []
let ends = 0
let open: Supervisor[] = []
afterEach(async () => {
  await Promise.all(open.map((supervisor) => supervisor.close()))
  open = []
  lines = []
  ends = 0
})

function supervise(
  engine: Partial<TestEngine> | string[],
  timers: Timers = systemTimers,
  silenceMs = readyMs,
  fallBack?: (reason: string) => Launch,
): Supervisor {
  const supervisor = new Supervisor({
    command: Array.isArray(engine) ? engine : testEngineCommand(engine),
    env: {},
    readyMs: silenceMs,
    timers,
    log: (line) => lines.push(line),
    onMessage: () => {},
    onEnd: () => ends++,
    ...(fallBack !== undefined && { fallBack }),
  })
  open.push(supervisor)
  return supervisor
}
const refused = async (supervisor: Supervisor): Promise<EngineDown> => {
  const reason = await supervisor.ready().catch((error: unknown) => error)
  if (reason instanceof EngineDown) return reason
  throw new Error(`not refused: ${String(reason)}`)
}

/** A stopped clock, and the pauses that were requested between starts. */
class Pauses extends ManualClock {
  readonly asked: number[] = []
  override after(delayMs: number, callback: () => void): () => void {
    // The deadlines for a start, for reading its output and for stopping it are not pauses.
    if (![readyMs, 300, 5000].includes(delayMs)) this.asked.push(delayMs)
    return super.after(delayMs, callback)
  }
}

test('all who ask during a start wait for the same one', async () => {
  const supervisor = supervise({ start: 'chatty' })
  expect(supervisor.status()).toMatchObject({ state: 'stopped', pid: null, device: 'unknown' })
  const waiting = Promise.all([supervisor.ready(), supervisor.ready(), supervisor.ready()])
  await until('it starts', () => supervisor.status().state === 'starting')
  const { pid } = supervisor.status()
  await waiting
  expect(supervisor.status()).toMatchObject({ state: 'ready', pid, device: 'cpu', restarts: 0, lastError: null })
  expect(lines).toEqual(['read 0', 'read 1', 'read 2'])
})

test('what a child does first is there before it is ready; what the next caller wants, once it is', async () => {
  // It becomes ready only when a message has come.
  const ready = { type: 'ready', pid: 1, device: 'cpu', deviceReason: null }
  const child = `let count = 0
    process.on('message', ({ model }) => {
      console.log('asked for ' + model)
      if (count++ === 0) process.send(${JSON.stringify([ready])})
    })`
  const supervisor = supervise([process.execPath, '-e', child])
  const warm = (model: string) => supervisor.ready({ type: 'warm', model })
  await Promise.all([warm('one'), warm('two')])
  await warm('three')
  await until('all are there', () => lines.length === 3)
  expect(lines).toEqual(['asked for one', 'asked for two', 'asked for three'])
  supervisor.kill('was not needed any more')
})

test('an engine that cannot start is tried five times with growing pauses, then counts as failed', async () => {
  const pauses = new Pauses()
  const supervisor = supervise({ start: 'crash' }, pauses)
  const words = 'the engine ended (exit code 3): libcudart.so.13: cannot open shared object file'
  expect((await refused(supervisor)).message).toBe(words)
  for (const [round, pauseMs] of [250, 500, 1000, 2000].entries()) {
    await until(`pause ${round}`, () => pauses.asked.length === round + 1)
    expect(supervisor.status().state).toBe('starting')
    pauses.advance(pauseMs)
  }
  await until('it failed', () => supervisor.status().state === 'failed')
  expect(pauses.asked).toEqual([250, 500, 1000, 2000])
  expect(supervisor.status()).toMatchObject({ pid: null, restarts: 4, lastError: words })
  expect(ends).toBe(5)
})

const words = 'libcudart.so.13: cannot open shared object file'

test('the engine that starts instead gets the reason; when it has ended, the first is tried again', async () => {
  const reasons: string[] = []
  const fallBack = (reason: string) => {
    reasons.push(reason)
    return { command: testEngineCommand({ device: 'cpu', deviceReason: `card: ${reason}` }), env: {} }
  }
  const supervisor = supervise({ start: 'crash' }, systemTimers, readyMs, fallBack)
  await Promise.all([supervisor.ready(), supervisor.ready()])
  const told = { state: 'ready', device: 'cpu', deviceReason: `card: ${words}`, restarts: 0, lastError: null }
  expect(supervisor.status()).toMatchObject(told)
  expect(reasons).toEqual([words])
  await supervisor.stop()
  await supervisor.ready()
  expect(reasons).toEqual([words, words])
  expect(supervisor.status()).toMatchObject(told)
})

test('a child that was silent for too long has no last words of its own', async () => {
  const pauses = new Pauses()
  const reasons: string[] = []
  const fallBack = (reason: string) => {
    reasons.push(reason)
    return { command: testEngineCommand(), env: {} }
  }
  const supervisor = supervise({ start: 'mute' }, pauses, readyMs, fallBack)
  const ready = supervisor.ready()
  await until('it starts', () => supervisor.status().pid !== null)
  pauses.advance(readyMs)
  await ready
  expect(reasons).toEqual([`the engine was killed: it sent nothing for ${readyMs} ms while it was starting`])
})

test('when neither can start, that counts as any failed start', async () => {
  const pauses = new Pauses()
  const other = { command: testEngineCommand({ start: 'crash' }), env: {} }
  const supervisor = supervise({ start: 'crash' }, pauses, readyMs, () => other)
  expect((await refused(supervisor)).message).toBe(`the engine ended (exit code 3): ${words}`)
  await until('a pause', () => pauses.asked.length === 1)
  expect(supervisor.status()).toMatchObject({ state: 'starting', restarts: 1 })
})

test('a failed engine refuses at once, and is tried again on demand after the pause', async () => {
  const pauses = new Pauses()
  const supervisor = supervise({ start: 'crash' }, pauses)
  await refused(supervisor)
  for (let round = 1; round <= 4; round++) {
    await until(`pause ${round}`, () => pauses.asked.length === round)
    pauses.advance(2000)
  }
  await until('it failed', () => supervisor.status().state === 'failed')
  expect((await refused(supervisor)).waitMs).toBe(4000)
  expect(ends).toBe(5)
  pauses.advance(4000)
  await refused(supervisor)
  expect(ends).toBe(6)
  expect(supervisor.status().state).toBe('failed')
})

test('a command that does not exist is a failed start', async () => {
  const supervisor = supervise(['/nowhere/engine'])
  expect((await refused(supervisor)).message).toContain('the engine could not be started')
})

test('a crashed engine is started again, sooner after a healthy minute', async () => {
  const pauses = new Pauses()
  const supervisor = supervise({}, pauses)
  const pids = new Set<number | null>()
  const crash = async (pauseMs: number) => {
    await supervisor.ready()
    const { pid } = supervisor.status()
    pids.add(pid)
    process.kill(pid ?? 0, 'SIGKILL')
    const before = pauses.asked.length
    await until('the pause', () => pauses.asked.length > before)
    expect(pauses.asked.at(-1)).toBe(pauseMs)
    pauses.advance(pauseMs)
  }
  for (const pauseMs of [250, 500, 1000]) await crash(pauseMs)
  await supervisor.ready()
  pauses.advance(60_000)
  await crash(250)
  await supervisor.ready()
  expect(pids.size).toBe(4)
  expect(supervisor.status()).toMatchObject({ restarts: 4, lastError: 'the engine ended (signal SIGKILL)' })
})

test('a long pause is not waited for', async () => {
  const pauses = new Pauses()
  const supervisor = supervise({}, pauses)
  for (let crashes = 0; crashes < 5; crashes++) {
    await supervisor.ready()
    process.kill(supervisor.status().pid ?? 0, 'SIGKILL')
    await until('the pause', () => pauses.asked.length > crashes)
    if (crashes < 4) pauses.advance(2000)
  }
  expect((await refused(supervisor)).waitMs).toBe(4000)
  pauses.advance(4000)
  await supervisor.ready()
})

test('silence ends a start; output does not, however long it takes', async () => {
  const mute = supervise({ start: 'mute' }, systemTimers, 200)
  const words = 'the engine was killed: it sent nothing for 200 ms while it was starting'
  expect((await refused(mute)).message).toBe(words)
  const chatty = supervise({ start: 'chatty', chattyLines: 8 }, systemTimers, 800)
  const startMs = performance.now()
  await chatty.ready()
  expect(performance.now() - startMs).toBeGreaterThan(1000)
})

test('a stopped engine is gone, and starts again when it is needed', async () => {
  const supervisor = supervise({})
  await supervisor.ready()
  const first = supervisor.status().pid ?? 0
  const stopping = supervisor.stop()
  expect(supervisor.send({ type: 'status', query: 1 })).toBe(false)
  await supervisor.ready()
  await stopping
  expect(isDead(first)).toBe(true)
  expect(supervisor.status()).toMatchObject({ state: 'ready', restarts: 0, lastError: null })
  expect(supervisor.status().pid).not.toBe(first)
})

test('an engine that ignores the stop is killed', async () => {
  const clock = new ManualClock()
  const supervisor = supervise({}, clock)
  await supervisor.ready()
  const pid = supervisor.status().pid ?? 0
  process.kill(pid, 'SIGSTOP')
  const closing = supervisor.close()
  clock.advance(4999)
  expect(isDead(pid)).toBe(false)
  clock.advance(1)
  await closing
  expect(isDead(pid)).toBe(true)
  expect((await refused(supervisor)).waitMs).toBeNull()
})
