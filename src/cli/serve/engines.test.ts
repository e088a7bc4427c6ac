import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { EngineClient } from '../../engine/client.ts'
import { EnginePool } from '../../engine/pool.ts'
import { testEngineCommand, type TestEngine } from '../../testing/engine-child.ts'
import type { Devices } from './devices.ts'
import { areOnCard, tryCards } from './engines.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const pools: EnginePool[] = []
let warnings: [string, unknown][] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
  warnings = []
})
const log = { warn: (message: string, fields?: unknown) => void warnings.push([message, fields]) }

function poolOf(...engines: Partial<TestEngine>[]): EnginePool {
  const limits = { readyMs: 10_000, stallMs: 10_000, loadMs: 10_000, log: () => {} }
  const clients = engines.map(
    (engine) => new EngineClient({ task: 'text-to-speech', command: testEngineCommand(engine), env: {}, ...limits }),
  )
  const pool = new EnginePool(clients)
  pools.push(pool)
  return pool
}
const card = (id: number) => ({ kind: 'cuda', id, dir: '/cuda', tf32: true }) as const
const cards: Devices = { kind: 'cuda', devices: [card(0), card(1)], libraryPath: '', mayFallBack: false }
const none: Devices = { kind: 'cpu', devices: [{ kind: 'cpu', reason: null }] }

test('cards that compute correctly are not mentioned', async () => {
  const pool = poolOf({ device: 'cuda:0' }, { device: 'cuda:1' })
  expect(areOnCard(cards, pool)).toBe(true)
  await tryCards(cards, pool, log)
  expect(areOnCard(cards, pool)).toBe(true)
  expect(warnings).toEqual([])
})

test('one card that does not, and was requested by name: the server does not start, and gives the reason', async () => {
  const pool = poolOf({ device: 'cuda:0' }, { start: 'crash' })
  await expect(tryCards(cards, pool, log)).rejects.toMatchObject({
    code: 'no_device',
    message:
      'The graphics card cannot be used: the engine ended (exit code 3): libcudart.so.13: cannot open shared object ' +
      'file. See myna runtime status, or let --device auto choose the CPU.',
  })
})

test('an engine that fell back to the CPU causes a warning', async () => {
  const pool = poolOf({ device: 'cpu', deviceReason: 'cuda:0: it is full' })
  await tryCards(cards, pool, log)
  expect(warnings).toEqual([['an engine runs on cpu, not on its graphics card', { cause: 'cuda:0: it is full' }]])
  expect(areOnCard(cards, pool)).toBe(false)
})

test('where no card is requested, no engine is started for the check', async () => {
  const pool = poolOf({ start: 'crash' })
  await tryCards(none, pool, log)
  expect((await pool.engines())[0]?.state).toBe('stopped')
  expect(areOnCard(none, pool)).toBe(false)
})
