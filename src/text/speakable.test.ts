import { expect, spyOn, test } from 'bun:test'
import { sentences } from '../phonemes/sentences.ts'
import { forEachSeed } from '../testing/seeded.ts'
import { emptyLexicon } from './lexicon.ts'
import { randomText } from './random-text.fixture.ts'
import { speakable } from './speakable.ts'

test.each([
  '',
  ' \n\t',
  '👋🎉',
  '?!...',
  '***',
  '&',
  '+ + +',
  '%',
  '$',
  '# ',
  '-',
  '- \n- ',
  '中文。',
  'Привет, мир!',
  'שלום',
  'Καλημέρα',
  '```js\ncode\n```',
  '<!-- x -->',
  '<br/>',
  '![](a.png)',
  '\ud800',
  '\u0000\u0001\u0002',
  '© & ± √ ≈',
  '---',
  '@',
  '#',
  '~/',
  '[](http://x.com)',
  '& + = % @ # / ~',
])('%j is not speakable', (text) => {
  expect(speakable(text, ['Latin'])).toBe(false)
})

test.each(['a', '7', 'é', '👋 a', '中文 ok', '`x`', '[x](y)', '```\ncode\n```\nx', '$5', '&amp;x', 'π', '½'])(
  '%j is speakable',
  (text) => expect(speakable(text, ['Latin'])).toBe(true),
)

test('letters of other scripts count for voices that have them', () => {
  expect(speakable('Привет', ['Cyrillic'])).toBe(true)
  expect(speakable('Hello', ['Cyrillic'])).toBe(false)
  expect(speakable('中文', ['Latin', 'Han'])).toBe(true)
})

test('agrees with the models that speak from phonemes about what is speakable', () =>
  forEachSeed(400, (random) => {
    const text = randomText(random, random.whole(0, 12))
    expect([text, speakable(text, ['Latin'])]).toEqual([text, !sentences(text, emptyLexicon).next().done])
  }))

test('it agrees with them about a plain word before anything', () =>
  forEachSeed(400, (random) => {
    const text = `${random.pick(['a', 'I', 'Hello', 'zzz'])}${random.pick(['', ' ', ',', '.'])}`
    const whole = `${text} ${randomText(random, random.whole(0, 12))}`
    expect([whole, speakable(whole, ['Latin'])]).toEqual([whole, !sentences(whole, emptyLexicon).next().done])
  }))

test('it reads a bounded beginning of a long text', () => {
  const prose = 'so it goes on and on '.repeat(50_000)
  const greeting = 'Hello there. '.repeat(80_000)
  for (const input of [
    `"${greeting}`,
    'x'.repeat(1_000_000),
    `${'x'.repeat(41)} ${prose}`,
    `# ${prose}`,
    `- ${prose}`,
  ]) {
    const read = spyOn(String.prototype, 'codePointAt')
    try {
      expect(speakable(input, ['Latin'])).toBe(true)
      expect(read.mock.calls.length).toBeWithin(1, 8192)
    } finally {
      read.mockRestore()
    }
  }
})
