import { expect, test } from 'bun:test'
import { cards } from './cards.ts'
import { CardCatalog } from './catalog.ts'

const task = 'automatic-speech-recognition'
const best = (installed: readonly string[], onCard: boolean) =>
  new CardCatalog(
    cards,
    ({ id }) => installed.includes(id),
    (asked) => onCard && asked === task,
  ).best(task)?.id

test.each([
  ['the preferred one', ['parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v3-fp32'], false, 'parakeet-tdt-0.6b-v3'],
  ['on a card its unquantised twin', ['parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v3-fp32'], true, /v3-fp32$/],
  ['only one of its own family', ['parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v2-fp32'], true, /^parakeet.*v3$/],
  ['the preferred one that is whole there', ['whisper-small-fp32', 'whisper-base'], true, 'whisper-small-fp32'],
])('auto chooses %s', (_, installed, onCard, expected) => {
  expect(best(installed, onCard)).toMatch(expected)
})

test('other tasks are not affected', () => {
  const catalog = new CardCatalog(
    cards,
    () => true,
    (asked) => asked === task,
  )
  expect(catalog.best('text-to-speech')?.weights).toBe('int8')
})

test('every model that can be pulled states the type of its weights', () => {
  expect(cards.filter(({ builtIn, weights }) => !builtIn && weights == null).map(({ id }) => id)).toEqual([])
})

test('the order of preference: on a card, the models of a family that run entirely on it come first', () => {
  const installed = ['whisper-small', 'whisper-small-fp32', 'parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v3-fp32']
  const ranked = (onCard: boolean) =>
    new CardCatalog(
      cards,
      ({ id }) => installed.includes(id),
      () => onCard,
    )
      .ranked(task)
      .map(({ id }) => id)
  const builtIn = cards.find((card) => card.builtIn && card.task === task)!.id
  const byPreference = cards
    .filter(({ id }) => [...installed, builtIn].includes(id))
    .toSorted((a, b) => b.preference - a.preference)
  expect(ranked(false)).toEqual(byPreference.map(({ id }) => id))
  const [v3, v3Whole, small, smallWhole] = [installed[2]!, installed[3]!, installed[0]!, installed[1]!]
  expect(ranked(true)).toEqual([v3Whole, v3, smallWhole, small, builtIn])
})
