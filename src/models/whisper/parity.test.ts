import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import { isLong } from '../../testing/long.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { readGolden, type SmallModel, writeSmallModel } from './model.fixture.ts'
import { hasRealClips, hashOfClip, madeClips, modes, type Mode, realClips, rulesOf } from './parity.fixture.ts'
import { openWhisper } from './pipeline.ts'
import { whisperTokens } from './tokens.ts'
import { Transcription, type Whisper } from './transcribe.ts'

/** A mode is some thousand steps of the decoder: a second or two, and more on a busy machine. */
const limitMs = 120_000

/** Seek, start, end, temperature, mean log probability, compression ratio, no speech, tokens, words. */
type Segment = [number, number, number, number, number, number, number, number[], [string, number, number, number][]]
interface Answer {
  clip: string
  mode: string
  language: string
  segments: Segment[]
}
interface Golden {
  hashes: Record<string, string>
  answers: Answer[]
}

interface Pair {
  multilingual: Whisper
  english: Whisper
}

async function loadPair(small: SmallModel = {}): Promise<Pair> {
  const folder = await writeSmallModel(temporaryFolder(), small)
  const multilingual = await openWhisper(folder, 1)
  const config = { ...multilingual.config, isMultilingual: false }
  return { multilingual, english: { ...multilingual, config, tokens: whisperTokens(multilingual.tokens.bpe, config) } }
}

let ours: Pair
beforeAll(async () => {
  ours = await loadPair()
})
afterAll(() => ours.multilingual.graphs.release())

async function hear(
  { multilingual, english }: Pair,
  { multilingual: isMultilingual, options }: Mode,
  pcm: Float32Array,
) {
  const { language, task, initial_prompt: prompt, word_timestamps: words } = options
  const whisper = isMultilingual ? multilingual : english
  const transcription = new Transcription(whisper, { language, task, prompt, words, rules: rulesOf(options) })
  const segments = await transcription.hear(pcm, new AbortController().signal)
  return { language: transcription.language, segments }
}

/** The values that must be identical, and those that may differ by rounding. */
function exact(segment: TranscriptSegment) {
  const words = segment.words?.map(({ text, startMs, endMs }) => [text, startMs, endMs]) ?? null
  return [segment.seekMs, segment.startMs, segment.endMs, segment.temperature, segment.tokens, words]
}
function exactly([seek, start, end, temperature, , , , tokens, words]: Segment) {
  const ms = (seconds: number) => Math.round(1000 * seconds)
  const told = words?.map(([text, from, to]) => [text.trim(), ms(from), ms(to)]).filter(([text]) => text !== '') ?? null
  return [10 * seek, ms(start), ms(end), temperature, tokens, told]
}
const measured = ({ avgLogprob, compressionRatio, noSpeechProb, words }: TranscriptSegment) => [
  avgLogprob,
  compressionRatio,
  noSpeechProb,
  ...(words ?? []).map(({ probability }) => probability!),
]
const measures = ([, , , , logprob, ratio, noSpeech, , words]: Segment) => [
  logprob,
  ratio,
  noSpeech,
  ...(words ?? []).filter(([text]) => text.trim() !== '').map(([, , , probability]) => probability),
]

async function compare(pair: Pair, answer: Answer, mode: Mode, clip: Float32Array): Promise<void> {
  const { language, segments } = await hear(pair, mode, clip)
  // Segments that the reference has emptied are not reported here.
  const theirs = answer.segments.filter(([, , , , , , , tokens]) => tokens.length > 0)
  expect(language).toBe(answer.language)
  expect(segments.map(exact)).toEqual(theirs.map(exactly))
  for (const [index, segment] of segments.entries()) {
    const expected = measures(theirs[index]!)
    for (const [at, value] of measured(segment).entries()) expect(Math.abs(value - expected[at]!)).toBeLessThan(1e-3)
  }
}

/** The modes take turns with the clips: each mode hears every third, and each clip is heard in every third mode. */
const everyNth = 3

async function compareAll(
  golden: Golden,
  clips: Record<string, Float32Array>,
  mode: string,
  pair = ours,
): Promise<void> {
  const all = golden.answers.filter((answer) => answer.mode === mode)
  // Where tokens are drawn, answers that depend on the last digits of a number were left out.
  expect(all.length).toBeGreaterThanOrEqual(Object.keys(clips).length / 2)
  const turn = Object.keys(modes).indexOf(mode)
  const answers = isLong ? all : all.filter((_, at) => (at + turn) % everyNth === 0)
  expect(answers).not.toBeEmpty()
  for (const answer of answers) await compare(pair, answer, modes[mode]!, clips[answer.clip]!)
}

// Written by scripts/golden/whisper-decode.ts, where openai/whisper transcribed the same clips with the same weights.
const golden = (name: string) => readGolden<Golden>(`${import.meta.dir}/golden/${name}.json.gz`)
const [made, real] = [await golden('made'), await golden('real')]
const segmentsOf = ({ answers }: Golden, mode: string): Segment[] =>
  answers.flatMap((answer) => (answer.mode === mode ? answer.segments : []))
const hashesOf = (clips: Record<string, Float32Array>) =>
  Object.fromEntries(Object.entries(clips).map(([name, pcm]) => [name, hashOfClip(pcm)]))

describe('generated clips', () => {
  let clips: Record<string, Float32Array>
  beforeAll(async () => {
    clips = await madeClips()
  })

  test('are the ones that the numbers were taken from', () => {
    expect(hashesOf(clips)).toEqual(made.hashes)
  })

  test.each(Object.keys(modes))(
    'are transcribed as by openai/whisper, %s',
    (mode) => compareAll(made, clips, mode),
    limitMs,
  )

  test(
    "give the same result with the export of Hugging Face's tools",
    async () => {
      const optimum = await loadPair({ kind: 'optimum' })
      expect(optimum.multilingual.graphs.maxBatch).toBe(8)
      for (const mode of ['greedy', 'with words', 'after a prompt']) await compareAll(made, clips, mode, optimum)
      await optimum.multilingual.graphs.release()
    },
    limitMs,
  )
})

// The clips are not in the repository; a checkout without them uses the generated ones.
describe.skipIf(!hasRealClips)('clips of real readers', () => {
  let clips: Record<string, Float32Array>
  beforeAll(async () => {
    clips = await realClips()
  })

  test('are the ones that the numbers were taken from', () => {
    expect(hashesOf(clips)).toEqual(real.hashes)
  })

  test.each(Object.keys(modes))(
    'are transcribed as by openai/whisper, %s',
    (mode) => compareAll(real, clips, mode),
    limitMs,
  )
})

test('the numbers exercise what they are meant to', () => {
  const count = (mode: string, holds: (segment: Segment) => boolean) =>
    [made, real].flatMap((golden) => segmentsOf(golden, mode)).filter(holds).length
  expect(count('greedy', ([seek]) => seek > 0)).toBeGreaterThan(10)
  for (const isRight of [(t: number) => t === 0, (t: number) => t > 0 && t < 1]) {
    expect(count('falling back', ([, , , temperature]) => isRight(temperature))).toBeGreaterThan(5)
  }
  for (const mode of ['with words', 'with words, unspaced']) {
    expect(count(mode, ([, , , , , , , , words]) => words.length > 1)).toBeGreaterThan(10)
  }
  expect(count('skipping silence', () => true)).toBeWithin(
    1,
    count('greedy', () => true),
  )
  const found = real.answers.filter(({ mode }) => mode === 'in a language that it found out')
  expect(new Set(found.map(({ language }) => language)).size).toBeGreaterThan(1)
})
