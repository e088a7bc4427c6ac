import { expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import type { Task } from '../domain/card.ts'
import { FakeEngine } from '../testing/fake-engine.ts'
import { modelStanding } from './model-troubles.ts'
import type { EngineStatus } from './ports/engines.ts'

const status = new FakeEngine().status()
const engine = (change: Partial<EngineStatus>): EngineStatus => ({ ...status, ...change })
const catalog = (installed: string[], broken: string[] = []): CardCatalog => {
  const task: Task = 'text-to-speech'
  const troubles = broken.map((id) => ({ id, task, words: `${id} is not whole` }))
  return new CardCatalog(
    cards,
    ({ id }) => installed.includes(id),
    undefined,
    () => troubles,
  )
}
const failed = (id: string) => ({ failed: [{ id, reason: 'no graph' }] })

test('reports nothing when all is well, and does not report models that are not installed', () => {
  expect(modelStanding(catalog([]), [status])).toEqual({
    troubles: [],
    able: new Set(['text-to-speech', 'automatic-speech-recognition']),
  })
})

test('reports each model once, whatever its problem and on however many devices', () => {
  const { troubles, able } = modelStanding(catalog(['whisper-base', 'pocket-tts'], ['kokoro-82m']), [
    engine(failed('kokoro-82m')),
    engine(failed('hibari')),
    engine(failed('hibari')),
    engine(failed('pocket-tts')),
    engine({ task: 'automatic-speech-recognition' }),
  ])
  expect(troubles).toEqual([
    { id: 'kokoro-82m', task: 'text-to-speech', words: 'kokoro-82m is not whole' },
    { id: 'hibari', task: 'text-to-speech', words: 'hibari could not be loaded: no graph' },
    { id: 'pocket-tts', task: 'text-to-speech', words: 'pocket-tts could not be loaded: no graph' },
  ])
  expect(able).toEqual(new Set(['automatic-speech-recognition']))
})

test('a model in the memory of another device counts as usable', () => {
  const loaded = { id: 'hibari', device: 'cuda:1', memoryBytes: 1, activeStreams: 0, idleMsLeft: null }
  const { troubles } = modelStanding(catalog([]), [engine(failed('hibari')), engine({ models: [loaded] })])
  expect(troubles).toEqual([])
})
