import { join } from 'node:path'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatFloats, levelDb } from '../../audio/pcm.ts'
import { measurePitch } from '../../audio/pitch.ts'
import { cards } from '../../catalog/cards.ts'
import type { Card } from '../../domain/card.ts'
import { countChars } from '../../domain/charge.ts'
import { embeddedFile, embeddedGraph } from '../../embedded/models.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { InputRefused, type SpeechInput, type SpeechModel, type SpokenChunk } from '../architecture.ts'
import { withDurations } from './graph-file.ts'
import { loadGraph } from './graph.ts'
import { bins } from './parameters.ts'
import { load } from './pipeline.ts'
import { voices } from './voices.ts'

// The real graph, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const card = cards.find(({ id }) => id === 'hibari') as Card
const more = cards.find(({ id }) => id === 'hibari-voices') as Card
const options = { card, filesDir: null, pronunciations: 'Myna=minor', workers: 2 }
let model: SpeechModel
beforeAll(async () => {
  model = await load(options)
})
afterAll(() => model.unload())

const never = new AbortController().signal
const inputOf = (text: string, changed: Partial<SpeechInput> = {}): SpeechInput => ({
  voiceId: 'lark',
  text,
  voiceState: null,
  speed: 1,
  language: null,
  instructions: null,
  seed: null,
  ...changed,
})
const speak = (input: SpeechInput): Promise<SpokenChunk[]> => Array.fromAsync(model.speak(input, never))
const soundOf = (spoken: readonly SpokenChunk[]): Float32Array => concatFloats(spoken.map(({ pcm }) => pcm))
const secondsOf = (spoken: readonly SpokenChunk[]): number => soundOf(spoken).length / model.sampleRateHz
const refusal = (input: SpeechInput): Promise<unknown> =>
  speak(input).then(
    () => null,
    (error: unknown) => error,
  )

const birch = 'The birch canoe slid on the smooth planks.'

test('a sentence: its length, level and pitch are those of this voice', async () => {
  const spoken = await speak(inputOf(birch))
  // 212 frames of 12.5 ms, less the silence at both ends; other processors differ by 2 % at most.
  expect(secondsOf(spoken)).toBeWithin(1.9, 2.2)
  const sound = soundOf(spoken)
  expect(levelDb(sound)).toBeWithin(-24, -17)
  const pitch = await measurePitch(sound, model.sampleRateHz, async () => {})
  expect(pitch!.medianHz).toBeWithin(165, 215)
  expect(soundOf(await speak(inputOf(birch)))).toEqual(sound)
})

// As each is meant to be; the graph's own pitch moves with the text.
test.each([
  ['lark', 189],
  ['wren', 212],
  ['merle', 159],
  ['robin', 121],
  ['jay', 104],
  ['martin', 98],
])('%s speaks at some %p Hz, at the common level and as fast as the others', async (voiceId, hz) => {
  const spoken = await speak(inputOf(birch, { voiceId }))
  const sound = soundOf(spoken)
  expect((await measurePitch(sound, model.sampleRateHz, async () => {}))!.medianHz / hz).toBeWithin(0.88, 1.12)
  expect(levelDb(sound)).toBeWithin(-24, -17)
  expect(secondsOf(spoken)).toBeWithin(1.9, 2.2)
  expect(sound.some((sample) => Math.abs(sample) > 0.999)).toBe(false)
})

test('every voice in the table has an entry in a card', () => {
  const ids = [...card.voices, ...more.voices].map(({ id }) => id)
  expect(ids.toSorted()).toEqual([...voices.keys()].toSorted())
})

