import { expect, test } from 'bun:test'
import { parseLexicon } from './lexicon.ts'
import { saidOf } from './said.fixture.ts'
import { tokens } from './tokens.ts'

const speak = (input: string, lexicon: string): string =>
  saidOf(input, parseLexicon(lexicon))
    .map(({ text }) => text)
    .join(' ')

test('an entry replaces whole words in any case, before every other rule', () => {
  const lexicon = '# names\n\nmyna=MY nah\nSQL = sequel\nIT=it\n'
  expect(speak('Myna and MYNA, not mynas; SQL in IT.', lexicon)).toBe('MY nah and MY nah, not mynas; sequel in it.')
})

test('entries may contain spaces and signs and border on accents; the longest one wins', () => {
  const lexicon = 'New York=Noo York\nnew york city=the city\nC++=see plus plus\ncafé=caffay\n3d=three dee'
  expect(speak('New  York, New York City. C++ and a cafe or Café in 3D.', lexicon)).toBe(
    'Noo York, the city. see plus plus and a caffay or caffay in three dee.',
  )
})

test('of two equal words, the last one wins', () => expect(speak('a word', 'word=one\nWord=two')).toBe('a two.'))

test('a spoken form is reduced to what a voice can read', () => expect(speak('x', 'x=é (1), b!')).toBe('e 1 b.'))

test.each([
  ['a=b\nno sign', 'Line 2'],
  ['=x', 'Line 1'],
  ['\n\n***=stars', 'Line 3'],
  ['word=👋', 'Line 1'],
  [`${'a'.repeat(600)}=b`, 'Line 1'],
  ['3d=/θɹˈi dˈi/', 'Line 1'],
])('refuses %j', (text, line) => expect(() => parseLexicon(text)).toThrow(line))

test('a possessive keeps its ending', () => expect(speak("Myna's song", 'myna=MY nah')).toBe("MY nah's song."))

test('phonemes are used by voices that speak them; the others say the word as it is written', () => {
  const lexicon = parseLexicon('Kokoro=/kˈOkəɹO/\nNew Delhi=/n ˈu d ɛ li/')
  expect(speak('Kokoro in new Delhi', 'Kokoro=/kˈOkəɹO/\nNew Delhi=/nˈu dˈɛli/')).toBe('Kokoro in new Delhi.')
  const plain = { text: "say kokoro's", ends: [...Array(12).keys()].map((index) => index + 1) }
  expect(tokens(plain, lexicon)).toEqual([
    { kind: 'say', words: 'say', end: 3 },
    { kind: 'say', words: "kokoro's", end: 12, phonemes: "kˈOkəɹO's" },
  ])
})
