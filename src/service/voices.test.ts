import { describe, expect, test } from 'bun:test'
import { CardCatalog } from '../catalog/catalog.ts'
import type { Card, Task } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { chooseVoice, type VoiceNames } from './voices.ts'

const voice = (id: string, name: string) => ({ id, name, description: 'made up', language: 'en', labels: {} })

const card = (id: string, preference: number, change: Partial<Card>, task: Task = 'text-to-speech'): Card => ({
  id,
  name: id,
  description: 'made up',
  task,
  architecture: 'none',
  preference,
  builtIn: false,
  license: { name: 'none', attribution: 'none', limits: null },
  languages: ['en'],
  scripts: ['Latin'],
  sampleRateHz: 24_000,
  memoryBytes: 1,
  createdAt: 0,
  voices: [],
  defaultVoice: null,
  voiceAliases: {},
  ...change,
})

/** Two models are installed: `big` is preferred, `small` has other voices; `absent` and its voice are only known. */
const cards = [
  card('small', 1, {
    voices: [voice('s1', 'Ann'), voice('s2', 'Bo'), voice('s3', 'twin'), voice('s4', 'Twin'), voice('b9', 'Nine')],
    defaultVoice: 's2',
    voiceAliases: { alloy: 's1', fable: 's2' },
  }),
  card('big', 5, {
    voices: [voice('b1', 'Cy'), voice('b2', 'S2'), voice('b3', 'alloy')],
    defaultVoice: 'b1',
    voiceAliases: { alloy: 'b2' },
  }),
  card('absent', 9, { voices: [voice('a1', 'Dee')] }),
  card('bare', 0, { voices: [voice('n1', 'Eve')] }),
  card('ears', 9, {}, 'automatic-speech-recognition'),
]
const installed = ['small', 'big', 'bare', 'ears']
const catalog = new CardCatalog(cards, (id) => installed.includes(id))
const plain: VoiceNames = { aliases: new Map(), defaultVoice: null }

function choose(model: string | null, name: string | null, names: VoiceNames = plain, among = catalog): string {
  try {
    const choice = chooseVoice(model, name, among, names)
    return `${choice.card.id}/${choice.voice.id}`
  } catch (error) {
    if (error instanceof MynaError) return `${error.code} ${error.param}`
    throw error
  }
}

describe('the voice chooses the model when the model is auto, absent or an alias', () => {
  test.each([null, 'auto', 'tts-1', 'tts-1-hd', 'tts-1-1106', 'gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15'])(
    'model %p',
    (model) => {
      expect(choose(model, null)).toBe('big/b1')
      expect(choose(model, 's1')).toBe('small/s1')
      expect(choose(model, 'b1')).toBe('big/b1')
    },
  )

  const cases: [string, string, string][] = [
    ['an id wins over the name of a preferred model', 's2', 'small/s2'],
    ['ids are exact, so this is a name', 'S2', 'big/b2'],
    ['an alias wins over a name, the preferred model first', 'alloy', 'big/b2'],
    ['the case of aliases does not count', 'ALLOY', 'big/b2'],
    ['an alias of another model', 'fable', 'small/s2'],
    ['a name in any case', 'aNN', 'small/s1'],
    ['a name that two voices of a model bear', 'twin', 'voice_not_found voice'],
    ['a voice of a model that is not installed', 'a1', 'voice_not_found voice'],
    ['no voice at all', 'nobody', 'voice_not_found voice'],
    ['an inherited property is no alias', 'constructor', 'voice_not_found voice'],
  ]
  test.each(cases)('%s: %s', (_, name, choice) => expect(choose(null, name)).toBe(choice))
})

describe('a native model keeps to its own voices', () => {
  const cases: [string, string | null, string][] = [
    ['small', null, 'small/s2'],
    ['small', 's1', 'small/s1'],
    ['small', 'alloy', 'small/s1'],
    ['big', 'alloy', 'big/b2'],
    ['small', 'b1', 'voice_model_mismatch model'],
    ['small', 'Cy', 'voice_model_mismatch model'],
    ['small', 'nobody', 'voice_not_found voice'],
    ['small', 'a1', 'voice_not_found voice'],
    ['bare', null, 'missing_required_parameter voice'],
    ['nothing', 's1', 'model_not_found model'],
    ['SMALL', 's1', 'model_not_found model'],
    ['absent', 'a1', 'model_not_found model'],
    ['ears', null, 'unsupported_value model'],
    ['whisper-1', null, 'unsupported_value model'],
    ['gpt-4o-transcribe', 's1', 'unsupported_value model'],
  ]
  test.each(cases)('%s with %p: %s', (model, name, choice) => expect(choose(model, name)).toBe(choice))
})

test('a model that is known but not installed says which command gets it; an unknown one does not', () => {
  expect(() => chooseVoice('absent', null, catalog, plain)).toThrow('myna models pull absent')
  expect(() => chooseVoice('nothing', null, catalog, plain)).toThrow("The model 'nothing' does not exist")
})

test('the server’s own aliases come before those of the cards, and after ids', () => {
  const names = {
    aliases: new Map([
      ['alloy', 's2'],
      ['b1', 's1'],
      ['ghost', 'gone'],
    ]),
    defaultVoice: null,
  }
  expect(choose(null, 'Alloy', names)).toBe('small/s2')
  expect(choose(null, 'b1', names)).toBe('big/b1')
  expect(choose(null, 'fable', names)).toBe('small/s2')
  expect(choose(null, 'ghost', names)).toBe('voice_not_found voice')
})

test('the configured default voice replaces the card’s', () => {
  const names = { aliases: new Map(), defaultVoice: 'b2' }
  expect(choose(null, null, names)).toBe('big/b2')
  expect(choose('big', null, names)).toBe('big/b2')
  expect(choose(null, 's1', names)).toBe('small/s1')
})

test('without any installed model nothing speaks', () => {
  const none = new CardCatalog(cards, () => false)
  expect(choose(null, 's1', plain, none)).toBe('model_not_found model')
  expect(choose('small', 's1', plain, none)).toBe('model_not_found model')
})
