import { expect, test } from 'bun:test'
import { CardCatalog } from '../../catalog/catalog.ts'
import { cards } from '../../catalog/cards.ts'
import { loadConfig } from '../../config.ts'
import { settingsWarnings } from './settings-warnings.ts'

const warningsOf = (env: Record<string, string>, installed: readonly string[] = []) =>
  settingsWarnings(loadConfig({}, env), new CardCatalog(cards, ({ id }) => installed.includes(id)), env)

test('default and correct settings cause no warning', () => {
  expect(warningsOf({})).toEqual([])
  const env = { MYNA_DEFAULT_VOICE: 'Lark', MYNA_VOICE_ALIASES: 'Alexa=wren,mine=voice_01K0', MYNA_URL: 'x', PATH: '/' }
  expect(warningsOf(env)).toEqual([])
  expect(warningsOf({ MYNA_DEFAULT_VOICE: 'alexa', MYNA_VOICE_ALIASES: 'Alexa=wren' })).toEqual([])
})

test('a voice that no installed model has', () => {
  const env = { MYNA_DEFAULT_VOICE: 'af_heart', MYNA_VOICE_ALIASES: 'nova=af_nova,onyx=lark' }
  expect(warningsOf(env)).toEqual([
    'MYNA_DEFAULT_VOICE is af_heart, which no installed model has: myna voices list',
    'MYNA_VOICE_ALIASES: nova stands for af_nova, which no installed model has: myna voices list',
  ])
  expect(warningsOf(env, ['kokoro-82m'])).toEqual([])
  expect(warningsOf({ MYNA_DEFAULT_VOICE: 'af_heart+af_sky' })).toEqual([])
})

test('a voice that was removed and is replaced by another', () => {
  expect(warningsOf({ MYNA_DEFAULT_VOICE: 'Rowan', MYNA_VOICE_ALIASES: 'echo=kal16' })).toEqual([
    "MYNA_DEFAULT_VOICE: The voice 'Rowan' was removed and stands for 'martin' until the next release. Use 'martin'.",
    "MYNA_VOICE_ALIASES: The voice 'kal16' was removed and stands for 'jay' until the next release. Use 'jay'.",
  ])
})

test('a variable that looks like a setting', () => {
  expect(warningsOf({ MYNA_PROT: '9000', MYNA_PORT: '9000', MYNAH: '1' })).toEqual([
    'MYNA_PROT is not a setting of this version and is ignored',
  ])
})
