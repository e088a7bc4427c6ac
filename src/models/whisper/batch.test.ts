import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import { fromS16 } from '../../audio/pcm.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { noise, speech, tone } from '../../testing/speech-clips.ts'
import type { TranscriptionInput } from '../architecture.ts'
import { tryBatch } from './branches.ts'
import type { Rules } from './decode.ts'
import { smallCard, writeSmallModel } from './model.fixture.ts'
import { load, openWhisper } from './pipeline.ts'
import { Transcription, type Whisper } from './transcribe.ts'

const never = new AbortController().signal
const greedy: Rules = {
  temperatures: [0],
  salvages: false,
  finishes: false,
  maxCompressionRatio: null,
  minAvgLogprob: null,
  maxNoSpeechProb: null,
}
const plain: TranscriptionInput = { task: 'transcribe', language: 'en', prompt: null, temperature: 0, words: false }

let folder: string
let whisper: Whisper
let sounds: Float32Array[]
beforeAll(async () => {
  folder = await writeSmallModel(temporaryFolder())
  whisper = { ...(await openWhisper(folder, 1)), maxBatch: 8 }
  sounds = [
    await speech('Good morning to you all.'),
    noise(2, 0.01),
    await speech('It rained for days, and nobody went out before the sun came back.', 'kal16'),
    tone(0.6, 220),
    await speech('Then the sun came out again.', 'slt'),
  ].map((pcm) => fromS16(pcm))
})
afterAll(() => whisper.graphs.release())

const begin = (input: Partial<TranscriptionInput> = {}, rules: Rules = greedy) =>
  new Transcription(whisper, { ...plain, ...input, rules })

const exact = ({ tokens, startMs, endMs, seekMs, temperature, words }: TranscriptSegment) => [
  tokens,
  startMs,
  endMs,
  seekMs,
  temperature,
  words?.map((word) => [word.text, word.startMs, word.endMs]),
]

async function heardAlone(input: Partial<TranscriptionInput>, rules = greedy): Promise<TranscriptSegment[][]> {
  const alone: TranscriptSegment[][] = []
  for (const sound of sounds) alone.push(await begin(input, rules).hear(sound, never))
  return alone
}

test.each([{}, { words: true, language: 'ja' }])(
  'each of several sounds is transcribed as if it were alone: %j',
  async (input) => {
    // A second window of a sound would receive the text of the first.
    const firsts = (heard: TranscriptSegment[][]) => heard.map((all) => all.filter(({ seekMs }) => seekMs === 0))
    const alone = firsts(await heardAlone(input))
    const together = firsts(await begin(input).batch!.hear(sounds, never))
    expect(together.map((segments) => segments.map(exact))).toEqual(alone.map((segments) => segments.map(exact)))
    for (const [at, segments] of together.entries()) {
      for (const [index, { avgLogprob, noSpeechProb }] of segments.entries()) {
        expect(avgLogprob!).toBeCloseTo(alone[at]![index]!.avgLogprob!, 3)
        expect(noSpeechProb!).toBeCloseTo(alone[at]![index]!.noSpeechProb!, 3)
      }
    }
    expect(together.filter((segments) => segments.length > 1).length).toBeGreaterThan(1)
  },
)

test('results that are good enough stay while the others are tried at higher temperatures', async () => {
  const alone = await heardAlone({})
  const logprobs = alone.map(([first]) => first!.avgLogprob!)
  const median = logprobs.toSorted((a, b) => a - b)[2]!
  const rules: Rules = { ...greedy, temperatures: [0, 0.5], minAvgLogprob: median - 0.001 }
  const together = await begin({}, rules).batch!.hear(sounds, never)
  for (const [at, segments] of together.entries()) {
    const isGood = logprobs[at]! >= rules.minAvgLogprob!
    expect(segments[0]!.temperature).toBe(isGood ? 0 : 0.5)
    if (isGood) expect(segments[0]!.tokens).toEqual(alone[at]![0]!.tokens)
  }
})

