import { expect, test } from 'bun:test'
import { segmentsOf, type Word } from './sentences.ts'

/** Words of 300 ms, 100 ms apart; a number is a pause of that many ms instead. */
function spoken(text: string): Word[] {
  let atMs = 0
  const words: Word[] = []
  for (const part of text.split(' ')) {
    if (/^\d+ms$/.test(part)) atMs += Number.parseInt(part, 10) - 100
    else {
      words.push({ text: part, startMs: atMs, endMs: atMs + 300, probability: 0.5, tokens: [words.length] })
      atMs += 400
    }
  }
  return words
}
const sentences = (text: string) => segmentsOf(spoken(text), -0.5, false).map((segment) => segment.text)

test('each sentence is a segment, and the joined texts are the whole text', () => {
  expect(sentences('It rained. Did it? It did! "Well." So')).toEqual([
    ' It rained.',
    ' Did it?',
    ' It did!',
    ' "Well."',
    ' So',
  ])
  expect(sentences('Nous voici. Ça va? Что? Да. 300ms Über alles.')).toHaveLength(5)
})

test('a full stop within a number or before a small letter ends no sentence', () => {
  expect(sentences('It is 3.5 or so, e.g. four. Or five.')).toEqual([' It is 3.5 or so, e.g. four.', ' Or five.'])
})

test('a full stop after a title ends a sentence only before a pause', () => {
  expect(sentences('Mr. J. Smith went. Dr. Brown stayed.')).toEqual([' Mr. J. Smith went.', ' Dr. Brown stayed.'])
  expect(sentences('We saw Rome. 250ms Then we left.')).toEqual([' We saw Rome.', ' Then we left.'])
})

test('a long pause splits, a short one does not', () => {
  expect(sentences('one two 1000ms three 900ms four')).toEqual([' one two', ' three four'])
})

test('a segment that is too long is split where the speaker breathes, or at a comma', () => {
  const [twenty, ten] = [Array(20).fill('a').join(' '), Array(10).fill('b').join(' ')]
  expect(sentences(`${twenty} 450ms ${twenty}`)).toEqual([` ${twenty}`, ` ${twenty}`])
  expect(sentences(`${twenty} c, ${twenty}`)).toEqual([` ${twenty} c,`, ` ${twenty}`])
  // But not right at the beginning, however long that pause is.
  expect(sentences(`b 900ms ${twenty} ${ten} 200ms ${ten}`)).toEqual([` b ${twenty} ${ten}`, ` ${ten}`])
  const endless = segmentsOf(spoken(Array(400).fill('a').join(' ')), 0, false)
  for (const { startMs, endMs } of endless) expect(endMs - startMs).toBeLessThanOrEqual(15_000)
  expect(endless.flatMap(({ tokens }) => tokens)).toEqual(Array.from({ length: 400 }, (_, token) => token))
})

test('a segment reports what is known about it', () => {
  const [first, second] = segmentsOf(spoken('It rained. It did.'), -0.25, true)
  expect(first).toEqual({
    startMs: 0,
    endMs: 700,
    text: ' It rained.',
    seekMs: 0,
    tokens: [0, 1],
    temperature: 0,
    avgLogprob: -0.25,
    compressionRatio: expect.any(Number),
    noSpeechProb: 0,
    words: [
      { text: 'It', startMs: 0, endMs: 300, probability: 0.5 },
      { text: 'rained.', startMs: 400, endMs: 700, probability: 0.5 },
    ],
  })
  expect(second!.words).toHaveLength(2)
  expect(segmentsOf(spoken('It rained.'), 0, false)[0]!.words).toBe(null)
  expect(segmentsOf([], 0, true)).toEqual([])
})

test('text that repeats itself can be compressed', () => {
  const ratio = (text: string) => segmentsOf(spoken(text), 0, false)[0]!.compressionRatio
  expect(ratio(Array(30).fill('over').join(' '))).toBeGreaterThan(2.4)
  expect(ratio('Nobody in the village could say when the clock had stopped')).toBeLessThan(1.2)
})
