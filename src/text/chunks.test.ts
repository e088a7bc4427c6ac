import { expect, spyOn, test } from 'bun:test'
import { countChars } from '../domain/charge.ts'
import { forEachSeed } from '../testing/seeded.ts'
import { type Chunk, type ChunkOptions, chunks } from './chunks.ts'
import { emptyLexicon } from './lexicon.ts'
import { randomText } from './random-text.fixture.ts'

const options: ChunkOptions = { maxChars: 200, firstMaxWords: 12, lexicon: emptyLexicon }
const all = (input: string, changed: Partial<ChunkOptions> = {}): Chunk[] => [
  ...chunks(input, { ...options, ...changed }),
]
const texts = (input: string, changed: Partial<ChunkOptions> = {}): string[] =>
  all(input, changed).map(({ text }) => text)

test('each sentence becomes a chunk, together with the mark that ends it', () => {
  expect(all('One two. Three!\n\nFour')).toEqual([
    { text: 'One two.', coveredChars: 8, boundary: 'sentence' },
    { text: 'Three!', coveredChars: 15, boundary: 'paragraph' },
    { text: 'Four.', coveredChars: 21, boundary: 'sentence' },
  ])
})

test('the first chunk is short and ends at a pause, or before a word that opens a clause', () => {
  const pause = 'When the day was done, the tired old man walked slowly home along the river bank.'
  expect(texts(pause)[0]).toBe('When the day was done,')
  const none = 'The tired old man walked slowly home along the river bank to his small wooden house'
  expect(texts(none)[0]).toBe('The tired old man walked slowly home along the river bank')
  expect(all(none)[0]?.boundary).toBe('clause')
})

test('when normalisation makes a text longer, the rest opens the next chunk and counts once complete', () => {
  const grown = all('Pay $1,234,567.89 now.', { maxChars: 40, firstMaxWords: 100 })
  expect(grown.map(({ text }) => text)).toEqual([
    'Pay one million two hundred thirty four',
    'thousand five hundred sixty seven',
    'dollars and eighty nine cents now.',
  ])
  expect(grown.map(({ coveredChars }) => coveredChars)).toEqual([3, 3, 22])
})

test('long words are split', () => {
  expect(texts('a'.repeat(90), { firstMaxWords: 9 })).toEqual([
    `${'a'.repeat(40)} ${'a'.repeat(40)} ${'a'.repeat(10)}.`,
  ])
})

test('positions are code points, and the last chunk covers what cannot be spoken', () => {
  const input = '😀😀 Hi. 𝐀𝐁 yes. 😀😀\n\n```\ncode 😀\n```\n'
  expect(all(input).map(({ coveredChars }) => coveredChars)).toEqual([6, countChars(input)])
})

test('a text with nothing to speak gives no chunks', () => expect(all('😀 *** \n\n---')).toEqual([]))

test('refuses options that leave no room for a chunk', () => {
  expect(() => all('a', { maxChars: 7 })).toThrow(RangeError)
  expect(() => all('a', { firstMaxWords: 0 })).toThrow(RangeError)
})

test('for any text, chunks are bounded and ASCII without digits, and positions rise to the exact end', () =>
  forEachSeed(400, (random) => {
    const input = randomText(random, random.whole(0, 60))
    const maxChars = random.whole(8, 250)
    const firstMaxWords = random.whole(1, 20)
    const made = all(input, { maxChars, firstMaxWords })
    let covered = 0
    for (const { text, coveredChars } of made) {
      expect(text.length).toBeLessThanOrEqual(maxChars)
      expect(text).toMatch(/^[A-Za-z' .,;:!?-]+$/)
      expect(text).toMatch(/[A-Za-z]/)
      expect(text).not.toMatch(/^ | {2}| $/)
      for (const word of text.split(' ')) expect(word.length).toBeLessThanOrEqual(41)
      expect(coveredChars).toBeGreaterThanOrEqual(covered)
      covered = coveredChars
    }
    if (made.length > 0) {
      expect(covered).toBe(countChars(input))
      expect(made[0]?.text.split(' ').length).toBeLessThanOrEqual(firstMaxWords)
    }
  }))

const dictionary =
  'the house river stone walks under bright seven apple music running over table garden and or but'.split(' ')

test('plain prose loses no word, keeps its order, and each position points behind the words spoken', () =>
  forEachSeed(100, (random) => {
    let input = ''
    for (let count = random.whole(1, 1500); count > 0; count--) {
      const joint = random.chance(0.1) ? random.pick([', ', '. ', '? ', '\n\n', '\n', '; ', ' - ']) : ' '
      input += random.pick(dictionary) + joint
    }
    const words = (text: string) => text.match(/[a-z]+/g) ?? []
    const made = all(input, { maxChars: random.whole(30, 200) })
    expect(made.flatMap(({ text }) => words(text))).toEqual(words(input))
    let spoken = 0
    for (const { text, coveredChars } of made) {
      spoken += words(text).length
      expect(words(input.slice(0, coveredChars)).length).toBe(spoken)
    }
  }))

test('the first chunk needs only a bounded prefix of a text without a full stop', () => {
  const prose = 'so it goes on and on '.repeat(50_000)
  for (const input of [prose, 'x'.repeat(1_000_000), 'Hello there. '.repeat(80_000), `# ${prose}`, `- ${prose}`]) {
    const read = spyOn(String.prototype, 'codePointAt')
    try {
      expect(chunks(input, options).next().done).toBe(false)
      expect(read.mock.calls.length).toBeLessThan(8192)
      expect(read.mock.calls.length).toBeGreaterThan(0)
    } finally {
      read.mockRestore()
    }
  }
})

test('a million characters without a full stop or without a space are all returned', () => {
  const spaced = all('so it goes on and on '.repeat(50_000))
  expect(spaced.reduce((sum, { text }) => sum + text.split(' ').length, 0)).toBe(300_000)
  const solid = all('x'.repeat(1_000_000))
  expect(solid.reduce((sum, { text }) => sum + text.replace(/[^x]/g, '').length, 0)).toBe(1_000_000)
  expect(solid.at(-1)?.coveredChars).toBe(1_000_000)
})
