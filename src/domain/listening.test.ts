import { expect, test } from 'bun:test'
import { endCrashedListening, endListening } from './listening.ts'

const cases: [string, string, number, string, string | null][] = [
  ['heard to its end', 'completed', 9000, 'completed', null],
  ['an empty one, heard to its end', 'completed', 0, 'completed', null],
  ['the client left', 'client_gone', 5000, 'stream_failed', 'client_disconnected'],
  ['the client left before anything was heard', 'client_gone', 0, 'stream_failed', 'client_disconnected'],
  ['it failed half way', 'generation_failed', 5000, 'stream_failed', 'generation_failed'],
  ['it failed at once', 'engine_unavailable', 0, 'failed', 'engine_unavailable'],
]

test.each(cases)('%s', (_, result, heardMs, outcome, errorCode) => {
  expect(endListening(result, heardMs)).toEqual({ outcome, errorCode, heardMs } as ReturnType<typeof endListening>)
})

test('a crash is our failure, and the sound heard so far still counts', () => {
  expect(endCrashedListening(5000)).toEqual({ outcome: 'stream_failed', errorCode: 'server_stopped', heardMs: 5000 })
  expect(endCrashedListening(0)).toEqual({ outcome: 'failed', errorCode: 'server_stopped', heardMs: 0 })
})
