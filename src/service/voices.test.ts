import { describe, expect, test } from 'bun:test'
import { CardCatalog } from '../catalog/catalog.ts'
import { FolderVoiceFiles } from '../store/clips.ts'
import { openSqlite } from '../store/sqlite.ts'
import { SqlVoices } from '../store/voices.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { type Caller, noOwnLimits } from '../domain/account.ts'
import type { Card, Task } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { openBooks, readyVoice } from '../store/books.fixture.ts'
import type { VoiceNames } from './voice-names.ts'
import { chooseVoice } from './voices.ts'

const voice = (id: string, name: string) => ({ id, name, description: 'made up', language: 'en', labels: {} })

const card = (id: string, preference: number, change: Partial<Card>, task: Task = 'text-to-speech'): Card => ({
  id,
  family: id,
  name: id,
  description: 'made up',
  task,
  architecture: 'none',
  preference,
  builtIn: false,
  license: { name: 'none', attribution: 'none', limits: null },
  files: [],
  options: {},
  sources: ['made up'],
  languages: ['en'],
  scripts: ['Latin'],
  sampleRateHz: 24_000,
  memoryBytes: 1,
  createdAt: 0,
  cloning: null,
  mixing: false,
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
    mixing: true,
  }),
  card('absent', 9, { voices: [voice('a1', 'Dee')] }),
  card('bare', 0, { voices: [voice('n1', 'Eve')] }),
  card('ears', 9, {}, 'automatic-speech-recognition'),
]
const installed = ['small', 'big', 'bare', 'ears']
const catalog = new CardCatalog(cards, ({ id }) => installed.includes(id))
const plain: VoiceNames = { aliases: new Map(), defaultVoice: null }

/** An account without voices of its own. */
const caller: Caller = {
  account: {
    id: 'acct_1',
    name: 'ada',
    role: 'user',
    balanceMicros: null,
    limits: noOwnLimits,
    createdAtMs: 0,
    disabledAtMs: null,
  },
  key: {
    id: 'key_1',
    accountId: 'acct_1',
    name: 'k',
    prefix: 'sk-myna-aaaa',
    scopes: null,
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
  },
}
const folder = temporaryFolder()
const voices = new SqlVoices(await openSqlite(folder), { clock: new ManualClock() })
const files = new FolderVoiceFiles(folder)

const chosen = (model: string | null, name: string | null, names = plain, among = catalog) =>
  chooseVoice(caller, { model, voice: name, language: null }, names, { catalog: among, voices, files })

async function choose(model: string | null, name: string | null, names: VoiceNames = plain, among = catalog) {
  try {
    const { card, voiceId } = await chosen(model, name, names, among)
    return `${card.id}/${voiceId}`
  } catch (error) {
    if (error instanceof MynaError) return `${error.code} ${error.param}`
    throw error
  }
}

