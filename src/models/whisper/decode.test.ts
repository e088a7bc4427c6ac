import { expect, test } from 'bun:test'
import { compressionRatio, defaultRules, isSilent, type Written } from './decode.ts'

// From Python's zlib: len(text.encode()) / len(zlib.compress(text.encode())).
test.each([
  ['', 0],
  ['a', 1 / 9],
  ['It rained for days.', 19 / 27],
  ['Thank you. '.repeat(10).trim(), 109 / 22],
  ['鸚鵡 '.repeat(20), 140 / 19],
  [Array.from({ length: 200 }, (_, i) => (i * i) % 97).join(' '), 565 / 158],
])('measures how often %j repeats itself as zlib does', (text, ratio) => {
  expect(compressionRatio(text)).toBeCloseTo(ratio, 9)
})

test('a window is silent when it probably is and the text is uncertain', () => {
  const written = (noSpeechProb: number, avgLogprob: number): Written => ({
    tokens: [],
    temperature: 0,
    compressionRatio: 1,
    noSpeechProb,
    avgLogprob,
  })
  expect(isSilent(written(0.7, -1.2), defaultRules)).toBe(true)
  expect(isSilent(written(0.7, -0.9), defaultRules)).toBe(false)
  expect(isSilent(written(0.5, -1.2), defaultRules)).toBe(false)
  expect(isSilent(written(0.7, -0.9), { ...defaultRules, minAvgLogprob: null })).toBe(true)
  expect(isSilent(written(0.7, -1.2), { ...defaultRules, maxNoSpeechProb: null })).toBe(false)
})
