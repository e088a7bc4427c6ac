import { expect, test } from 'bun:test'
import type { SpeechModel } from '../../models/architecture.ts'
import { until } from '../../testing/until.ts'
import { systemTimers } from '../timers.ts'
import type { Frame } from './frames.ts'
import { Rendering } from './rendering.ts'
import type { Claim } from '../../domain/schedule.ts'
import { Turns } from './turns.ts'

const rateHz = 1000

/** Speaks each word as 300 samples, and says which is the last, and which the last but one. */
const model: SpeechModel = {
  sampleRateHz: rateHz,
  async *speak({ text }) {
    const words = Array.from(text.matchAll(/\p{L}+/gu))
    for (const [at, word] of words.entries()) {
      const left = words.length - 1 - at
      const coveredChars = word.index + word[0].length
      const ends = left === 0 ? { isLast: true as const } : left === 1 ? { isLastNext: true as const } : {}
      yield { pcm: new Float32Array(300), coveredChars, ...ends }
    }
  },
  unload: async () => {},
} as SpeechModel

function rendering(text: string, turns: Turns, onSound: () => void, credits = 100) {
  const frames: Frame[] = []
  /** How many frames left together. */
  const parcels: number[] = []
  let steps = 0
  const one = new Rendering({
    input: { text, voiceId: 'one', voiceState: null, speed: 1, language: null, instructions: null, seed: null },
    sampleRateHz: rateHz,
    wordTimes: false,
    credits,
    skipSamples: 0,
    share: 'account',
    acquire: async () => ({ model, release: () => {} }),
    turns,
    timers: systemTimers,
    send: (together) => {
      frames.push(...together)
      parcels.push(together.length)
      onSound()
    },
    onStep: () => void steps++,
  })
  return { one, frames, parcels, steps: () => steps }
}

test.each(['Hello', 'Hello[pause:200ms]'])(
  'once all of %p is computed, its stream ends without a turn',
  async (text) => {
    const turns = new Turns(1, systemTimers)
    const isOver = Promise.withResolvers<void>()
    let others: Promise<unknown> | null = null
    const { one, frames, steps } = rendering(text, turns, () => {
      // Another stream takes the machine as soon as this one has its sound, and keeps it until this one has ended.
      others ??= turns.take({ account: 'other', isFirst: true, dueMs: null }, () => isOver.promise)
    })
    await one.run()
    const samples = frames.reduce((sum, { pcm }) => sum + pcm.length, 0)
    expect([samples, frames.at(-1)?.coveredChars, steps()]).toEqual([text === 'Hello' ? 300 : 500, text.length, 1])
    isOver.resolve()
    await others
  },
)

test('each chunk before the last waits for its turn', async () => {
  const turns = new Turns(1, systemTimers)
  const order: string[] = []
  const { one, steps } = rendering('one two three', turns, () => order.push('sound'))
  const first = turns.take({ account: 'other', isFirst: true, dueMs: null }, async () => void order.push('other'))
  await Promise.all([first, one.run()])
  expect(order[0]).toBe('other')
  expect(steps()).toBe(3)
})

/** The claims that came before these turns were taken. */
class NotedTurns extends Turns {
  readonly claims: Claim[] = []

  override take: Turns['take'] = (claim, ...rest) => {
    this.claims.push(claim)
    return super.take(claim, ...rest)
  }
}

test.each([
  ['one two three', [false, false, true]],
  ['one [pause:1s] two three [pause:1s]', [false, false, true]],
])('the last turn of %p is claimed as such', async (text, lasts) => {
  const turns = new NotedTurns(1, systemTimers)
  await rendering(text, turns, () => {}).one.run()
  expect(turns.claims.map(({ isLast }) => isLast === true)).toEqual(lasts)
})

test('a pause between two stretches needs no turn', async () => {
  const turns = new NotedTurns(1, systemTimers)
  const { one, frames, steps } = rendering('one[pause:1s]two', turns, () => {})
  await one.run()
  expect(frames.reduce((sum, { pcm }) => sum + pcm.length, 0)).toBe(1600)
  expect([turns.claims.length, steps()]).toEqual([2, 2])
})

test('frames of a chunk leave together, as many as were granted', async () => {
  const { one, frames, parcels } = rendering('[pause:1s]', new Turns(1, systemTimers), () => {}, 2)
  const ended = one.run()
  await until('the first have left', () => parcels.length === 1)
  one.grant(2)
  await until('two more have left', () => parcels.length === 2)
  one.grant(9)
  await ended
  expect([parcels, frames.map(({ pcm }) => pcm.length)]).toEqual([
    [2, 2, 1],
    [200, 200, 200, 200, 200],
  ])
})

test('the first frame says how long its sound took, and no other does', async () => {
  const { one, frames } = rendering('one two', new Turns(1, systemTimers), () => {})
  await one.run()
  expect(frames.map(({ firstMs }) => firstMs !== undefined)).toEqual([true, false, false, false])
})
