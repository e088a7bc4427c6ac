/**
 * Whisper in the whole program: every answer that a client may request, what the request decides (the language, the
 * prompt, the temperature, translation), a clip of many windows, a client that disconnects, official clients. With
 * random weights, its text is nonsense in a random language, and always the same. `models/whisper/parity.test.ts`
 * proves that the reference writes the same nonsense.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { parse } from '@plussub/srt-vtt-parser'
import { transcribe as transcribeWithAi } from 'ai'
import OpenAI, { BadRequestError } from 'openai'
import { sound } from '../../audio/clip.ts'
import { concatS16 } from '../../audio/pcm.ts'
import { languageName } from '../../domain/language.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import {
  englishWhisperCard,
  englishWhisperFolder,
  smallCards,
  whisperCard,
  whisperFolder,
} from '../../testing/small-models.ts'
import { clipRateHz, silence, speech } from '../../testing/speech-clips.ts'
import { eventsOf } from '../../testing/streams.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests; random weights write endlessly.
setDefaultTimeout(180_000)

type Fields = readonly (readonly [string, string])[]

interface Verbose {
  task: string
  language: string
  duration: number
  text: string
  segments?: Record<string, unknown>[]
  words?: { word: string; start: number; end: number }[]
  words_estimated?: boolean
}

const dataDir = join(temporaryFolder(), 'data')
const command = withCards(smallCards)
const wavOf = (pcm: Int16Array): File =>
  new File([sound.wav(pcm, clipRateHz) as Uint8Array<ArrayBuffer>], 'talk.wav', { type: 'audio/wav' })
const verbose = ['response_format', 'verbose_json'] as const
const withWords = [verbose, ['timestamp_granularities[]', 'word'], ['timestamp_granularities[]', 'segment']] as const

/** Unless a test is about it: with 0, the default, nonsense is transcribed again at six temperatures. */
const temperature = 0.4
/** A language without spaces, where each character is a word. In others, nonsense is one word or none. */
const japanese = [['language', 'ja']] as const

let program: Program
let key: string
let talk: File
/** Longer than a minute: no window of the model holds half of it. */
let lecture: File
let lectureSeconds: number
let text: string
let found: string
beforeAll(async () => {
  const one = await speech('It rained for days, and the birds in the old garden were silent.')
  talk = wavOf(concatS16([one, silence(1.5), await speech('Then the sun came out again.', 'slt')]))
  const long = concatS16(Array.from({ length: 12 }, () => [one, silence(1.5)]).flat())
  lectureSeconds = long.length / clipRateHz
  lecture = wavOf(long)
  await install(whisperCard.id, await whisperFolder())
  await install(englishWhisperCard.id, await englishWhisperFolder())
  program = await startProgram(dataDir, {}, [], command)
  key = program.key
  const heard = (await (await ask()).json()) as { text: string; languages: { code: string }[] }
  text = heard.text
  found = heard.languages[0]!.code
})
afterAll(() => program?.end())

async function install(id: string, folder: string): Promise<void> {
  const { code, stderr } = await runCommand(['models', 'import', id, folder], {
    program: command,
    env: { MYNA_DATA: dataDir },
  })
  if (code !== 0) throw new Error(stderr)
}

async function ask(fields: Fields = [], file = talk, route = 'transcriptions'): Promise<Response> {
  const body = new FormData()
  body.append('file', file)
  if (!fields.some(([name]) => name === 'temperature')) body.append('temperature', String(temperature))
  for (const [name, value] of fields) body.append(name, value)
  return program.fetch(`/v1/audio/${route}`, key, { method: 'POST', body })
}

const heard = async (...request: Parameters<typeof ask>): Promise<Verbose> => {
  const answer = await ask(...request)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Verbose
}

async function refused(answer: Response) {
  const { error } = (await answer.json()) as { error: { code: string; param: string; message: string } }
  return [answer.status, error.code, error.param, error.message]
}

/** The rest of the nonsense in formats that drop control characters and break lines. */
const letters = (nonsense: string): string => nonsense.replace(/[\p{Cc}\s]/gu, '')

/** Nonsense may end in half a character, where the reference finds no word, so some letters belong to no word. */
function isInOrder(words: readonly { word: string }[], whole: string): boolean {
  let at = 0
  for (const { word } of words) {
    const place = whole.indexOf(word, at)
    if (place < 0) return false
    at = place + word.length
  }
  return true
}

test('it writes the same each time, as json and as text, and names the language that it detected', async () => {
  expect(text.length).toBeGreaterThan(10)
  expect(await heard()).toMatchObject({ text, languages: [{ code: found }], usage: { type: 'duration', seconds: 8 } })
  expect(await (await ask([['response_format', 'text']])).text()).toBe(`${text}\n`)
  expect(await heard([verbose])).toMatchObject({ task: 'transcribe', language: languageName(found), text })
})

