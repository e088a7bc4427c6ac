/** Each built-in voice listened to by numbers: its preview and five sentences, as a client gets them. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatFloats, levelDb } from '../../audio/pcm.ts'
import { cards } from '../../catalog/cards.ts'
import type { Card } from '../../domain/card.ts'
import { sampleText } from '../../service/sample.ts'
import type { SpeechModel } from '../architecture.ts'
import { sampleRateHz } from './parameters.ts'
import { load } from './pipeline.ts'

// The real graph, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

const card = cards.find(({ id }) => id === 'hibari') as Card
const texts = [
  sampleText({ card, language: null }).text,
  'Which of these three roads leads back to the village?',
  'Good evening, and thank you for waiting so patiently.',
  'A thin layer of dust covered the books that nobody had borrowed.',
  'Some of the oldest trees in this valley were planted by monks.',
  'Wait, is that it? No: stop! Then, at last, we went home. All right.',
]

let model: SpeechModel
/** Of each text. */
let plain: Float32Array[]
beforeAll(async () => {
  model = await load({ card, filesDir: null, pronunciations: null, workers: 2 })
  plain = await allOf('lark')
})
afterAll(() => model.unload())

async function allOf(voiceId: string): Promise<Float32Array[]> {
  const sounds: Float32Array[] = []
  const how = { voiceState: null, speed: 1, language: null, instructions: null, seed: null }
  for (const text of texts) {
    const spoken = await Array.fromAsync(model.speak({ voiceId, text, ...how }, new AbortController().signal))
    sounds.push(concatFloats(spoken.map(({ pcm }) => pcm)))
  }
  return sounds
}

const blocksOf = (pcm: Float32Array, size: number): Float32Array[] =>
  Array.from({ length: Math.floor(pcm.length / size) }, (_, at) => pcm.subarray(at * size, (at + 1) * size))

/** Seconds before the first and after the last 5 ms within 40 dB of the loud ones. */
function silencesOf(pcm: Float32Array): { leadS: number; tailS: number } {
  const levels = blocksOf(pcm, sampleRateHz / 200).map(levelDb)
  const least = levels.toSorted((a, b) => a - b)[Math.floor(0.95 * levels.length)]! - 40
  const [first, last] = [levels.findIndex((level) => level > least), levels.findLastIndex((level) => level > least)]
  return { leadS: first / 200, tailS: (levels.length - 1 - last) / 200 }
}

/** How far the sharpest millisecond is above those around it. A burst of speech lasts longer than one. */
function sharpest(pcm: Float32Array): number {
  const sharp = pcm.map((_, at) => pcm[at]! - 3 * (pcm[at - 1] ?? 0) + 3 * (pcm[at - 2] ?? 0) - (pcm[at - 3] ?? 0))
  const peaks = blocksOf(sharp, sampleRateHz / 1000).map((block) =>
    block.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
  )
  const above = peaks.map((peak, at) => {
    const near = [...peaks.slice(Math.max(0, at - 20), at), ...peaks.slice(at + 1, at + 21)].toSorted((a, b) => a - b)
    return peak / (near[Math.floor(0.9 * near.length)]! + 2e-4)
  })
  return Math.max(...above)
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

test('a click is found where 2 ms are missing', () => {
  const whole = plain[0]!
  expect(sharpest(whole)).toBeLessThan(9)
  const cuts = Array.from({ length: 19 }, (_, at) => Math.round(((at + 1) / 20) * whole.length))
  const found = cuts.map((at) => sharpest(concatFloats([whole.subarray(0, at), whole.subarray(at + 48)])))
  expect(Math.max(...found)).toBeGreaterThan(9)
})

const ids = card.voices.map(({ id }) => id)
test.each(ids)('%s is neither clipped nor does it click, and is as loud as the others', async (id) => {
  const sounds = await allOf(id)
  for (const [at, pcm] of sounds.entries()) {
    const peak = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    const { leadS, tailS } = silencesOf(pcm)
    const found = { text: texts[at], peak, sharpest: sharpest(pcm), leadS, tailS, level: levelDb(pcm) }
    const offset = Math.abs(meanOf(Array.from(pcm)))
    expect([found, peak > 0.4 && peak < 0.999]).toEqual([found, true])
    expect([found, found.sharpest < 9]).toEqual([found, true])
    expect([found, leadS <= 0.1 && tailS <= 0.15]).toEqual([found, true])
    expect([found, offset < 1e-3]).toEqual([found, true])
    expect([found, Math.abs(found.level - levelDb(plain[at]!)) < 1]).toEqual([found, true])
  }
  expect(Math.abs(meanOf(sounds.map(levelDb)) - meanOf(plain.map(levelDb)))).toBeLessThan(0.5)
})
