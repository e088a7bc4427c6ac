import { expect, test } from 'bun:test'
import { estimatedWords } from './estimated-words.ts'
import type { TranscriptSegment } from './transcript.ts'

const segment = (text: string): TranscriptSegment => ({
  startMs: 1000,
  endMs: 3000,
  text,
  seekMs: 0,
  tokens: [],
  temperature: 0,
  avgLogprob: 0,
  compressionRatio: 1,
  noSpeechProb: 0,
  words: null,
})

test('the time of a segment is divided among its words by their length', () => {
  expect(estimatedWords(segment(' It rained, all day.'))).toEqual([
    { text: 'It', startMs: 1000, endMs: 1300, probability: null },
    { text: 'rained,', startMs: 1300, endMs: 2100, probability: null },
    { text: 'all', startMs: 2100, endMs: 2500, probability: null },
    { text: 'day.', startMs: 2500, endMs: 3000, probability: null },
  ])
})

test('a script without spaces has words, too, and a segment without text has none', () => {
  const words = estimatedWords(segment('今日は、雨です。')).map(({ text }) => text)
  expect(words.length).toBeGreaterThan(2)
  expect(words.join('')).toBe('今日は、雨です。')
  expect(words.every((word) => !/^[、。]/.test(word))).toBe(true)
  expect(estimatedWords(segment('  '))).toEqual([])
})
