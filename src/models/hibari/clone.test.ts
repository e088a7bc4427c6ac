import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatFloats, fromS16, levelDb } from '../../audio/pcm.ts'
import { measurePitch } from '../../audio/pitch.ts'
import { cards } from '../../catalog/cards.ts'
import type { Card } from '../../domain/card.ts'
import { Seeded } from '../../testing/seeded.ts'
import { clipRateHz, noise, silence, speech, tone, words } from '../../testing/speech-clips.ts'
import { type Clip, ClipRefused, type SpeechModel } from '../architecture.ts'
import { bands, measure } from './features.ts'
import { load } from './pipeline.ts'
import { readState, writeState } from './state.ts'

// The real graph, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const card = cards.find(({ id }) => id === 'hibari') as Card
const never = new AbortController().signal
let model: SpeechModel
beforeAll(async () => {
  model = await load({ card, filesDir: null, pronunciations: null, workers: 2 })
})
afterAll(() => model.unload())

const clipOf = (pcm: Int16Array): Clip => ({ pcm: fromS16(pcm), sampleRateHz: clipRateHz })
const clone = (pcm: Int16Array, signal = never) => model.clone!(clipOf(pcm), signal)

async function speak(voiceState: Uint8Array): Promise<Float32Array> {
  const text = 'It was a cold day in early spring, and the children ran outside at once.'
  const input = { voiceId: 'mine', text, voiceState, speed: 1, language: null, instructions: null, seed: null }
  const spoken = await Array.fromAsync(model.speak(input, never))
  return concatFloats(spoken.map(({ pcm }) => pcm))
}
const hzOf = async (pcm: Float32Array, rateHz = model.sampleRateHz) =>
  (await measurePitch(pcm, rateHz, async () => {}))!.medianHz
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  )

test('the card says that it is approximate', () => {
  expect(card.cloning).toBe('approximate')
})

test.each(['rms', 'slt', 'awb', 'kal16'])(
  'a clone of %s has its pitch, its size and the common level',
  async (voice) => {
    const pcm = await speech(words, voice)
    const state = await clone(pcm)
    const shape = readState(state)
    const clipHz = await hzOf(fromS16(pcm), clipRateHz)
    expect(shape.formants).toBeCloseTo(Math.max(0.8, Math.cbrt(clipHz / 189)), 2)
    const spoken = await speak(state)
    expect((await hzOf(spoken)) / clipHz).toBeWithin(0.82, 1.22)
    expect(levelDb(spoken)).toBeWithin(-26, -18)
  },
)

test('a clone of a darker clip is darker', async () => {
  const plain = await speech(words, 'slt')
  const dark = plain.slice()
  // A gentle low pass, twice.
  for (let pass = 0; pass < 2; pass++)
    for (let at = 1; at < dark.length; at++) dark[at] = (dark[at]! + dark[at - 1]!) / 2
  const above = (pcm: Float32Array) => {
    let high = 0
    for (let at = 1; at < pcm.length; at++) high += (pcm[at]! - pcm[at - 1]!) ** 2
    return 10 * Math.log10(high) - levelDb(pcm) - 10 * Math.log10(pcm.length)
  }
  expect(above(await speak(await clone(dark)))).toBeLessThan(above(await speak(await clone(plain))) - 3)
})

test('the noise of a room is not taken for the voice', async () => {
  const plain = fromS16(await speech(words, 'slt'))
  const noiseLevel = 10 ** ((levelDb(plain) - 15) / 20) * Math.sqrt(3)
  const random = new Seeded(3)
  const noisy = plain.map((sample) => sample + noiseLevel * (2 * random.next() - 1))
  const colourOf = async (pcm: Float32Array) =>
    readState(await model.clone!({ pcm, sampleRateHz: clipRateHz }, never)).colour!.target
  const [own, found] = [await colourOf(plain), await colourOf(noisy)]
  // The first few say how bright a voice is. It is 27, and 42 where the noise is part of what is cloned.
  const apart = Math.hypot(...found.slice(0, 6).map((value, at) => value - own[at]!))
  expect(apart).toBeLessThan(34)
})

test('a clip without a voice is refused in words', async () => {
  for (const pcm of [silence(4), noise(4)]) expect(await failure(clone(pcm))).toBeInstanceOf(ClipRefused)
  expect(String(await failure(clone(silence(4))))).toContain('No voice with a pitch')
})

test('a short clip, a clipped one and a tone make a voice that speaks', async () => {
  const whole = await speech(words, 'slt')
  const clipped = whole.map((sample) => Math.max(-32_768, Math.min(32_767, sample * 20)))
  for (const pcm of [whole.subarray(0, 3 * clipRateHz), clipped, tone(3, 200)]) {
    const spoken = await speak(await clone(pcm))
    expect(levelDb(spoken)).toBeWithin(-32, -14)
    expect(spoken.every(Number.isFinite)).toBe(true)
  }
})

test('the signal ends it', async () => {
  const leaving = new AbortController()
  const left = failure(clone(await speech(words), leaving.signal))
  leaving.abort(new Error('gone'))
  expect(await left).toMatchObject({ message: 'gone' })
})

test('a state is kept to the number, and other data is refused', async () => {
  const state = await clone(await speech(words))
  expect(writeState(readState(state))).toEqual(state)
  expect(state.length).toBeLessThan(10_000)
  const changed = (change: Record<string, unknown>) => {
    const content = JSON.parse(new TextDecoder().decode(state)) as Record<string, unknown>
    return new TextEncoder().encode(JSON.stringify({ ...content, ...change }))
  }
  const reading = (bytes: Uint8Array) => () => readState(bytes)
  expect(reading(new Uint8Array([1, 2, 3]))).toThrow('this is no cloned voice of hibari')
  expect(reading(changed({ hibari: 2 }))).toThrow('cloned by another version (2)')
  for (const change of [{ hz: 5 }, { formants: null }, { map: [1] }, { mean: 'x' }, { target: Array(23).fill('1') }]) {
    expect(reading(changed(change))).toThrow('this cloned voice is damaged')
  }
})

test('levels of a flat spectrum are alike in all bands', () => {
  const levels = new Float64Array(bands)
  expect(measure(new Float64Array(601).fill(0.01), levels)).toBeCloseTo(10 * Math.log10(6.01), 6)
  expect([...levels].every((level) => Math.abs(level + 20) < 1e-6)).toBe(true)
})
