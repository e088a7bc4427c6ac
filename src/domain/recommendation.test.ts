import { expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import { recommendedIds } from './recommendation.ts'

const of = (architecture: string, hasGraphicsCard: boolean) => {
  const kind = cards.filter((card) => card.architecture === architecture)
  return [...recommendedIds(kind, hasGraphicsCard)]
}

test('each kind has one: on a processor a model of moderate size, on a graphics card the best', () => {
  const ids = recommendedIds(cards, false)
  for (const [architecture, kind] of Map.groupBy(cards, (card) => card.architecture)) {
    expect([architecture, kind.filter(({ id }) => ids.has(id)).length]).toEqual([architecture, 1])
  }
  expect([of('whisper', false), of('whisper', true)]).toEqual([['whisper-small'], ['whisper-large-v3-turbo']])
  expect([of('pocket', false), of('pocket', true)]).toEqual([['pocket-tts'], ['pocket-tts']])
})

test('if all models are large, it is the most preferred one; never the operator’s own files', () => {
  const [card] = cards
  const large = { ...card!, memoryBytes: 5e9 }
  const own = { ...large, id: 'own', like: 'second', preference: 99 }
  const kind = [{ ...large, id: 'first', preference: 1 }, { ...large, id: 'second', preference: 2 }, own]
  expect([...recommendedIds(kind, false)]).toEqual(['second'])
})