test('the graph gives what Python gave, as far as processors agree', async () => {
  const graph = await loadGraph(await embeddedGraph(card, 'hibari.onnx', withDurations), 2)
  const sum = (values: Float32Array) => values.reduce((total, value) => total + Math.abs(value), 0)
  const found = await graph.predict('ðə bˈɜɹʧ kənˈu slˈɪd ˌɔn ðə smˈuð plˈæŋks.', 1)
  expect(found.frames).toBeWithin(208, 217)
  expect(found.harmonicLog.length).toBe(bins * found.frames)
  const [frames, harmonics, rest, pitches] = [212, 796_827, 656_367, 26_393]
  const inScale = (value: number) => (value * frames) / found.frames
  expect(inScale(sum(found.harmonicLog)) / harmonics).toBeWithin(0.99, 1.01)
  expect(inScale(sum(found.restLog)) / rest).toBeWithin(0.99, 1.01)
  expect(inScale(sum(found.f0)) / pitches).toBeWithin(0.97, 1.03)
  const aborted = graph.predict('hˈI.', 1, AbortSignal.abort(new Error('gone')))
  expect(await aborted.catch((error: Error) => error.message)).toBe('gone')
  await graph.release()
})

test('blocks are short and say how far the text is spoken, to its end and never back', async () => {
  const text = `${birch} Glue the sheet to the dark blue background, and when it is dry, turn it over. Done!`
  const spoken = await speak(inputOf(text))
  const covered = spoken.map(({ coveredChars }) => coveredChars)
  expect(covered).toEqual(covered.toSorted((a, b) => a - b))
  expect(covered.at(-1)).toBe(countChars(text))
  expect(spoken.findIndex(({ isLast }) => isLast === true)).toBe(spoken.length - 1)
  // It is known where the last chunk but one ends: the next has a pause of its own behind it, and no word of this one.
  const before = spoken.findIndex(({ isLastNext }) => isLastNext === true)
  expect(spoken.slice(before + 1).filter(({ spans }) => spans !== undefined).length).toBe(1)
  expect(spoken.filter(({ isLastNext }) => isLastNext === true).length).toBe(1)
  expect(spoken.length).toBeGreaterThan(10)
  // The first one is waited for; a later one has 500 ms, and the last one of a chunk the pause behind it.
  const seconds = spoken.map(({ pcm }) => pcm.length / model.sampleRateHz)
  expect([seconds[0], Math.max(...seconds) < 1.1]).toEqual([0.1, true])
  // A twentieth of the sound has brought no more than a tenth of the text.
  expect(covered[Math.floor(spoken.length / 20)]).toBeLessThan(countChars(text) / 10)
})

test('a sentence that is cut for its length is spoken as one: no silence, and no fall as at its end', async () => {
  const text =
    'There are three unread messages from your sister about the party she plans for your father next weekend.'
  const spoken = await speak(inputOf(text))
  // Chunks begin with the blocks that have spans.
  const begins = spoken.flatMap(({ spans }, at) => (at > 0 && spans !== undefined ? [at] : []))
  expect(begins.length).toBe(1)
  const before = soundOf(spoken.slice(0, begins[0]))
  const sound = soundOf(spoken)
  const around = sound.subarray(before.length - 0.06 * model.sampleRateHz, before.length + 0.06 * model.sampleRateHz)
  expect(levelDb(around)).toBeGreaterThan(levelDb(sound) - 15)
  for (let at = 0; at + 240 <= around.length; at += 240)
    expect(levelDb(around.subarray(at, at + 240))).toBeGreaterThan(-45)
})

test('speed, within what the graph was taught and beyond', async () => {
  const seconds = async (speed: number) => secondsOf(await speak(inputOf(birch, { speed })))
  const own = await seconds(1)
  for (const speed of [0.25, 0.5, 0.8, 0.9, 1.05, 1.1, 1.25, 1.3, 1.35, 1.5, 2, 3, 4]) {
    const share = ((await seconds(speed)) * speed) / own
    expect([speed, share, share > 0.93 && share < 1.07]).toEqual([speed, share, true])
  }
})

test('one word, a very long word and a text of many paragraphs', async () => {
  expect(secondsOf(await speak(inputOf('Hi.')))).toBeWithin(0.3, 0.7)
  expect(secondsOf(await speak(inputOf('a'.repeat(300))))).toBeGreaterThan(3)
  const paragraphs = await speak(inputOf('One.\n\nTwo.\n\nThree.'))
  expect(paragraphs.at(-1)?.coveredChars).toBe(18)
})

