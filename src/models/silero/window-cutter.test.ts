import { expect, test } from 'bun:test'
import { forEachSeed, Seeded } from '../../testing/seeded.ts'
import { BurstFinder, isSpeech, type Span } from './bursts.ts'
import { type CutOptions, SpeechCutter, type SpeechWindow } from './window-cutter.ts'

const windowMs = 32
const windowSamples = 512
const samplesPerMs = 16

interface Cut {
  startMs: number
  endMs: number
  pcm: Float32Array
  /** The position in the sound when the window came out, and the position reported as transcribed at that time. */
  atMs: number
  heardMs: number
}

/** A sound whose every sample is its own index, so that a window's content shows its position. */
const ramp = Float32Array.from({ length: 2 ** 24 }, (_, i) => i / 2 ** 24)
const soundAt = (from: number, length: number) => ramp.subarray(from, from + length)

const bytesOf = (pcm: Float32Array) => Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)
const isSame = (pcm: Float32Array, other: Float32Array) => bytesOf(pcm).equals(bytesOf(other))

function cutAll(probabilities: readonly number[], options: CutOptions, lastSamples = windowSamples): Cut[] {
  const cutter = new SpeechCutter(options, windowMs)
  const cuts: Cut[] = []
  const take = (windows: readonly SpeechWindow[]) => {
    for (const { startMs, pcm } of windows) {
      const endMs = startMs + pcm.length / samplesPerMs
      cuts.push({ startMs, endMs, pcm, atMs: cutter.endMs, heardMs: cutter.heardMs })
    }
  }
  for (const [index, probability] of probabilities.entries()) {
    const length = index === probabilities.length - 1 ? lastSamples : windowSamples
    take(cutter.push(soundAt(index * windowSamples, length), probability))
  }
  take(cutter.end())
  return cuts
}

const runs = (...parts: readonly [seconds: number, probability: number][]) =>
  parts.flatMap(([seconds, probability]) => Array<number>(Math.round((1000 * seconds) / windowMs)).fill(probability))
const timesOf = (cuts: readonly Cut[]) => cuts.map(({ startMs, endMs }) => [startMs, endMs])
const framed = (seconds: number) => Math.round((1000 * seconds) / windowMs) * windowMs

test('empty sound, silence and bursts too short to be speech give no window', () => {
  expect(cutAll([], { maxWindowMs: 20_000 })).toEqual([])
  expect(cutAll(runs([120, 0.1]), { maxWindowMs: 20_000 })).toEqual([])
  expect(cutAll(runs([5, 0], [0.2, 0.9], [5, 0]), { maxWindowMs: 20_000 })).toEqual([])
})

test('speech is cut out with the soft sound around it, long before the sound ends', () => {
  const cuts = cutAll(runs([4, 0], [3, 0.9], [10, 0]), { maxWindowMs: 20_000 })
  expect(timesOf(cuts)).toEqual([[framed(4) - 300, framed(4) + framed(3) + 300]])
  expect(cuts[0]!.atMs).toBeWithin(framed(7) + 1500, framed(7) + 1600)
  expect(isSame(cuts[0]!.pcm, soundAt(cuts[0]!.startMs * samplesPerMs, cuts[0]!.pcm.length))).toBe(true)
})

test('short pauses join, long ones separate', () => {
  const joined = cutAll(runs([1, 0], [2, 0.9], [1.2, 0], [2, 0.9], [3, 0]), { maxWindowMs: 20_000 })
  expect(joined).toHaveLength(1)
  const parted = cutAll(runs([1, 0], [2, 0.9], [1.7, 0], [2, 0.9], [3, 0]), { maxWindowMs: 20_000 })
  expect(parted).toHaveLength(2)
})

test('a window that holds enough ends immediately at the next real pause', () => {
  const first: [number, number][] = [
    [9, 0.9],
    [0.8, 0],
    [5, 0.9],
    [0.4, 0],
    [3, 0.9],
    [0.8, 0],
  ]
  const cuts = cutAll(runs(...first, [9, 0.9], [0.8, 0], [8, 0.9], [0.8, 0], [4, 0.9], [2, 0]), { maxWindowMs: 24_000 })
  expect(cuts.map(({ startMs, endMs }) => Math.round((endMs - startMs) / 1000))).toEqual([19, 18, 5])
  expect(cuts[0]!.endMs).toBe(framed(9) + framed(0.8) + framed(5) + framed(0.4) + framed(3) + 300)
  expect(cuts[0]!.atMs).toBeWithin(cuts[0]!.endMs + 200, cuts[0]!.endMs + 400)
})

