import { expect, test } from 'bun:test'
import type { SpeechModel } from '../../models/architecture.ts'
import { systemTimers } from '../timers.ts'
import type { Frame } from './frames.ts'
import { Rendering } from './rendering.ts'
import { Turns } from './turns.ts'

const rateHz = 1000

/** Speaks each word as 300 samples, and says which is the last. */
const model: SpeechModel = {
  sampleRateHz: rateHz,
  async *speak({ text }) {
    for (const word of text.matchAll(/\p{L}+/gu)) {
      const end = word.index + word[0].length
      yield { pcm: new Float32Array(300), coveredChars: end, ...(end === text.length && { isLast: true as const }) }
    }
  },
  unload: async () => {},
} as SpeechModel

function rendering(text: string, turns: Turns, onSound: () => void) {
  const frames: Frame[] = []
  let steps = 0
  const one = new Rendering({
    input: { text, voiceId: 'one', voiceState: null, speed: 1, language: null, instructions: null, seed: null },
    sampleRateHz: rateHz,
    wordTimes: false,
    credits: 100,
    skipSamples: 0,
    share: 'account',
    acquire: async () => ({ model, release: () => {} }),
    turns,
    timers: systemTimers,
    send: (frame) => {
      frames.push(frame)
      onSound()
    },
    onStep: () => void steps++,
  })
  return { one, frames, steps: () => steps }
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