describe('the voice chooses the model when the model is auto, absent or an alias', () => {
  test.each([null, 'auto', 'tts-1', 'tts-1-hd', 'tts-1-1106', 'gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15'])(
    'model %p',
    async (model) => {
      expect(await choose(model, null)).toBe('big/b1')
      expect(await choose(model, 's1')).toBe('small/s1')
      expect(await choose(model, 'b1')).toBe('big/b1')
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
  test.each(cases)('%s: %s', async (_, name, choice) => expect(await choose(null, name)).toBe(choice))
})

describe('a mixture consists of voices of one model', () => {
  const cases: [string | null, string, string][] = [
    [null, 'b1+b2', 'big/b1+b2'],
    ['big', 'b1+b2', 'big/b1+b2'],
    [null, ' cy (2) + ALLOY ( 0.5 ) ', 'big/b1(2)+b2(0.5)'],
    [null, 'b1+Cy+b2', 'big/b1(2)+b2(1)'],
    [null, 'b1+b1', 'big/b1'],
    [null, 'b1(0)+b2', 'unsupported_value voice'],
    [null, 'b1+b2+b1+b2+b1+b2+b1+b2+b1', 'unsupported_value voice'],
    [null, 's1+s2', 'unsupported_value voice'],
    ['small', 's1+s2', 'unsupported_value voice'],
    [null, 'b1+s1', 'unsupported_value voice'],
    ['big', 'b1+s1', 'voice_model_mismatch model'],
    [null, 'b1+nobody', 'voice_not_found voice'],
    [null, 'b1+', 'voice_not_found voice'],
  ]
  test.each(cases)('model %p, voice %p: %s', async (model, name, choice) =>
    expect(await choose(model, name)).toBe(choice),
  )

  test('an alias and the default voice may be mixtures', async () => {
    const names = { aliases: new Map([['nova', 'b1+b3']]), defaultVoice: 'b2(3)+b3' }
    expect(await choose(null, 'Nova', names)).toBe('big/b1+b3')
    expect(await choose(null, null, names)).toBe('big/b2(3)+b3(1)')
  })

  test('the refusal names the voice that cannot be mixed', async () => {
    const words = (name: string) => chosen(null, name).then(String, (error: Error) => error.message)
    expect(await words('b1+Ann')).toBe(
      "These are not voices of one model that can mix them: 'b1' (big), 'Ann' (small).",
    )
    expect(await words('b1(0)+b2')).toContain('a number above 0')
  })
})

describe('a native model only uses its own voices', () => {
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
  test.each(cases)('%s with %p: %s', async (model, name, choice) => expect(await choose(model, name)).toBe(choice))
})

test('a known model that is not installed is refused with the command that installs it', () => {
  expect(chosen('absent', null)).rejects.toThrow('myna models pull absent')
  expect(chosen('nothing', null)).rejects.toThrow("The model 'nothing' does not exist")
})

test('a mistyped voice or model is refused with the nearest name', async () => {
  await expect(chosen(null, 'alloyy')).rejects.toThrow("Did you mean 'alloy'?")
  await expect(chosen('smal', null)).rejects.toThrow("Did you mean 'small'?")
  await expect(chosen(null, 'nothing like it')).rejects.toThrow(/access to it\.$/)
})

test('a name that several voices have is refused with their ids', async () => {
  await expect(chosen(null, 'TWIN')).rejects.toThrow("Several voices are called 'TWIN'. Use the id of one: s3, s4.")
})

test('the server’s own aliases take precedence over the cards’, but not over ids', async () => {
  const names = {
    aliases: new Map([
      ['alloy', 's2'],
      ['b1', 's1'],
      ['ghost', 'gone'],
    ]),
    defaultVoice: null,
  }
  expect(await choose(null, 'Alloy', names)).toBe('small/s2')
  expect(await choose(null, 'b1', names)).toBe('big/b1')
  expect(await choose(null, 'fable', names)).toBe('small/s2')
  expect(await choose(null, 'ghost', names)).toBe('voice_not_found voice')
})

test('the configured default voice replaces the card’s', async () => {
  const names = { aliases: new Map(), defaultVoice: 'b2' }
  expect(await choose(null, null, names)).toBe('big/b2')
  expect(await choose('big', null, names)).toBe('big/b2')
  expect(await choose(null, 's1', names)).toBe('small/s1')
  expect(await choose('small', null, names)).toBe('small/s2')
  expect(await choose(null, null, { ...names, defaultVoice: 's1' })).toBe('big/b1')
  expect(await choose(null, null, { ...names, defaultVoice: 'gone' })).toBe('voice_not_found voice')
})

test('without an installed model, speech is refused', async () => {
  const none = new CardCatalog(cards, () => false)
  expect(await choose(null, 's1', plain, none)).toBe('model_not_found model')
  expect(await choose('small', 's1', plain, none)).toBe('model_not_found model')
})

describe('models of one family', () => {
  const shared = [voice('f1', 'Fay')]
  const siblings = [
    card('full', 2, { family: 'kin', voices: shared, defaultVoice: 'f1', cloning: 'full' }),
    card('lean', 3, { family: 'kin', voices: shared, defaultVoice: 'f1', cloning: 'full' }),
    card('more', 1, { family: 'kin', voices: [voice('m1', 'Mo')], defaultVoice: 'm1', cloning: null }),
    card('stranger', 1, { voices: [voice('x1', 'Xi')], defaultVoice: 'x1' }),
  ]
  const among = (...ids: string[]) => new CardCatalog(siblings, ({ id }) => ids.includes(id))
  const clone = async (model: string) => {
    const books = await openBooks()
    const id = await readyVoice(books, { model })
    const kept = new FolderVoiceFiles(temporaryFolder())
    const none = new Uint8Array(1)
    await kept.put(id, { clip: none, 'reference.wav': none, state: none, 'preview.wav': none })
    const owner: Caller = { account: books.account, key: books.key }
    return (asked: string | null, catalog: CardCatalog) =>
      chooseVoice(owner, { model: asked, voice: id, language: null }, plain, {
        catalog,
        voices: books.voices,
        files: kept,
      }).then(
        (choice) => choice.card.id,
        (error: MynaError) => `${error.code}: ${error.message}`,
      )
  }

  test('a preset uses the preferred installed model, or the named one', async () => {
    expect(await choose(null, 'f1', plain, among('full', 'lean'))).toBe('lean/f1')
    expect(await choose(null, 'f1', plain, among('full'))).toBe('full/f1')
    expect(await choose('full', 'f1', plain, among('full', 'lean'))).toBe('full/f1')
  })

  test('a clone uses the model that made it, a named sibling, or one that remains', async () => {
    const speaks = await clone('full')
    expect(await speaks(null, among('full', 'lean'))).toBe('full')
    expect(await speaks('lean', among('full', 'lean'))).toBe('lean')
    expect(await speaks(null, among('lean', 'stranger'))).toBe('lean')
  })

  test('named with a sibling that does not clone, it uses the model that made it', async () => {
    const speaks = await clone('full')
    expect(await speaks('more', among('full', 'lean', 'more'))).toBe('full')
    expect(await speaks('more', among('lean', 'more'))).toBe('lean')
    expect(await speaks('more', among('more'))).toStartWith('model_not_found')
  })

  test('a clone is bound to its family', async () => {
    const speaks = await clone('full')
    expect(await speaks('stranger', among('full', 'stranger'))).toStartWith('voice_model_mismatch')
    expect(await speaks(null, among('stranger'))).toContain('myna models pull full')
  })
})

describe('the language decides if neither model nor voice is named', () => {
  const spoken = (id: string, language: string) => ({ ...voice(id, id), language })
  const cards = [
    card('english', 9, { languages: ['en'], voices: [spoken('e1', 'en')], defaultVoice: 'e1' }),
    card('german', 2, { languages: ['de'], voices: [spoken('d1', 'de-DE')], defaultVoice: 'd1' }),
    card('many', 1, {
      languages: ['en-US', 'es', 'de'],
      voices: [spoken('m1', 'en-US'), spoken('m2', 'es')],
      defaultVoice: 'm1',
    }),
  ]
  const all = new CardCatalog(cards, () => true)
  const inLanguage = async (language: string, model: string | null = null, name: string | null = null) => {
    const wish = { model, voice: name, language }
    const names = { ...plain, defaultVoice: 'e1' }
    const { card: chosenCard, voiceId } = await chooseVoice(caller, wish, names, { catalog: all, voices, files })
    return `${chosenCard.id}/${voiceId}`
  }

  test('the preferred model that speaks it, with a voice of it', async () => {
    expect(await inLanguage('de')).toBe('german/d1')
    expect(await inLanguage('de-AT')).toBe('german/d1')
    expect(await inLanguage('en-GB')).toBe('english/e1')
    expect(await inLanguage('es')).toBe('many/m2')
  })

  test('a named model or voice stays, whatever the language', async () => {
    expect(await inLanguage('de', 'english')).toBe('english/e1')
    expect(await inLanguage('es', 'many')).toBe('many/m2')
    expect(await inLanguage('de', 'many')).toBe('many/m1')
    expect(await inLanguage('de', null, 'e1')).toBe('english/e1')
  })

  test('a language that no model speaks is left to the preferred model, which refuses it', async () => {
    expect(await inLanguage('fi')).toBe('english/e1')
  })
})