test("segments have all ten fields, with the model's statements about itself", async () => {
  const { segments, words, duration, text: joined } = await heard([verbose, ['temperature', '0']])
  expect(joined).not.toBe(text)
  expect(words).toBeUndefined()
  expect(segments!.length).toBeGreaterThan(1)
  expect(
    segments!
      .map(({ text: part }) => part)
      .join('')
      .trim(),
  ).toBe(joined)
  for (const [at, segment] of segments!.entries()) {
    const {
      id,
      seek,
      start,
      end,
      tokens,
      temperature: degree,
      avg_logprob,
      compression_ratio,
      no_speech_prob,
    } = segment
    expect(Object.keys(segment)).toHaveLength(10)
    expect([id, typeof segment['text']]).toEqual([at, 'string'])
    expect(seek).toBeWithin(0, duration * 100)
    expect(start).toBeWithin(0, (end as number) + 0.0005)
    expect(end).toBeWithin(0, duration + 0.0005)
    expect((tokens as number[]).length).toBeGreaterThan(1)
    expect(degree).toBeWithin(0, 1.01)
    expect(avg_logprob).toBeLessThan(0)
    expect(compression_ratio).toBeGreaterThan(0)
    expect(no_speech_prob).toBeWithin(0, 1)
  }
})

test('words occur in the text, in order and within the clip; subtitles are made from the same words', async () => {
  const whole = await heard([...withWords, ...japanese])
  const { words, duration, text: said } = whole
  expect(words!.length).toBeGreaterThan(5)
  expect(isInOrder(words!, said)).toBe(true)
  for (const { start, end } of words!) {
    expect(start).toBeWithin(0, end + 0.0005)
    expect(end).toBeWithin(0, duration + 0.0005)
  }
  const { segments, words: alone } = await heard([verbose, ['timestamp_granularities[]', 'word'], ...japanese])
  expect([segments, alone]).toEqual([undefined, words])
  for (const format of ['srt', 'vtt']) {
    const subtitles = await (await ask([['response_format', format], ...japanese])).text()
    const { entries } = parse(subtitles)
    expect(entries.length).toBeGreaterThan(1)
    expect(letters(entries.map((entry) => entry.text).join(''))).toBe(letters(said))
    for (const { from, to } of entries) expect([from < to, to <= duration * 1000 + 1]).toEqual([true, true])
  }
})

test('events carry the same, in pieces', async () => {
  const events = eventsOf(await (await ask([['stream', 'true']])).text())
  const deltas = events.flatMap(({ type, delta }) => (type === 'transcript.text.delta' ? [String(delta)] : []))
  expect(deltas.length).toBeGreaterThan(1)
  expect(deltas.join('')).toBe(text)
  expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text })
})

test('a named language is the one that it uses', async () => {
  const other = found === 'de' ? 'fr' : 'de'
  const forced = await heard([['language', other]])
  expect(forced).toMatchObject({ languages: [{ code: other }] })
  expect(forced.text).not.toBe(text)
  // Naming the language that it would detect changes nothing.
  expect((await heard([['language', found]])).text).toBe(text)
  expect(
    await refused(
      await ask([
        ['language', 'tlh'],
        ['model', whisperCard.id],
      ]),
    ),
  ).toMatchObject([400, 'unsupported_value', 'language', expect.stringContaining(whisperCard.id)])
})

test('a prompt and a temperature change the text, each time in the same way', async () => {
  const prompted = await heard([['prompt', 'Myna, Anneliese Behr']])
  expect(prompted.text).not.toBe(text)
  expect((await heard([['prompt', 'Myna, Anneliese Behr']])).text).toBe(prompted.text)
  const sampled = await heard([verbose, ['temperature', '0.8']])
  expect(new Set(sampled.segments!.map((segment) => segment['temperature']))).toEqual(new Set([0.8]))
  expect(sampled.text).not.toBe(text)
  expect((await heard([['temperature', '0.8']])).text).toBe(sampled.text)
})

test('it translates; an English-only model refuses that with an explanation', async () => {
  const translated = await heard([verbose], talk, 'translations')
  expect(translated).toMatchObject({ task: 'translate', language: 'english' })
  expect(translated.text).not.toBe(text)
  expect(letters(translated.text).length).toBeGreaterThan(10)
  const english = [['model', englishWhisperCard.id]] as const
  expect(await refused(await ask(english, talk, 'translations'))).toEqual([
    400,
    'unsupported_value',
    'model',
    `The model '${englishWhisperCard.id}' cannot translate. One that can: myna models pull whisper-base`,
  ])
  const own = await heard([...english, ...withWords])
  expect([own.language, own.words_estimated]).toEqual(['english', true])
  expect(own.words!.length).toBeGreaterThan(0)
  expect(own.segments!.length).toBeGreaterThan(0)
})

