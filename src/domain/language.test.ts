import { expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import { findLanguage, isLanguageAmong, languageCode, languageName, primaryLanguage } from './language.ts'

test.each([
  ['en', 'en'],
  ['EN', 'en'],
  ['eng', 'en'],
  ['en-US', 'en'],
  ['en_us', 'en'],
  [' English ', 'en'],
  ['zh-Hant-TW', 'zh'],
  ['mandarin', 'zh'],
  ['haitian creole', 'ht'],
  ['yue', 'yue'],
  ['Bokmål', 'no'],
  ['iw', 'he'],
])('%s is %s', (name, code) => {
  expect(languageCode(name)).toBe(code)
})

test.each(['klingonese', '', '-', 'e', 'en us', '12', 'english!'])('%p names no language', (name) => {
  expect(languageCode(name)).toBeNull()
})

test("a code matches a model's own name of the same language", () => {
  expect(findLanguage('jv', ['en', 'jw'])).toBe('jw')
  expect(findLanguage('fil', ['tl'])).toBe('tl')
  expect(findLanguage('he', ['iw'])).toBe('iw')
  expect(findLanguage('nb', ['nn', 'no'])).toBe('no')
  expect(findLanguage('de', ['en'])).toBeNull()
})

test('a language is the same in every region', () => {
  expect(['pt-BR', 'EN', 'zh-Hant-TW', 'x'].map(primaryLanguage)).toEqual(['pt', 'en', 'zh', 'x'])
  expect(isLanguageAmong('de', ['en', 'de-AT'])).toBe(true)
  expect(isLanguageAmong('DE-at', ['de'])).toBe(true)
  expect(isLanguageAmong('d', ['de'])).toBe(false)
  expect(isLanguageAmong('de', [])).toBe(false)
})

test('every language of every model that transcribes has a name that leads back to it', () => {
  const listeners = cards.filter(({ task }) => task === 'automatic-speech-recognition')
  const codes = new Set(listeners.flatMap(({ languages }) => languages))
  expect(codes.size).toBeGreaterThan(90)
  for (const code of codes) {
    const name = languageName(code)
    expect(name).not.toBe(code)
    expect(findLanguage(languageCode(name) ?? '', [code])).toBe(code)
  }
})

test('a language without a known name is shown by its code', () => {
  expect(languageName('tlh')).toBe('tlh')
})