test("the user's dictionary is heard", async () => {
  const own = soundOf(await speak(inputOf('Myna speaks.')))
  expect(own).toEqual(soundOf(await speak(inputOf('Minor speaks.'))))
})

test('voices of another graph speak with that one, and with its English, as it is and shaped', async () => {
  expect(more.files.map(({ name }) => name)).toEqual([...new Set(more.voices.map(({ id }) => voices.get(id)!.graph))])
  // The built-in graph stands in for theirs, one is missing, and one is no graph.
  const filesDir = temporaryFolder()
  const graph = await embeddedFile(card, 'hibari.onnx')
  for (const id of ['kestrel', 'dunnock']) await Bun.write(join(filesDir, voices.get(id)!.graph), graph)
  await Bun.write(join(filesDir, voices.get('rook')!.graph), 'no graph')
  const eight = await load({ ...options, card: more, filesDir })
  const say = (voiceId: string) =>
    Array.fromAsync(eight.speak(inputOf('He can not dance.', { voiceId }), never)).then(
      soundOf,
      (error: Error) => error,
    )
  const [kestrel, dunnock] = [(await say('kestrel')) as Float32Array, (await say('dunnock')) as Float32Array]
  expect(kestrel).toEqual(soundOf(await speak(inputOf('He can not dance.'))))
  expect(dunnock).not.toEqual(kestrel)
  for (const [id, own] of [
    ['harrier', kestrel],
    ['pipit', dunnock],
  ] as const) {
    const shaped = (await say(id)) as Float32Array
    const hz = async (pcm: Float32Array) => (await measurePitch(pcm, eight.sampleRateHz, async () => {}))!.medianHz
    expect((await hz(shaped)) / (await hz(own))).toBeWithin(0.8, 0.92)
    expect(Math.abs(levelDb(shaped) - levelDb(own))).toBeLessThan(1.5)
  }
  for (const id of ['linnet', 'siskin', 'rook', 'heron', 'lark']) expect(await say(id)).toBeInstanceOf(Error)
  await eight.unload()
})

test('what it cannot speak is refused', async () => {
  expect(await refusal(inputOf('Bonjour.', { language: 'fr' }))).toBeInstanceOf(InputRefused)
  expect(await speak(inputOf('...'))).toEqual([])
  expect(await refusal(inputOf(birch, { voiceId: 'nobody' }))).toMatchObject({
    message: 'hibari has no voice "nobody"',
  })
  expect(secondsOf(await speak(inputOf(birch, { language: 'en-GB' })))).toBeGreaterThan(1.8)
})

test('the signal ends it between two blocks, and others continue', async () => {
  const leaving = new AbortController()
  const other = speak(inputOf(birch))
  const heard: SpokenChunk[] = []
  const left = (async () => {
    for await (const chunk of model.speak(inputOf(birch.repeat(50)), leaving.signal)) {
      heard.push(chunk)
      leaving.abort(new Error('gone'))
    }
  })()
  expect(await left.catch((error: Error) => error.message)).toBe('gone')
  expect(heard.length).toBe(1)
  expect(secondsOf(await other)).toBeGreaterThan(1.8)
})

test('what follows in a chunk is computed without being asked for, and its last block has no rest', async () => {
  const blocks = model.speak(inputOf(`${birch} ${birch} ${birch}`), never)[Symbol.asyncIterator]()
  const first = (await blocks.next()).value as SpokenChunk
  await first.rest
  const others: SpokenChunk[] = []
  for (let step = await blocks.next(); step.done !== true; step = await blocks.next()) others.push(step.value)
  const ends = others.filter(({ rest }) => rest === undefined)
  expect([ends.length > 1, others.at(-1)!.rest]).toEqual([true, undefined])
  await Promise.all(others.map(({ rest }) => rest))
})