test('silence gives an empty text, in every format', async () => {
  const quiet = wavOf(silence(4))
  expect((await heard([], quiet)).text).toBe('')
  expect(await heard(withWords, quiet)).toMatchObject({ text: '', segments: [], words: [], duration: 4 })
  expect((await (await ask([['response_format', 'srt']], quiet)).text()).trim()).toBe('')
  expect((await (await ask([['response_format', 'vtt']], quiet)).text()).trim()).toBe('WEBVTT')
  expect((await heard([], quiet, 'translations')).text).toBe('')
})

test('a clip of many windows is transcribed to its end', async () => {
  const { segments, duration, usage } = (await heard([verbose], lecture)) as Verbose & {
    usage: { seconds: number }
  }
  expect(lectureSeconds).toBeGreaterThan(60)
  expect([duration, usage.seconds]).toEqual([expect.closeTo(lectureSeconds, 2), Math.ceil(lectureSeconds)])
  expect(new Set(segments!.map(({ seek }) => seek)).size).toBeGreaterThan(2)
  expect(Math.max(...segments!.map(({ end }) => end as number))).toBeGreaterThan(lectureSeconds - 8)
  expect(segments!.map(({ id }) => id)).toEqual(segments!.map((_, at) => at))
})

test('a client that disconnects in the middle ends the work', async () => {
  const answer = await ask([['stream', 'true']], lecture)
  const reader = answer.body!.getReader()
  await reader.read()
  await reader.cancel()
  const streams = async () => {
    const { models } = (await (await program.fetch('/readyz')).json()) as {
      models: { id: string; active_streams: number }[]
    }
    return models.filter(({ id }) => id === whisperCard.id).map((one) => one.active_streams)
  }
  await until('nothing is running', async () => (await streams()).every((count) => count === 0), 20_000)
  expect(await program.metrics()).toMatch(/voice_transcriptions_total\{result="client_gone"\} 1/)
  expect((await heard()).text).toBe(text)
})

describe('official clients', () => {
  const openai = () => new OpenAI({ apiKey: key, baseURL: `${program.url}/v1`, maxRetries: 0 })
  const model = 'whisper-1'

  test('openai: all formats, words, a translation, a stream', async () => {
    const { transcriptions, translations } = openai().audio
    expect((await transcriptions.create({ file: talk, model, temperature })).text).toBe(text)
    const { text: usual } = await transcriptions.create({ file: talk, model })
    expect(usual).toBe((await heard([['temperature', '0']])).text)
    const plain = await transcriptions.create({ file: talk, model, temperature, response_format: 'text' })
    expect(String(plain)).toBe(`${text}\n`)
    const timed = await transcriptions.create({
      file: talk,
      model,
      language: 'ja',
      temperature,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect([timed.words!.length > 5, isInOrder(timed.words!, timed.text)]).toEqual([true, true])
    expect([timed.language, timed.duration]).toEqual(['japanese', expect.closeTo(talk.size / 32_000, 1)])
    expect((await translations.create({ file: talk, model, temperature })).text).not.toBe(text)
    let last = ''
    for await (const event of await transcriptions.create({ file: talk, model, temperature, stream: true })) {
      if (event.type === 'transcript.text.done') last = event.text
    }
    expect(last).toBe(text)
    const refusal: unknown = await translations.create({ file: talk, model: englishWhisperCard.id }).then(
      () => null,
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(BadRequestError)
    expect((refusal as BadRequestError).param).toBe('model')
  })

  test('the AI SDK: segments or words, the language and the duration', async () => {
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
    const provider = createOpenAI({ apiKey: key, baseURL: `${program.url}/v1` })
    const audio = new Uint8Array(await talk.arrayBuffer())
    const ai = (options: { language: string; timestampGranularities?: 'word'[]; prompt?: string }) =>
      transcribeWithAi({
        model: provider.transcription(model),
        audio,
        providerOptions: { openai: { temperature, ...options } },
      })
    const plain = await ai({ language: 'de' })
    expect(plain.language).toBe('de')
    expect(plain.durationInSeconds).toBeCloseTo(talk.size / 32_000, 1)
    expect(plain.segments.length).toBeGreaterThan(1)
    expect(
      isInOrder(
        plain.segments.map((segment) => ({ word: segment.text })),
        ` ${plain.text} `,
      ),
    ).toBe(true)
    const worded = await ai({ language: 'ja', timestampGranularities: ['word'], prompt: 'Myna' })
    expect(worded.segments.length).toBeGreaterThan(1)
    expect(
      isInOrder(
        worded.segments.map(({ text: word }) => ({ word })),
        worded.text,
      ),
    ).toBe(true)
  })
})
