import { expect, test } from 'bun:test'
import { Dictionary, packDictionary } from './dictionary.ts'
import { codeOf, name, parsePhones } from './phones.ts'
import { loadPronouncer, Pronouncer, spelled } from './pronouncer.ts'

const pronouncer = await loadPronouncer()
const known = (word: string): string | undefined => pronouncer.known(word)?.map(name).join(' ')

test('the dictionary finds every word by binary search, the first and the last too', () => {
  expect(known('a')).toBe('AH0')
  expect(known('cat')).toBe('K AE1 T')
  expect(known('zywicki')).toBe('Z IH0 W IH1 K IY0')
  expect(known('')).toBeUndefined()
  expect(known('zzzzzz')).toBeUndefined()
  expect(known('blorf')).toBeUndefined()
})

test('what is packed is found again, in every group, and letters are loaded for what is not', () => {
  const words = Array.from({ length: 100 }, (_, at) =>
    `word${at}`.replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!),
  )
  const codes = (at: number) => parsePhones(at % 2 === 0 ? 'K AE1 T' : 'D AO1 G').map((phone) => codeOf(name(phone)))
  let loads = 0
  const letters = () => {
    loads++
    throw new Error('no letters')
  }
  const dictionary = new Dictionary(packDictionary(new Map(words.map((word, at) => [word, codes(at)]))))
  const small = new Pronouncer(dictionary, letters)
  const said = words.map((word) => small.phones(word, false).map(name).join(' '))
  expect(said).toEqual(words.map((_, at) => (at % 2 === 0 ? 'K AE1 T' : 'D AO1 G')))
  expect(loads).toBe(0)
  expect(() => small.phones('blorf', false)).toThrow('no letters')
  expect(loads).toBe(1)
})

test.each([
  ["cat's", 'K AE1 T S'],
  ["dogs'", 'D AO1 G Z'],
  ["boxes'", 'B AA1 K S IH0 Z'],
  ["judge's", 'JH AH1 JH IH0 Z'],
])('%s is spoken as its stem and an ending', (word, phones) => expect(known(word)).toBe(phones))

test('an unknown word is spoken by its parts, or by its letters', () => {
  const say = (word: string, isName = false) => pronouncer.phones(word, isName).map(name).join(' ')
  expect(known('frontend')).toBeUndefined()
  expect(say('frontend')).toBe('F R AH1 N T EH2 N D')
  expect(say('blorfs')).toMatch(/^B L AO1 R F/)
  expect(say('q')).toMatch(/[A-Z]/)
  expect(say('psst')).toBe('P S T')
  expect(say('blorfing')).toMatch(/NG$/)
})

test('a letter that is held is said once or twice, as in the dictionary', () => {
  const say = (word: string) => pronouncer.phones(word, false).map(name).join(' ')
  expect(say('sooooo')).toBe(known('so')!)
  expect(say('yesss')).toBe(known('yes')!)
  expect(say('coool')).toBe(known('cool')!)
  expect(say('freeee')).toBe(known('free')!)
  expect(say('looong')).toBe(known('long')!)
  expect(say('shhhhh')).toBe('SH')
  expect(say('www')).not.toBe('')
})

test.each([
  ['formatters', 'F AO1 R M AE2 T ER0 Z'],
  ['statically', 'S T AE1 T IH0 K L IY0'],
  ['usability', 'Y UW2 Z AH0 B IH1 L AH0 T IY0'],
  ['maintainability', 'M EY0 N T EY2 N AH0 B IH1 L AH0 T IY0'],
])('%s is spoken by a stem with an ending', (word, phones) => expect(known(word)).toBe(phones))

test('there is always something to say', () => {
  for (const word of ['', "'", "''", 'qxz', 'bcdfg', 'x'.repeat(500), 'aeiou'.repeat(30)]) {
    expect(pronouncer.phones(word, false).length).toBeGreaterThan(0)
  }
})

test('letters are spoken by name, with the stress on the last one', () => {
  expect(spelled('FBI').map(name).join(' ')).toBe('EH2 F B IY2 AY1')
})