test('a full window ends at the longest pause in its last third', () => {
  const probabilities = runs([6, 0.9], [0.5, 0], [2, 0.9], [0.2, 0], [1, 0.9], [0.3, 0], [6, 0.9], [2, 0])
  const cuts = cutAll(probabilities, { maxWindowMs: 12_000 })
  const pauseMs = framed(6) + framed(0.5) + framed(2) + framed(0.2) + framed(1)
  expect(cuts).toHaveLength(2)
  // The pause is too short for the padding of both windows, so they share it.
  expect([cuts[0]!.endMs, cuts[1]!.startMs]).toEqual([pauseMs + framed(0.3) / 2, pauseMs + framed(0.3) / 2])
})

test('without a pause, the cut is where the sound is least like speech', () => {
  const probabilities = runs([10, 0.95], [0.1, 0.6], [8, 0.95])
  const cuts = cutAll(probabilities, { maxWindowMs: 12_000 })
  expect(cuts[0]!.endMs).toBeWithin(10_000, 10_200)
  expect(cuts[1]!.startMs).toBe(cuts[0]!.endMs)
})

test('where all of it is alike, the cut is where it is softest', () => {
  const cutter = new SpeechCutter({ maxWindowMs: 12_000 }, windowMs)
  const windows: SpeechWindow[] = []
  for (let atMs = 0; atMs < 13_000; atMs += windowMs) {
    const level = atMs >= 9000 && atMs < 9100 ? 0.01 : 0.3
    windows.push(...cutter.push(new Float32Array(windowSamples).fill(level), 0.99))
  }
  expect(windows).toHaveLength(1)
  expect(windows[0]!.pcm.length / samplesPerMs).toBeWithin(9000, 9150)
})

test('refuses windows that are too short to be cut', () => {
  expect(() => new SpeechCutter({ maxWindowMs: 2000 }, windowMs)).toThrow('no windows of 2000 ms')
})

/** Hours of a person's day: runs of speech, of silence, and of sound that might be either. */
function randomProbabilities(random: Seeded): number[] {
  const level = () => random.pick([0, 0.1, 0.34, 0.36, 0.49, 0.5, 0.9, 1])
  return Array.from({ length: random.whole(0, 80) }, () => {
    const length = random.chance(0.1) ? random.whole(30, 1500) : random.whole(1, 60)
    const [one, other] = [level(), level()]
    return Array.from({ length }, () => (random.chance(0.9) ? one : other))
  }).flat()
}

/** What the detector calls speech, in one pass. */
function speechIn(probabilities: readonly number[], totalMs: number): Span[] {
  const finder = new BurstFinder(windowMs)
  const bursts = probabilities.flatMap((probability) => finder.push(probability) ?? [])
  const { open } = finder
  return [...bursts, ...(open === null ? [] : [{ startMs: open.startMs, endMs: totalMs }])].filter(isSpeech)
}

test('for any sound, all speech is in exactly one window, in order, and no window is too long', () =>
  forEachSeed(200, (random) => {
    const probabilities = randomProbabilities(random)
    const lastSamples = random.whole(1, windowSamples)
    const totalMs = Math.max(0, (probabilities.length - 1) * windowMs + lastSamples / samplesPerMs)
    const maxWindowMs = random.whole(3000, 30_000)
    const cuts = cutAll(probabilities, { maxWindowMs }, lastSamples)
    let freeMs = 0
    for (const { startMs, endMs, pcm, atMs, heardMs } of cuts) {
      expect(startMs).toBeGreaterThanOrEqual(freeMs)
      expect(endMs - startMs).toBeLessThanOrEqual(maxWindowMs)
      expect(heardMs).toBeWithin(endMs, atMs + 1)
      expect(isSame(pcm, soundAt(startMs * samplesPerMs, pcm.length))).toBe(true)
      freeMs = endMs
    }
    const speech = speechIn(probabilities, totalMs)
    const inWindows = ({ startMs, endMs }: Span) =>
      cuts.reduce((sum, cut) => sum + Math.max(0, Math.min(endMs, cut.endMs) - Math.max(startMs, cut.startMs)), 0)
    for (const span of speech) expect(inWindows(span)).toBeCloseTo(span.endMs - span.startMs, 6)
    for (const { startMs, endMs } of cuts) {
      const inside = speech.filter((span) => span.startMs < endMs && span.endMs > startMs)
      expect(inside.length).toBeGreaterThan(0)
      expect(inside[0]!.startMs - startMs).toBeLessThanOrEqual(300)
      for (const [index, { startMs: next }] of inside.slice(1).entries()) {
        expect(next - inside[index]!.endMs).toBeLessThan(1500)
      }
    }
  }))
