import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromS16 } from '../../audio/pcm.ts'
import { hashOf } from '../../testing/speech-clips.ts'
import type { TranscriptionModel } from '../architecture.ts'
import { createSession } from '../../onnx/back-end.ts'
import { FeatureMeter, minFrames } from './features.ts'
import { cardOf } from './graphs.fixture.ts'
import { type HeardClip, heardByNemo, nemoClips, nemoKinds, writeNemoModels } from './nemo.fixture.ts'
import { load } from './pipeline.ts'
import { TdtDecoder } from './tdt.ts'
import { readVocabulary } from './vocabulary.ts'
import { wordsOf } from './words.ts'

const never = new AbortController().signal
const input = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: true } as const
const folder = mkdtempSync(join(tmpdir(), 'myna-nemo-'))
const heard = heardByNemo()
const frameMs = 80
/** NeMo writes them into the text when the model emits them, as this one does. */
const withoutControls = (text: string): string => text.replaceAll(/<[^<>]+>/g, '')
const vocabularyOf = () => readVocabulary(readFileSync(join(folder, 'fp32', 'vocab.txt'), 'utf8')).pieces
const open = (kind: string): Promise<TranscriptionModel> =>
  load({ card: cardOf('en', 'ru'), filesDir: join(folder, kind), pronunciations: null, workers: 1 })

let clips: [name: string, pcm: Float32Array, known: HeardClip][] = []
beforeAll(async () => {
  writeNemoModels(folder)
  clips = Object.entries(await nemoClips()).map(([name, pcm]) => {
    const known = heard.clips[name]
    // If the clip differs from NeMo's: bun scripts/golden/nemo-transcripts.ts
    expect([name, known?.hash]).toEqual([name, hashOf(pcm)])
    return [name, fromS16(pcm), known!]
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

test("the features and their number match NeMo's", () => {
  const meter = new FeatureMeter(128)
  for (const [name, pcm, known] of clips) {
    const { values, frames, bands } = meter.measure(pcm)
    expect([name, frames]).toEqual([name, known.featureFrames])
    for (const [frame, expected] of Object.entries(known.features)) {
      const differences = expected.map((value, band) => Math.abs(value - values[band * (frames + 1) + Number(frame)]!))
      expect([name, frame, differences.length, Math.max(...differences) < 1e-3]).toEqual([name, frame, bands, true])
    }
  }
})

test("the tokens, their frames and their durations match NeMo's", async () => {
  const encoder = await createSession(join(folder, 'fp32', 'encoder-model.onnx'), { threads: 1 })
  const joint = await createSession(join(folder, 'fp32', 'decoder_joint-model.onnx'), { threads: 1 })
  const decoder = new TdtDecoder(joint, { vocabulary: vocabularyOf().length, maxTokensPerFrame: 10 })
  const meter = new FeatureMeter(128)
  const skips = new Set<number>()
  for (const [name, pcm, known] of clips) {
    const { values, frames, bands } = meter.measure(pcm)
    const { outputs, encoded_lengths } = await encoder.run({
      audio_signal: { type: 'float32', dims: [1, bands, frames + 1], data: values },
      length: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(frames)) },
    })
    expect([name, Number(encoded_lengths!.data[0])]).toEqual([name, known.encodedFrames])
    const emissions = await decoder.decode({ outputs: outputs!, frames: known.encodedFrames }, never)
    expect([name, emissions.map(({ token }) => token)]).toEqual([name, known.tokens])
    expect([name, emissions.map(({ frame }) => frame)]).toEqual([name, known.frames])
    expect([name, emissions.map((emission) => emission.frames)]).toEqual([name, known.durations])
    for (const skip of known.durations) skips.add(skip)
  }
  expect([...skips].sort()).toEqual([0, 1, 2, 3, 4])
  await encoder.release()
  await joint.release()
})

test("the words and their start times match NeMo's", async () => {
  const model = await open('fp32')
  for (const [name, pcm, known] of clips) {
    const segments = await model.begin(input).hear(pcm, never)
    const words = segments.flatMap((segment) => segment.words!)
    expect([name, words.map(({ text }) => text).join(' ')]).toEqual([name, withoutControls(known.text)])
    expect(words.map(({ text, startMs }) => [text, startMs])).toEqual(
      known.words.map(([text, start]) => [withoutControls(text), start * frameMs]),
    )
    const endMs = pcm.length / 16
    for (const [index, [text, , end]] of known.words.entries()) {
      const lateMs = words[index]!.endMs - Math.min(end * frameMs, endMs)
      // In NeMo a word ends at its last token's frame if that token takes no time; in ours it ends one frame later.
      expect([name, text, lateMs === 0 || lateMs === frameMs || words[index]!.endMs === endMs]).toEqual([
        name,
        text,
        true,
      ])
    }
  }
  await model.unload()
})

test('the quantised graphs pass too', async () => {
  const model = await open('int8')
  let words = 0
  for (const [, pcm] of clips) words += (await model.begin(input).hear(pcm, never)).flatMap((one) => one.words!).length
  expect(words).toBeGreaterThan(10)
  await model.unload()
})

test('every sound long enough for features is transcribed, silence too', async () => {
  for (const kind of nemoKinds) {
    const model = await open(kind)
    for (let frames = minFrames; frames <= 20; frames++) {
      const silence = new Float32Array(160 * frames)
      const buzz = silence.map((_, i) => 0.1 * Math.sin(i * i * 1e-4))
      for (const pcm of [silence, buzz]) await model.begin(input).hear(pcm, never)
    }
    const longest = Float32Array.from({ length: model.maxWindowMs * 16 }, (_, i) => 0.1 * Math.sin(i * i * 1e-7))
    expect((await model.begin(input).hear(longest, never)).length).toBeGreaterThan(0)
    await model.unload()
  }
})

test('joins the text as NeMo does in 25 languages', () => {
  const pieces = vocabularyOf()
  expect(heard.texts.length).toBe(25)
  for (const [tokens, text] of heard.texts) {
    const emissions = tokens.map((token, frame) => ({ token, frame, frames: 1, logprob: 0 }))
    const words = wordsOf(emissions, pieces, { frameMs, endMs: tokens.length * frameMs })
    // NeMo removes the space before every mark, even before opening ones.
    const joined = words.map((word) => word.text).join(' ')
    expect(joined.replaceAll(/ (?=[„–¿¡])/g, '')).toBe(text)
  }
})
