import { expect, test } from 'bun:test'
import { featureClips, goldenFrames } from './features.fixture.ts'
import { LogMelMeter, windowOf } from './features.ts'

type Golden = Record<string, Record<'80' | '128', number[][]>>

// The output of WhisperFeatureExtractor, times 100,000; written by scripts/golden/whisper-features.ts.
const golden: Golden = await Bun.file(`${import.meta.dir}/golden/features.json.gz`)
  .bytes()
  .then((bytes) => JSON.parse(new TextDecoder().decode(Bun.gunzipSync(bytes))))
const clips = await featureClips()

test.each(Object.keys(golden))('the features of %s match those of transformers', (name) => {
  for (const bands of [80, 128] as const) {
    const { frames, values } = new LogMelMeter(bands).measure(clips[name]!)
    expect(frames).toBe(Math.floor(clips[name]!.length / 160))
    const rows = golden[name]![bands]
    expect(rows.length).toBe(bands)
    for (const [band, row] of rows.entries()) {
      const ours = goldenFrames([...values.subarray(band * frames, (band + 1) * frames)])
      expect(ours.length).toBe(row.length)
      for (const [i, value] of row.entries()) expect(Math.abs(ours[i]! - value / 1e5)).toBeLessThan(1e-4)
    }
  }
})

test('a sound without a whole frame has no features', () => {
  for (const length of [0, 1, 159]) expect(new LogMelMeter(80).measure(new Float32Array(length)).frames).toBe(0)
})

test('the loudest place counts, even if the last whole frame does not cover all of it', () => {
  const pcm = new Float32Array(1759)
  const quiet = new LogMelMeter(80).measure(pcm)
  pcm[1758] = 1
  const loud = new LogMelMeter(80).measure(pcm)
  expect(quiet.values[0]).toBeCloseTo(-1.5, 6)
  expect(loud.values[0]).toBeGreaterThan(-1.5)
})

test('a window has its frames first and then zeros', () => {
  const mel = { bands: 2, frames: 4, values: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) }
  const window = windowOf(mel, 1, 2)
  expect(window.length).toBe(6000)
  expect([...window.subarray(0, 3), ...window.subarray(3000, 3003)]).toEqual([2, 3, 0, 6, 7, 0])
  expect(windowOf(mel, 0, 4).reduce((sum, value) => sum + value, 0)).toBe(36)
})
