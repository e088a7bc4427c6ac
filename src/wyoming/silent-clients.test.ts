/** Clients that say nothing any more: their machine lost power or its network, or their program hangs. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'bun:test'
import { systemTimer, type Timer } from '../domain/time.ts'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import type { Instance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'
import { WyomingClient } from './client.fixture.ts'

const idleMs = 600_000

/** Ten minutes end when a test says so; everything else takes its time. */
class IdleTimer implements Timer {
  readonly #idle = new Set<() => void>()

  after(delayMs: number, callback: () => void): () => void {
    if (delayMs !== idleMs) return systemTimer.after(delayMs, callback)
    this.#idle.add(callback)
    return () => void this.#idle.delete(callback)
  }

  get running(): number {
    return this.#idle.size
  }

  expire(): void {
    for (const callback of Array.from(this.#idle)) {
      this.#idle.delete(callback)
      callback()
    }
  }
}

const start = (timer: Timer): Promise<Instance> => startListening({ wyoming: '0' }, undefined, { timer })
const connect = ({ server }: Instance) => WyomingClient.connect(server.wyoming?.port)
const format = { rate: 16_000, width: 2, channels: 1 }
const second = new Uint8Array(Int16Array.from({ length: 16_000 }, (_, i) => 9000 * Math.sin(i / 20) + 1).buffer)

test('a client that stops in the middle of its sound gives its place back', async () => {
  const timer = new IdleTimer()
  await using instance = await start(timer)
  using client = await connect(instance)
  client.send('audio-start', format)
  client.send('audio-chunk', format, second)
  await client.until('transcript-chunk')
  timer.expire()
  await client.closed()
  await until('the engine was notified', () => instance.transcriber.aborted === 1)
})

test('a client that stops in the middle of a streamed text is disconnected', async () => {
  const timer = new IdleTimer()
  await using instance = await start(timer)
  using client = await connect(instance)
  client.send('synthesize-start', {})
  client.send('synthesize-chunk', { text: 'A sentence. And ' })
  await client.until('audio-chunk')
  timer.expire()
  await client.closed()
})

test('a client that has said everything may wait for as long as the work takes', async () => {
  const timer = new IdleTimer()
  await using instance = await start(timer)
  const held = Promise.withResolvers<void>()
  instance.engine.plan = () => ({ before: (frame) => (frame === 1 ? held.promise : undefined) })
  using client = await connect(instance)
  client.send('synthesize', { text: 'Hello there.' })
  await client.until('audio-chunk')
  timer.expire()
  await until('its idleness is watched again', () => timer.running === 1)
  held.resolve()
  await client.until('audio-stop')
})

test('the system looks for clients whose machine is gone', async () => {
  await using instance = await start(systemTimer)
  using client = await connect(instance)
  client.send('ping')
  await client.until('pong')
  const { port } = instance.server.wyoming!
  expect(timersOf(port, client.socket.localPort!)).toEqual(['02'])
})

/** What the kernel waits for on a connection: `02` is the next look for a sign of life (proc_net_tcp of its papers). */
function timersOf(here: number, there: number): string[] {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote]) => local?.endsWith(`:${hex(here)}`) && remote?.endsWith(`:${hex(there)}`))
    .map((columns) => columns[5]!.slice(0, 2))
}
