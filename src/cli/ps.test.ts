import { expect, test } from 'bun:test'
import type { ServerStatus } from '../http/admin-socket.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { statusText } from './ps.ts'

const engine: EngineStatus = {
  task: 'text-to-speech',
  state: 'ready',
  pid: 7,
  device: 'cuda:0',
  deviceReason: null,
  activeStreams: 2,
  stalls: { silent: 0, slow: 0, deaf: 0, loading: 0 },
  restarts: 0,
  lastError: null,
  residentBytes: 2_000_000_000,
  deviceMemory: null,
  loading: ['kokoro'],
  inUse: ['pocket', 'kokoro'],
  failed: [],
  models: [
    { id: 'pocket', device: 'cuda:0', memoryBytes: 900_000_000, activeStreams: 2, idleMsLeft: null },
    { id: 'silero-vad', device: 'cpu', memoryBytes: 30_000_000, activeStreams: 0, idleMsLeft: 90_000 },
    { id: 'hibari', device: 'cpu', memoryBytes: 150_000_000, activeStreams: 0, idleMsLeft: null },
  ],
}
const server = (engines: readonly EngineStatus[]): ServerStatus => ({
  version: '1.0.0',
  pid: 6,
  url: 'http://127.0.0.1:8790',
  uptimeMs: 60_000,
  readiness: 'ready',
  queue: { running: 2, waiting: 0, use: 0.25, gaps: { count: 0, ms: 0 }, shed: 0 },
  pendingOperations: 0,
  engines,
  troubles: [],
})
/** Its lines from the one that begins with this word, each as its cells. */
const rowsFrom = (title: string, text: string): string[][] => {
  const lines = text.split('\n')
  return lines.slice(lines.findIndex((line) => line.startsWith(title))).map((line) => line.split(/ {2,}/))
}

test('each model is listed with its device, memory, streams and remaining time', () => {
  expect(rowsFrom('MODEL', statusText(server([engine])))).toEqual([
    ['MODEL', 'DEVICE', 'MEMORY', 'ACTIVE', 'UNLOADED IN'],
    ['pocket', 'cuda:0', '900 MB', '2', 'in use'],
    ['silero-vad', 'cpu', '30.0 MB', '0', '1 min 30 s'],
    ['hibari', 'cpu', '150 MB', '0', 'never'],
    ['kokoro', '-', '-', '-', 'loading'],
  ])
})

test('shows how full a card is, and which models run there only in part', () => {
  const deviceMemory = { usedBytes: 3_000_000_000, totalBytes: 8_000_000_000 }
  const model = { id: 'whisper-base', device: 'cuda:0', memoryBytes: 1e9, activeStreams: 0, idleMsLeft: null }
  const models = [model, { ...model, id: 'whisper-base-fp32' }, { ...model, id: 'whisper-small', device: 'cpu' }]
  const text = statusText(server([{ ...engine, deviceMemory, models }]))
  expect(text).toContain('3.0 GB of 8.0 GB')
  const notes = text.split('\n').filter((line) => line.includes('8-bit'))
  expect(notes).toEqual([
    'whisper-base has 8-bit weights: on cuda:0 parts of it run on the CPU; whisper-base-fp32 does not: ' +
      'myna models pull whisper-base-fp32',
  ])
})

test('what is going on is said in words', () => {
  const text = statusText(server([{ ...engine, deviceReason: 'the card is full' }]))
  expect(text.split('\n').slice(1, 3)).toEqual([
    'Speech: 2 active, 0 queued, 0 to be settled.',
    'Load: 25 % of this machine. Since the start: 0 gaps in speech, 0 requests refused because it was full.',
  ])
  expect(text).toContain('speech runs on cuda:0: the card is full')
})

test('an engine that never ran has no device yet', () => {
  const stopped: EngineStatus = { ...engine, state: 'stopped', pid: null, device: 'unknown', residentBytes: null }
  expect(rowsFrom('ENGINE', statusText(server([stopped])))[1]).toEqual([
    'speech',
    'stopped',
    '-',
    '-',
    '-',
    '-',
    '2',
    '0',
  ])
})

test('without models there is no table', () => {
  expect(statusText(server([{ ...engine, models: [], loading: [] }]))).not.toContain('MODEL')
})

test("without a server it exits with 1, so that it can serve as a container's health check", async () => {
  const env = { MYNA_DATA: temporaryFolder() }
  const forScripts = await runCommand(['ps', '--json'], { env })
  expect([forScripts.code, JSON.parse(forScripts.stdout)]).toEqual([1, { server: null }])
  const forPeople = await runCommand(['ps'], { env })
  expect([forPeople.code, forPeople.stdout]).toEqual([1, expect.stringContaining('Start one: myna serve')])
}, 20_000)
