import { expect, test } from 'bun:test'
import { countChars } from '../../domain/charge.ts'
import { emptyLexicon } from '../../text/lexicon.ts'
import { randomText } from '../../text/random-text.fixture.ts'
import { speakable } from '../../text/speakable.ts'
import { englishWords, type SpokenWord, writtenWords } from '../../text/spoken.ts'
import { forEachSeed } from '../../testing/seeded.ts'
import { SentencePiece } from '../tokenizers/sentencepiece.ts'
import { chunksOf, type Measure } from './chunks.ts'
import { framesAfterEos, prepare } from './prepare.ts'
import { bytesOf, golden as small } from './small.fixture.ts'
import written from './text.golden.json'
import { knownWords, wordsOf } from './words.ts'

// Written by scripts/golden/pocket-text.py with Kyutai's package.
const { prepared, chunked } = written
const tokenizer = new SentencePiece(bytesOf(small.files['tokenizer.model']!))
const plain = { padShortInputs: false, removeSemicolons: false }

const measured = (maxTokens: number, preparation = plain): Measure => ({
  tokens: (text) => tokenizer.encode(prepare(text, preparation)).length,
  maxTokens,
})
const english = (text: string) => englishWords(text, emptyLexicon)

test('texts are prepared as in the package', () => {
  for (const { text, pad, semicolons, to, frames } of prepared) {
    expect(prepare(text, { padShortInputs: pad, removeSemicolons: semicolons })).toBe(to)
    expect([text, framesAfterEos(text)]).toEqual([text, frames])
  }
})

test("sentences are cut into the package's chunks, unless those are too long", () => {
  let same = 0
  for (const { text, max, to } of chunked) {
    const measure = measured(max)
    const ours = [...chunksOf(english(text), text, measure)].map((chunk) => chunk.text)
    const isGood = to.every((chunk) => measure.tokens(chunk) <= max)
    if (isGood) expect(ours).toEqual(to)
    else expect(ours.join(' ')).toBe(to.join(' '))
    same += isGood ? 1 : 0
  }
  expect(same).toBeGreaterThanOrEqual(8)
})

/** Must be true of any text: no chunk is too long, nothing is lost, and only spoken text is counted. */
function check(text: string, words: Iterable<SpokenWord>, measure: Measure): void {
  const said: string[] = []
  const noted = (function* () {
    for (const word of words) {
      said.push(word.text + word.mark)
      yield word
    }
  })()
  const chunks = [...chunksOf(noted, text, measure)]
  for (const chunk of chunks) {
    expect(chunk.text.trim()).not.toBe('')
    expect(measure.tokens(chunk.text)).toBeLessThanOrEqual(measure.maxTokens)
  }
  expect(
    chunks
      .map((chunk) => chunk.text)
      .join('')
      .replaceAll(' ', ''),
  ).toBe(said.join('').replaceAll(' ', ''))
  const covered = chunks.map(({ coveredChars }) => coveredChars)
  expect(covered).toEqual(covered.toSorted((a, b) => a - b))
  if (chunks.length > 0) expect(covered.at(-1)).toBe(countChars(text))
}

test('for any text, no chunk is too long and nothing is lost', () =>
  forEachSeed(50, (random) => {
    const text = randomText(random, random.whole(1, 120))
    const preparation = { padShortInputs: random.chance(0.3), removeSemicolons: random.chance(0.3) }
    const measure = measured(random.pick([16, 25, 50]), preparation)
    check(text, english(text), measure)
    check(text, writtenWords(text), measure)
    check(text, knownWords(writtenWords(text), tokenizer), measure)
  }))

const letters: [string, string][] = [
  ['a word of 5,000 letters', 'b'.repeat(5000)],
  ['a sentence without an end', 'never ending '.repeat(400)],
  ['figures without spaces', '1234567890'.repeat(200)],
  ['pictures of many parts', '👨‍👩‍👧'.repeat(300)],
  ['letters with many marks', 'e\u0301\u0302\u0303\u0304'.repeat(400)],
  ['letters beyond the first plane', '𐌰𐌱𐌲'.repeat(300)],
  ['only commas', `a${','.repeat(2000)}b`],
]

test.each(letters)('%s', (_, text) => {
  check(text, english(text), measured(50))
  check(text, writtenWords(text), measured(50))
})

test('a text is measured in time that grows linearly with its length', () => {
  const cost = (text: string) => {
    let letters = 0
    const tokens = (piece: string) => {
      letters += piece.length
      return piece.length
    }
    for (const _ of chunksOf(writtenWords(text), text, { tokens, maxTokens: 50 }));
    return letters
  }
  for (const piece of ['b', 'word ', 'One. ', 'a, b, ', 'a\n\n']) {
    expect(cost(piece.repeat(20_000)) / cost(piece.repeat(2000))).toBeLessThan(11)
  }
})

test('characters are never cut in two or separated from their marks', () => {
  for (const text of ['𐌰𐌱𐌲'.repeat(300), 'e\u0323\u0301'.repeat(400)]) {
    const chunks = [...chunksOf(writtenWords(text), text, measured(50))]
    expect(chunks.length).toBeGreaterThan(5)
    for (const chunk of chunks) expect([chunk.text.isWellFormed(), /^\p{M}/u.test(chunk.text)]).toEqual([true, false])
  }
})

test('a paragraph ends a chunk, and a chunk that was cut for its length is marked', () => {
  const text = 'One. Two.\n\nThree.\n\n' + 'word '.repeat(100)
  const chunks = [...chunksOf(english(text), text, measured(50))]
  expect(chunks.slice(0, 3).map((chunk) => [chunk.text, chunk.closes])).toEqual([
    ['One. Two.', 'paragraph'],
    ['Three.', 'paragraph'],
    [expect.stringMatching(/^word word/), 'nothing'],
  ])
  expect(chunks.at(-1)!.closes).toBe('sentence')
})

test('a character without a piece in the tokenizer is folded to one that has a piece, or left out', () => {
  const known = (text: string) => [...knownWords(writtenWords(text), tokenizer)].map(({ text, mark }) => text + mark)
  expect(known('Łódź ist schön, naïve Ж 中文 👋!')).toEqual(['Lodz', 'ist', 'schon,', 'naive!'])
  expect(known('中文. 中文')).toEqual([])
  const noColon = { knows: (char: string) => char !== ':' && tokenizer.knows(char) }
  expect([...knownWords(writtenWords('Voilà: oui'), noColon)].map(({ text, mark }) => text + mark)).toEqual([
    'Voila,',
    'oui',
  ])
})

test('every voice says something of any text that the service accepts', () =>
  forEachSeed(300, (random) => {
    const text = randomText(random, random.whole(1, 3))
    if (!speakable(text, ['Latin'])) return
    for (const isEnglish of [true, false]) {
      const [first] = wordsOf(text, isEnglish, emptyLexicon, tokenizer)
      expect([text, first]).toEqual([text, expect.objectContaining({ text: expect.stringMatching(/./) })])
    }
  }))

test('what only English has words for is spoken in English', () => {
  const said = (text: string) => Array.from(wordsOf(text, false, emptyLexicon, tokenizer), ({ text }) => text).join(' ')
  expect(said('π')).toBe('pi')
  expect(said('3 Euro')).toBe('3 Euro')
})
