import { expect, test } from 'bun:test'
import { chunks } from './chunks.ts'
import { parseLexicon } from './lexicon.ts'

const speak = (input: string, lexicon: string): string =>
  [...chunks(input, { maxChars: 200, firstMaxWords: 100, lexicon: parseLexicon(lexicon) })]
    .map(({ text }) => text)
    .join(' ')

test('whole words, whatever their case, before every other rule', () => {
  const lexicon = '# names\n\nmyna=MY nah\nSQL = sequel\nIT=it\n'
  expect(speak('Myna and MYNA, not mynas; SQL in IT.', lexicon)).toBe('MY nah and MY nah, not mynas; sequel in it.')
})

test('words with spaces and signs, the longest first, and accents on either side', () => {
  const lexicon = 'New York=Noo York\nnew york city=the city\nC++=see plus plus\ncafé=caffay\n3d=three dee'
  expect(speak('New  York, New York City. C++ and a cafe or Café in 3D.', lexicon)).toBe(
    'Noo York, the city. see plus plus and a caffay or caffay in three dee.',
  )
})

test('the last of two equal words wins', () => expect(speak('a word', 'word=one\nWord=two')).toBe('a two.'))

test('a spoken form is folded to what a voice can read', () => expect(speak('x', 'x=é (1), b!')).toBe('e 1 b.'))

test.each([
  ['a=b\nno sign', 'Line 2'],
  ['=x', 'Line 1'],
  ['\n\n***=stars', 'Line 3'],
  ['word=👋', 'Line 1'],
  [`${'a'.repeat(600)}=b`, 'Line 1'],
])('refuses %j', (text, line) => expect(() => parseLexicon(text)).toThrow(line))
