import { expect, test } from 'bun:test'
import { countChars } from '../domain/charge.ts'
import { forEachSeed } from '../testing/seeded.ts'
import { parseLexicon, emptyLexicon } from './lexicon.ts'
import { randomText } from './random-text.fixture.ts'
import { englishWords, type SpokenWord, writtenWords } from './spoken.ts'

const signs = { nothing: '', clause: ' /', sentence: ' //', paragraph: ' ///' } as const
const shown = (words: Iterable<SpokenWord>) =>
  Array.from(words, ({ text, mark, closes }) => text + mark + signs[closes]).join(' ')
const english = (text: string) => shown(englishWords(text, emptyLexicon))
const asWritten = (text: string) => shown(writtenWords(text))

test('numbers and signs in English are written out as words', () => {
  expect(english('Dr. Smith paid $5.20, didn’t he? “Yes!”')).toBe(
    "Doctor Smith paid five dollars and twenty cents, / didn't he? // Yes! //",
  )
  expect(english('# Café\n\n- one\n- two\n\nEnd')).toBe('Cafe /// one // two /// End //')
  expect(shown(englishWords('A myna.', parseLexicon('myna=mine ah')))).toBe('A mine ah. //')
})

const german: [string, string][] = [
  ['# Überschrift\n\nGanz **groß** und _klein_.', 'Überschrift /// Ganz groß und klein. //'],
  ['Das ist – wie gesagt – einfach: „Ja!“', 'Das ist, / wie gesagt, / einfach: / Ja! //'],
  ['Am 3. Mai um 10:30 Uhr, 5 % (z. B.) mehr.', 'Am 3. Mai um 10:30 Uhr, / 5 % z. B. mehr. //'],
  ['[Link](http://a.b/c_d) und `Code` <b>fett</b>', 'Link und Code fett //'],
  ['- eins\n- zwei\n\nEnde', 'eins // zwei /// Ende //'],
  ['Halt 👋! Nein', 'Halt! // Nein //'],
  ['Warten… ja... Was?! Ende', 'Warten... / ja... / Was? // Ende //'],
]

test.each(german)('German stays as it is written: %p', (text, words) => {
  expect(asWritten(text)).toBe(words)
})

const others: [string, string, string][] = [
  ['Spanish', '¿Qué tal? ¡Olé!', 'Qué tal? // Olé! //'],
  ['French', 'L’été, « déjà » fini', "L'été, / déjà fini //"],
  ['Portuguese', 'Não, obrigado — até já.', 'Não, / obrigado, / até já. //'],
  ['Russian', 'Привет, мир! 👋 Как дела?', 'Привет, / мир! // Как дела? //'],
  ['Chinese', '你好，世界。再见！', '你好, / 世界. // 再见! //'],
  ['letters and their marks', 'e\u0301te\u0301', 'été //'],
  ['a control character', 'a\u0000b \u0007 c', 'ab c //'],
]

test.each(others)('%s', (_, text, words) => {
  expect(asWritten(text)).toBe(words)
})

test('a text with nothing to say gives no words', () => {
  for (const text of ['', ' \n\n ', '👋 ❤️', '---\n***', '```\ncode\n```', '…', '" "']) expect(asWritten(text)).toBe('')
})

test('for any text, the covered position never decreases and never passes the end', () =>
  forEachSeed(100, (random) => {
    const text = randomText(random, random.whole(1, 100))
    for (const words of [[...englishWords(text, emptyLexicon)], [...writtenWords(text)]]) {
      const ends = words.map(({ end }) => end)
      expect(ends).toEqual(ends.toSorted((a, b) => a - b))
      expect(ends.at(-1) ?? 0).toBeLessThanOrEqual(countChars(text))
      for (const word of words) expect([/\s/.test(word.text), word.text]).toEqual([false, expect.stringMatching(/./)])
    }
  }))

test('for any text, English words are ASCII, without digits and one word each', () =>
  forEachSeed(400, (random) => {
    const text = randomText(random, random.whole(0, 60))
    for (const word of englishWords(text, emptyLexicon)) {
      expect(word.text).toMatch(/^[A-Za-z'.-]+$/)
      expect(word.text).toMatch(/[A-Za-z]/)
      expect(['', '.', ',', ';', ':', '?', '!']).toContain(word.mark)
    }
  }))

const dictionary =
  'the house river stone walks under bright seven apple music running over table garden and or but'.split(' ')

test('plain prose loses no word and keeps its order, and each position is behind the words until there', () =>
  forEachSeed(100, (random) => {
    let text = ''
    for (let count = random.whole(1, 1500); count > 0; count--) {
      const joint = random.chance(0.1) ? random.pick([', ', '. ', '? ', '\n\n', '\n', '; ', ' - ']) : ' '
      text += random.pick(dictionary) + joint
    }
    const written = [...text.matchAll(/[a-z]+/g)]
    const spoken = [...englishWords(text, emptyLexicon)]
    expect(spoken.map((word) => word.text)).toEqual(written.map(([word]) => word))
    const isBehind = spoken.map(({ end }, at) => {
      const { 0: word, index } = written[at]!
      return end >= index + word.length && end <= (written[at + 1]?.index ?? text.length)
    })
    expect(isBehind).not.toContain(false)
  }))

test('names that every object of JavaScript has are words like others', () => {
  for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', 'prototype'])
    for (const text of [
      `The ${name}.`,
      `(${name}. 5)`,
      `5/${name}`,
      `&${name};`,
      `<${name}>`,
      `\\${name}{x}`,
      `$${name}^2$`,
    ])
      expect(english(text)).toBeString()
  expect(english('The constructor. 5')).toBe('The constructor. // five //')
})

test('200,000 characters without a full stop or without a space are all there', () => {
  const spaced = [...englishWords('so it goes on and on '.repeat(10_000), emptyLexicon)]
  expect(spaced.length).toBe(60_000)
  const solid = [...englishWords('x'.repeat(200_000), emptyLexicon)]
  expect(solid.reduce((sum, { text }) => sum + text.length, 0)).toBe(200_000)
  expect(solid.at(-1)?.end).toBe(200_000)
})

test('a long text arrives word by word', () => {
  const words = writtenWords('wort '.repeat(100_000))
  expect(words.next().value).toMatchObject({ text: 'wort', end: 4 })
})
