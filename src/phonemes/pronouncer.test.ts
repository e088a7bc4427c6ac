import { expect, test } from 'bun:test'
import { name } from './phones.ts'
import { loadPronouncer, spelled } from './pronouncer.ts'

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

test('there is always something to say', () => {
  for (const word of ['', "'", "''", 'qxz', 'bcdfg', 'x'.repeat(500), 'aeiou'.repeat(30)]) {
    expect(pronouncer.phones(word, false).length).toBeGreaterThan(0)
  }
})

test('letters are spoken by name, with the stress on the last one', () => {
  expect(spelled('FBI').map(name).join(' ')).toBe('EH2 F B IY2 AY1')
})
