import { expect, test } from 'bun:test'
import { WordTimes } from './word-times.ts'

const rate = 1000
const loud = (ms: number) => new Float32Array(ms).fill(0.5)
const silent = (ms: number) => new Float32Array(ms)
const joined = (...parts: Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]))
const shown = (text: string, words: ReturnType<WordTimes['add']>) =>
  words.map(({ from, to, startMs, endMs }) => [Array.from(text).slice(from, to).join(''), startMs, endMs])

test('a model with word times: words of the text as it was sent, relative to the whole speech', () => {
  const text = 'Dr. **Ng** paid $3.50.'
  const times = new WordTimes(text, rate)
  expect(times.add({ pcm: silent(500), coveredChars: 0, spans: [] })).toEqual([])
  const found = times.add({
    pcm: loud(2000),
    coveredChars: 22,
    spans: [
      { end: 3, startS: 0, endS: 0.4 },
      { end: 8, startS: 0.4, endS: 0.8 },
      { end: 15, startS: 0.8, endS: 1 },
      // Several words are spoken for one.
      { end: 15, startS: 1, endS: 1.2 },
      { end: 15, startS: 1.2, endS: 1.5 },
      { end: 22, startS: 1.5, endS: 1.9 },
    ],
  })
  expect(shown(text, found)).toEqual([
    ['Dr', 500, 900],
    ['Ng', 900, 1300],
    ['paid', 1300, 1500],
    ['$3.50', 1500, 2400],
  ])
  expect(found.every(({ isEstimated }) => !isEstimated)).toBe(true)
  // The rest of the same stretch has no times of its own, and none are invented.
  expect(times.add({ pcm: loud(100), coveredChars: 22 })).toEqual([])
})

test('a model without: the sound between its silences is divided, and marked as an estimate', () => {
  const text = 'One three. Ünïcöde 鳥!'
  const times = new WordTimes(text, rate)
  const found = times.add({ pcm: joined(silent(100), loud(1000), silent(300)), coveredChars: 10 })
  expect(found.map(({ isEstimated }) => isEstimated)).toEqual([true, true])
  expect(found[0]!.startMs).toBe(100)
  expect(found[1]!.endMs).toBe(1100)
  expect(found[0]!.endMs).toBe(found[1]!.startMs)
  const next = times.add({ pcm: loud(1000), coveredChars: 20 })
  expect(next.map(({ from, to }) => Array.from(text).slice(from, to).join(''))).toEqual(['Ünïcöde', '鳥'])
  expect(next[0]!.startMs).toBe(1400)
})

test('silence has no words, and tags are not words', () => {
  const text = '<break time="1s"/> Hello <b>you</b>'
  const times = new WordTimes(text, rate)
  expect(times.add({ pcm: silent(1000), coveredChars: 18 })).toEqual([])
  expect(shown(text, times.add({ pcm: loud(800), coveredChars: 35 })).map(([word]) => word)).toEqual(['Hello', 'you'])
})
