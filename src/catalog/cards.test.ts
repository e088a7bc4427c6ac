import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import hibari from '../../models/hibari.json' with { type: 'json' }
import { cards, readCards } from './cards.ts'
import { CardCatalog } from './catalog.ts'
import { readCard } from './check.ts'

const openAiVoices = 'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' ')

test('the program contains every card in models/', () => {
  const files = readdirSync(new URL('../../models', import.meta.url)).filter((name) => name.endsWith('.json'))
  expect(cards.map((card) => `${card.id}.json`).sort()).toEqual(files.sort())
})

test('the built-in card maps every OpenAI voice name to one of its own voices', () => {
  const card = cards.find(({ id }) => id === 'hibari')!
  expect(Object.keys(card.voiceAliases).sort()).toEqual(openAiVoices)
  const names = card.voices.map(({ name }) => name.toLowerCase())
  expect(names.filter((name) => openAiVoices.includes(name))).toEqual([])
  expect(card.sampleRateHz).toBe(hibari.sample_rate_hz)
})

const broken: [string, (card: typeof hibari) => unknown, string][] = [
  ['no object', () => [], 'x.json: expected an object'],
  ['a missing name', ({ name: _name, ...card }) => card, 'x.json: name: expected text'],
  ['a blank description', (card) => ({ ...card, description: ' ' }), 'x.json: description: '],
  ['an unknown field', (card) => ({ ...card, nmae: 'x' }), 'x.json: nmae: expected no such field'],
  ['no source of its facts', (card) => ({ ...card, sources: [] }), 'x.json: sources: '],
  ['an option that is a list', (card) => ({ ...card, options: { steps: [1] } }), 'x.json: options.steps: '],
  ['downloads of what is built in', (card) => withFile(card, {}), 'x.json: downloads: expected none'],
  ['a short hash', (card) => withFile(card, { sha256: 'abc' }), 'x.json: downloads[0].files[0].sha256: '],
  ['a path that climbs', (card) => withFile(card, { path: 'a/../b' }), 'x.json: downloads[0].files[0].path: '],
  ['an empty file', (card) => withFile(card, { size_bytes: 0 }), 'x.json: downloads[0].files[0].size_bytes: '],
  ['no files of what is not built in', (card) => ({ ...card, built_in: false }), 'x.json: downloads: expected files'],
  ['an id with a space', (card) => ({ ...card, id: 'a b' }), 'x.json: id: '],
  ['an unknown task', (card) => ({ ...card, task: 'singing' }), 'x.json: task: expected text-to-speech or'],
  ['a path as architecture', (card) => ({ ...card, architecture: '../x' }), 'x.json: architecture: '],
  ['a fraction', (card) => ({ ...card, preference: 0.5 }), 'x.json: preference: expected a whole number'],
  ['a word for a flag', (card) => ({ ...card, built_in: 'yes' }), 'x.json: built_in: expected true or false'],
  ['a licence as text', (card) => ({ ...card, license: 'MIT' }), 'x.json: license: expected an object'],
  ['limits left out', (card) => ({ ...card, license: { ...card.license, limits: undefined } }), 'license.limits: '],
  ['a licence field too many', (card) => ({ ...card, license: { ...card.license, url: 'x' } }), 'license.url: '],
  ['a language in words', (card) => ({ ...card, languages: ['English'] }), 'x.json: languages: '],
  ['the same language twice', (card) => ({ ...card, languages: ['en', 'en'] }), 'x.json: languages: '],
  ['no script', (card) => ({ ...card, scripts: [] }), 'x.json: scripts: '],
  ['an unknown script', (card) => ({ ...card, scripts: ['Roman'] }), 'x.json: scripts: '],
  ['a rate out of range', (card) => ({ ...card, sample_rate_hz: 96000 }), 'x.json: sample_rate_hz: '],
  ['no memory', (card) => ({ ...card, memory_bytes: 0 }), 'x.json: memory_bytes: '],
  ['a date as text', (card) => ({ ...card, created_at: '2022' }), 'x.json: created_at: '],
  ['no voices', (card) => ({ ...card, voices: [] }), 'x.json: voices: expected at least one'],
  ['voices that are text', (card) => ({ ...card, voices: ['lark'] }), 'x.json: voices: expected only objects'],
  ['a voice twice', (card) => ({ ...card, voices: [card.voices[0], ...card.voices] }), 'x.json: voices: '],
  ['a voice without language', (card) => withVoice(card, { language: '' }), 'x.json: voices[0].language: '],
  ['a label that is not text', (card) => withVoice(card, { labels: { age: 40 } }), 'x.json: voices[0].labels.age: '],
  ['a voice field too many', (card) => withVoice(card, { gender: 'male' }), 'x.json: voices[0].gender: '],
  ['an unknown default voice', (card) => ({ ...card, default_voice: 'bob' }), 'x.json: default_voice: '],
  ['an alias to nobody', (card) => ({ ...card, voice_aliases: { alloy: 'bob' } }), 'x.json: voice_aliases.alloy: '],
  ['an alias that is a voice', (card) => ({ ...card, voice_aliases: { wren: 'lark' } }), 'x.json: voice_aliases: '],
  [
    'voices of a model that listens',
    (card) => ({ ...card, task: 'automatic-speech-recognition' }),
    'x.json: voices: expected no voices',
  ],
]

