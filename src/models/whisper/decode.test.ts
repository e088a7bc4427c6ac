import { expect, test } from 'bun:test'
import { compressionRatio, defaultRules, isSilent, type Line, withoutUnsureEnd, type Written } from './decode.ts'

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

test('what was written beyond an early stop is kept unless the decoder was unsure of it', () => {
  const line: Line = {
    window: 0,
    sampled: [1, 2, 3, 4, 5],
    logprob: -4,
    isOver: true,
    told: { tokens: 0, logprob: 0 },
    stop: { tokens: 2, logprob: -1 },
  }
  // Three tokens and the end: -0.75 each.
  expect(withoutUnsureEnd(line, { ...defaultRules, minAvgLogprob: -0.75 })).toBe(line)
  const cut = withoutUnsureEnd(line, { ...defaultRules, minAvgLogprob: -0.74 })
  expect(cut).toMatchObject({ sampled: [1, 2], logprob: -1 })
  expect(withoutUnsureEnd(line, { ...defaultRules, minAvgLogprob: null })).toBe(line)
  expect(withoutUnsureEnd({ ...line, stop: null }, { ...defaultRules, minAvgLogprob: -0.1 }).sampled.length).toBe(5)
  const told = { ...line, told: { tokens: 3, logprob: -2 } }
  expect(withoutUnsureEnd(told, { ...defaultRules, minAvgLogprob: -0.1 })).toBe(told)
})