test('transcribing the same sounds again gives the same result', async () => {
  const hear = () => begin({}, { ...greedy, temperatures: [0.8] }).batch!.hear(sounds, never)
  expect(await hear()).toEqual(await hear())
})

test('the first sound decides the language', async () => {
  const transcribing = begin({ language: null })
  await transcribing.batch!.hear(sounds.slice(0, 2), never)
  const alone = begin({ language: null })
  await alone.hear(sounds[0]!, never)
  expect([transcribing.language, transcribing.language]).toEqual([alone.language, expect.any(String)])
})

test('all of them receive the prompt, and none receives the text of another', async () => {
  const hear = async (prompt: string | null, before: Float32Array | null) => {
    const transcribing = begin({ prompt })
    if (before !== null) await transcribing.hear(before, never)
    return (await transcribing.batch!.hear([sounds[0]!, sounds[4]!], never)).map((segments) => segments.map(exact))
  }
  const prompted = await hear('Names, as in 12.5', null)
  expect(await hear('Names, as in 12.5', sounds[2]!)).toEqual(prompted)
  const plainly = await hear(null, null)
  for (const [at, segments] of prompted.entries()) expect(segments).not.toEqual(plainly[at]!)
})

test('only the text of the last sound is passed to the window after them', async () => {
  const next = async (...batch: number[]) => {
    const transcribing = begin()
    await transcribing.batch!.hear(
      batch.map((at) => sounds[at]!),
      never,
    )
    return (await transcribing.hear(sounds[4]!, never)).map(exact)
  }
  expect(await next(0, 1, 2)).toEqual(await next(1, 0, 2))
  expect(await next(0, 2, 1)).not.toEqual(await next(1, 0, 2))
})

test('a long prompt reduces the number of sounds in one batch', async () => {
  const long = Array.from({ length: 400 }, (_, at) => `name ${at}`).join(', ')
  expect(begin({ prompt: long }).batch).toBeUndefined()
  expect(begin({ prompt: 'twelve or so, of many more' }).batch?.max).toBeWithin(2, 8)
})

test('an abort ends it between two tokens', async () => {
  const abort = new AbortController()
  const waiting = begin().batch!.hear(sounds, abort.signal)
  let turns = 0
  const count = () => {
    if (++turns === 30) abort.abort(new Error('enough'))
    else setImmediate(count)
  }
  setImmediate(count)
  expect(String(await waiting.catch((error: unknown) => error))).toBe('Error: enough')
})

test('the batch size that a decoder declares is tried, and a model on the CPU uses what pays there', async () => {
  expect(whisper.graphs.maxBatch).toBe(8)
  expect(await tryBatch(whisper.graphs, whisper.tokens, whisper.config)).toBe(8)
  const model = await load({ card: smallCard, filesDir: folder, pronunciations: null, workers: 1 })
  expect(model.begin(plain).batch?.max).toBe(2)
  await model.unload()
})

test('a decoder that was exported for one window takes the windows one after another', async () => {
  const bytes = Buffer.from(await Bun.file(join(folder, 'decoder_model_merged.onnx')).bytes())
  // A dimension that is a name, as a graph's file stores it; and a 1 in the same number of bytes.
  const named = Buffer.from([0x12, 5, ...Buffer.from('batch')])
  const one = Buffer.from([0x08, 0x81, 0x80, 0x80, 0x80, 0x80, 0])
  for (let at = bytes.indexOf(named); at >= 0; at = bytes.indexOf(named, at)) one.copy(bytes, at)
  const filesDir = await writeSmallModel(temporaryFolder(), { files: { 'decoder_model_merged.onnx': bytes } })
  const model = await load({ card: smallCard, filesDir, pronunciations: null, workers: 1 })
  const transcribing = model.begin(plain)
  expect(transcribing.batch).toBeUndefined()
  expect((await transcribing.hear(sounds[0]!, never)).length).toBeGreaterThan(0)
  await model.unload()
})