function withVoice(card: typeof hibari, change: Record<string, unknown>) {
  return { ...card, voices: [{ ...card.voices[0], ...change }, ...card.voices.slice(1)] }
}

function withFile(card: typeof hibari, change: Record<string, unknown>) {
  const file = { path: 'a.onnx', size_bytes: 1, sha256: '0'.repeat(64), ...change }
  return { ...card, downloads: [{ repo: 'a/b', revision: 'main', files: [file] }] }
}

test.each(broken)('refuses %s and names the file and the field', (_, breakIt, message) => {
  expect(() => readCard('x.json', breakIt(structuredClone(hibari)))).toThrow(message)
})

test('two cards cannot claim one id, nor two families one voice', () => {
  const sibling = { ...hibari, id: 'sibling' }
  const other = { ...sibling, family: 'other' }
  expect(() => readCards({ 'a.json': hibari, 'b.json': hibari })).toThrow('b.json: id: "hibari" is taken by a.json')
  expect(() => readCards({ 'a.json': hibari, 'b.json': other })).toThrow('b.json: voices.id: "lark" is taken by a.json')
  expect(readCards({ 'a.json': hibari, 'b.json': sibling })).toHaveLength(2)
})

test('without its voices, the English int8 bundle of Pocket TTS has the size that its exporter states', () => {
  const { files } = cards.find(({ id }) => id === 'pocket-tts')!
  const bundle = files.filter(({ name }) => !name.startsWith('voices/'))
  expect(bundle.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)).toBe(165_232_420)
})

test('every voice of a model that keeps its voices in files has its file', () => {
  const folders: Readonly<Record<string, string>> = { pocket: 'safetensors', kokoro: 'bin' }
  for (const card of cards) {
    const extension = folders[card.architecture]
    if (extension === undefined) continue
    const names = new Set(card.files.map(({ name }) => name))
    const missing = card.voices.filter(({ id }) => !names.has(`voices/${id}.${extension}`))
    expect({ card: card.id, missing }).toEqual({ card: card.id, missing: [] })
  }
})

test('models that report word times declare it', () => {
  const telling = cards.filter(({ wordTimes, task }) => wordTimes && task !== 'text-to-speech').map(({ id }) => id)
  // Whisper takes them from its decoder's attention, and only some repositories export that; Parakeet always reports
  // them.
  const exported = cards.filter(
    ({ architecture, files }) => architecture === 'parakeet' || files.some(({ repo }) => repo.endsWith('_timestamped')),
  )
  expect(telling).toEqual(exported.map(({ id }) => id))
  expect(telling).toHaveLength(8)
  const speaking = cards.filter(({ wordTimes, task }) => wordTimes && task === 'text-to-speech')
  // hibari's symbol lengths are read from its graph.
  expect(speaking.map(({ id }) => id)).toEqual(['hibari-voices', 'hibari'])
})

test("no voice hides an OpenAI name, so that another model's alias keeps its meaning", () => {
  const hiding = cards.flatMap(({ voices }) => voices.filter(({ name }) => openAiVoices.includes(name.toLowerCase())))
  expect(hiding).toEqual([])
})

test('auto chooses the installed model with the highest preference', () => {
  const builtIn = cards.find(({ id }) => id === 'hibari')!
  const better = { ...builtIn, id: 'better', preference: 20, builtIn: false }
  const pulled = new Set<string>()
  const catalog = new CardCatalog([builtIn, better], ({ id }) => pulled.has(id))
  expect(catalog.best('text-to-speech')?.id).toBe('hibari')
  expect(catalog.isInstalled('better')).toBe(false)
  pulled.add('better')
  expect(catalog.best('text-to-speech')?.id).toBe('better')
  expect(catalog.best('automatic-speech-recognition')).toBeNull()
  expect(catalog.isInstalled('none')).toBe(false)
})
