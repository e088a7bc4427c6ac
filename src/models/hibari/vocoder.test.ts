import { expect, test } from 'bun:test'
import golden from './vocoder.golden.f32' with { type: 'file' }
import { bins, hopSamples, type Parameters } from './parameters.ts'
import { speechSpan } from './speech-span.ts'
import { Vocoder } from './vocoder.ts'

const frames = 40

/** As in scripts/golden/hibari.py. */
function parametersOf(): Parameters {
  const spectrum = (value: (bin: number, frame: number) => number) =>
    Float32Array.from({ length: bins * frames }, (_, at) => value(Math.floor(at / frames), at % frames))
  const harmonicLog = spectrum((bin, frame) => -bin / 100 + Math.sin(0.05 * bin + 0.3 * frame))
  harmonicLog[3 * frames + 20] = 8
  harmonicLog.fill(-20, 500 * frames, 501 * frames)
  return {
    frames,
    harmonicLog,
    harmonicTurn: spectrum((bin, frame) => 0.8 * Math.sin(0.11 * bin - 0.2 * frame)),
    restLog: spectrum((bin, frame) => -3 - bin / 300 + Math.cos(0.07 * bin + 0.5 * frame)),
    restPhase: spectrum((bin, frame) => Math.PI * Math.sin(1.7 * bin + 2.3 * frame)),
    f0: Float32Array.from({ length: frames }, (_, at) => (at < 5 || (at > 22 && at < 26) ? 3 : 140 + 4 * at)),
  }
}

const soundOf = (parameters: Parameters, span?: { from: number; to: number }): Float64Array =>
  Float64Array.from([...new Vocoder(parameters, span).blocks()].flatMap((block) => [...block]))

test("the sound is that of the reference's arithmetic", async () => {
  const expected = new Float32Array(await Bun.file(golden).arrayBuffer())
  const sound = soundOf(parametersOf())
  expect(sound.length).toBe(expected.length)
  const power = (samples: ArrayLike<number>) => Array.from(samples).reduce((sum, sample) => sum + sample ** 2, 0)
  const noiseDb = 10 * Math.log10(power(sound.map((sample, at) => sample - expected[at]!)) / power(expected))
  // The reference computes in single precision, so that now and then it has a harmonic more or less below 11 kHz.
  expect(noiseDb).toBeLessThan(-65)
})

test.each([
  [0, 1],
  [0, frames],
  [1, 2],
  [7, 31],
  [frames - 1, frames],
])('frames %p to %p alone sound as they do in the whole', (from, to) => {
  const part = soundOf(parametersOf(), { from, to })
  const whole = soundOf(parametersOf()).subarray(from * hopSamples, to * hopSamples)
  expect(part.length).toBe(whole.length)
  expect(part.every((sample, at) => Math.abs(sample - whole[at]!) < 1e-9)).toBe(true)
})

test('speech is found between silences, with a little of them', () => {
  const parameters = parametersOf()
  parameters.harmonicLog[3 * frames + 20] = 0
  for (const part of [parameters.harmonicLog, parameters.restLog]) {
    for (const [at] of part.entries()) if (at % frames < 12 || at % frames >= 28) part[at] = -30
  }
  expect(speechSpan(parameters, 1)).toEqual({ from: 8, to: 35 })
  expect(speechSpan(parameters, 2)).toEqual({ from: 10, to: 32 })
})

test('where all is alike silent, nothing is cut off', () => {
  const parameters = parametersOf()
  for (const part of [parameters.harmonicLog, parameters.restLog]) part.fill(-Infinity)
  expect(speechSpan(parameters, 1)).toEqual({ from: 0, to: frames })
  expect(soundOf(parameters).every((sample) => sample === 0)).toBe(true)
})
