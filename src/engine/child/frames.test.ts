import { expect, test } from 'bun:test'
import { FrameCutter, type Frame } from './frames.ts'

const ramp = (length: number, start = 0) => Float32Array.from({ length }, (_, i) => ((start + i) % 1000) / 1000)

function cut(cutter: FrameCutter, pcm: Float32Array, coveredChars: number): Frame[] {
  cutter.add({ pcm, coveredChars })
  return rest(cutter)
}
function rest(cutter: FrameCutter): Frame[] {
  const frames: Frame[] = []
  for (let frame = cutter.take(); frame !== null; frame = cutter.take()) frames.push(frame)
  return frames
}

test('frames last at most 200 ms, each has its own buffer, and every sample occurs once', () => {
  const frames = cut(new FrameCutter(24_000, 24_000), ramp(10_000), 7)
  expect(frames.map((frame) => frame.pcm.length)).toEqual([4800, 4800, 400])
  expect(frames.every((frame) => frame.pcm.buffer.byteLength === frame.pcm.byteLength)).toBe(true)
  const samples = frames.flatMap((frame) => [...frame.pcm])
  expect(samples).toEqual([...ramp(10_000)].map((value) => Math.round(value * 32768)))
})

test('coverage grows with the samples and is exact at the end of each chunk', () => {
  const cutter = new FrameCutter(24_000, 24_000)
  expect(cut(cutter, ramp(9600), 9).map((frame) => frame.coveredChars)).toEqual([4, 9])
  expect(cut(cutter, ramp(19_200), 19).map((frame) => frame.coveredChars)).toEqual([11, 14, 16, 19])
})

test('coverage never decreases, whatever a model reports', () => {
  const cutter = new FrameCutter(24_000, 24_000)
  cut(cutter, ramp(100), 9)
  expect(cut(cutter, ramp(100), 3).map((frame) => frame.coveredChars)).toEqual([9])
})

test('resampled as one stream: as many samples as the rates require, coverage exact at the end', () => {
  const cutter = new FrameCutter(16_000, 24_000)
  const frames = [...cut(cutter, ramp(1601), 5), ...cut(cutter, ramp(3203, 1601), 8)]
  cutter.finish()
  frames.push(...rest(cutter))
  expect(frames.reduce((sum, frame) => sum + frame.pcm.length, 0)).toBe(Math.round((1601 + 3203) * 1.5))
  expect(frames.at(-1)?.coveredChars).toBe(8)
  expect(Math.max(...frames.map((frame) => frame.pcm.length))).toBeLessThanOrEqual(4800)
})

test('a chunk without sound gives no frame', () => {
  const cutter = new FrameCutter(24_000, 24_000)
  expect(cut(cutter, new Float32Array(0), 3)).toEqual([])
  expect(cut(cutter, ramp(10), 4).map((frame) => frame.coveredChars)).toEqual([4])
})
