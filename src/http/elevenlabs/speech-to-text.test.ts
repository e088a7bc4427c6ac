/** ElevenLabs' SDK transcribes: the text, its words and the refusals. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import type { SpeechToTextChunkResponseModel as Transcript } from '@elevenlabs/elevenlabs-js/api'
import type { TranscriptWord } from '../../domain/transcript.ts'
import type { Instance } from '../../testing/instance.ts'
import { deaf, recording, recordingOf, said, startListening, usageOf } from '../transcription/transcription.fixture.ts'
import { refusal, sdk } from './sdk.fixture.ts'
import { tokensOf } from './transcript-record.ts'

let instance: Instance
let client: ElevenLabsClient
beforeAll(async () => {
  instance = await startListening()
  client = sdk(instance, await instance.key())
})
afterAll(() => instance[Symbol.asyncDispose]())

const file = () => new File([recording], 'talk.wav')
const convert = async (more: Record<string, unknown> = {}, by = client) =>
  (await by.speechToText.convert({ modelId: 'scribe_v1', file: file(), ...more })) as Transcript

test('the text, the language and the words, with the spaces between them', async () => {
  const heard = await convert({ diarize: true, tagAudioEvents: true, timestampsGranularity: 'word' })
  expect(heard).toMatchObject({ text: said, languageCode: 'en', languageProbability: 1, audioDurationSecs: 3 })
  expect(heard.words.map(({ text }) => text).join('')).toBe(said)
  expect(heard.words.slice(0, 3).map(({ type }) => type)).toEqual(['word', 'spacing', 'word'])
  const times = heard.words.flatMap(({ start = 0, end = 0 }) => [start, end])
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(instance.transcriber.orders.at(-1)).toMatchObject({ model: 'whisper-base', words: true })
})

test('a model and a language, also by three letters', async () => {
  await convert({ modelId: 'whisper-base', languageCode: 'deu' })
  expect(instance.transcriber.orders.at(-1)).toMatchObject({ model: 'whisper-base', language: 'de' })
})

test('silence has no words', async () => {
  const heard = await convert({ file: new File([recordingOf(0, 0)], 'silence.wav') })
  expect([heard.text, heard.words]).toEqual(['', []])
})

test('its use is counted', async () => {
  const key = await instance.key({ account: 'counted' })
  await convert({}, sdk(instance, key))
  expect(await usageOf(instance, key)).toMatchObject({ requests: 1, seconds: 3, charged_micros: 0 })
})

test('is refused', async () => {
  const status = async (call: () => Promise<unknown>) => {
    const { status: code, detail } = await refusal(call)
    return [code, (detail as { status?: string }).status]
  }
  expect(await status(() => client.speechToText.convert({ modelId: 'scribe_v1' }))).toEqual([
    400,
    'missing_required_parameter',
  ])
  expect(await status(() => convert({ file: new File(['no audio'], 'a.wav') }))).toEqual([400, 'invalid_audio'])
  expect(await status(() => convert({ modelId: 'none' }))).toEqual([404, 'model_not_found'])
  const narrow = sdk(instance, await instance.key({ scopes: ['voices'] }))
  expect(await status(() => convert({}, narrow))).toEqual([403, 'missing_permissions'])
  await using bare = await startListening({}, [], { catalog: deaf })
  const alone = sdk(bare, await bare.key())
  expect(await status(() => convert({}, alone))).toEqual([503, 'transcription_unavailable'])
})

test('languages without spaces get none', () => {
  const word = (text: string, startMs: number): TranscriptWord => ({
    text,
    startMs,
    endMs: startMs + 100,
    probability: null,
  })
  expect(tokensOf([word('今日', 0), word('は', 100), word('OK', 300)], '今日は OK').map(({ text }) => text)).toEqual([
    '今日',
    'は',
    ' ',
    'OK',
  ])
})
