import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromS16 } from '../../audio/pcm.ts'
import { hashOf } from '../../testing/speech-clips.ts'
import { createSession } from '../../onnx/back-end.ts'
import type { Session } from '../../onnx/session.ts'
import { hasReadings, readingClips, soundClips } from './clips.fixture.ts'
import { FeatureMeter, minFrames } from './features.ts'
import golden from './golden.json' with { type: 'json' }
import { cardOf, pieces, smallModels, type SmallModel, writeModel } from './graphs.fixture.ts'
import { load } from './pipeline.ts'
import { type Emission, TdtDecoder } from './tdt.ts'

type Clips = Record<string, Int16Array<ArrayBuffer>>

const never = new AbortController().signal
const folder = mkdtempSync(join(tmpdir(), 'myna-parakeet-'))
const folderOf = ({ name }: SmallModel) => join(folder, name)
let sounds: Clips = {}
let readings: Clips = {}
const goldenOf = new Map(Object.entries(golden))

beforeAll(async () => {
  sounds = await soundClips()
  if (hasReadings) readings = await readingClips()
  for (const model of smallModels) await writeModel(folderOf(model), model)
})
afterAll(() => rmSync(folder, { recursive: true }))

function knownOf(name: string, pcm: Int16Array<ArrayBuffer>) {
  const known = goldenOf.get(name)
  // If the clip differs from the one that was measured: bun scripts/golden/parakeet.ts
  expect([name, known?.hash]).toEqual([name, hashOf(pcm)])
  return known!
}

function checkFeatures(clips: Clips): void {
  const meter = new FeatureMeter(128)
  for (const [name, pcm] of Object.entries(clips)) {
    const { values, frames, bands } = meter.measure(fromS16(pcm))
    for (const [frame, expected] of Object.entries(knownOf(name, pcm).features)) {
      const differences = expected.map((value, band) => Math.abs(value - values[band * (frames + 1) + Number(frame)]!))
      expect([name, frame, differences.length, Math.max(...differences) < 1e-4]).toEqual([name, frame, bands, true])
    }
  }
}

/** The output of the parts, step by step. */
async function listener(
  model: SmallModel,
): Promise<{ hear(pcm: Float32Array): Promise<Emission[]>; sessions: Session[] }> {
  const open = (file: string) => createSession(join(folderOf(model), file), { threads: 1 })
  const sessions = [await open('encoder-model.onnx'), await open('decoder_joint-model.onnx')]
  const [encoder, joint] = sessions
  const meter = new FeatureMeter(model.bands)
  const options = { vocabulary: pieces.length, maxTokensPerFrame: model.maxTokensPerFrame ?? 10 }
  const decoder = new TdtDecoder(joint!, options)
  const hear = async (pcm: Float32Array) => {
    const { values, frames, bands } = meter.measure(pcm)
    const { outputs, encoded_lengths } = await encoder!.run({
      audio_signal: { type: 'float32', dims: [1, bands, frames + 1], data: values },
      length: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(frames)) },
    })
    return decoder.decode({ outputs: outputs!, frames: Number(encoded_lengths!.data[0]) }, never)
  }
  return { hear, sessions }
}

async function checkTokens(clips: Clips): Promise<Emission[]> {
  const all: Emission[] = []
  for (const model of smallModels) {
    const { hear, sessions } = await listener(model)
    for (const [name, pcm] of Object.entries(clips)) {
      const { tokens, frames, meanLogprob } = knownOf(name, pcm).models[model.name as 'one' | 'other']
      const emissions = await hear(fromS16(pcm))
      expect([name, emissions.map(({ token }) => token)]).toEqual([name, tokens])
      expect([name, emissions.map(({ frame }) => frame)]).toEqual([name, frames])
      const mean = emissions.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(1, emissions.length)
      expect(mean).toBeCloseTo(meanLogprob, 3)
      all.push(...emissions)
    }
    for (const session of sessions) await session.release()
  }
  return all
}

async function checkText(clips: Clips): Promise<void> {
  for (const small of smallModels) {
    const model = await load({ card: cardOf('en'), filesDir: folderOf(small), pronunciations: null, workers: 1 })
    const input = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: false } as const
    for (const [name, pcm] of Object.entries(clips)) {
      const { tokens, text } = knownOf(name, pcm).models[small.name as 'one' | 'other']
      const segments = await model.begin(input).hear(fromS16(pcm), never)
      // We drop a full stop before the first word.
      const [, marks, rest] = /^([.,!?]* )?(.*)$/s.exec(text)!
      expect([
        name,
        segments
          .map((segment) => segment.text)
          .join('')
          .trim(),
      ]).toEqual([name, rest!])
      expect(segments.flatMap((segment) => segment.tokens)).toEqual(tokens.slice((marks ?? ' ').length - 1))
    }
    await model.unload()
  }
}

describe('on generated sounds and on the built-in voice', () => {
  test("the features match NeMo's, computed in double precision", async () => checkFeatures(sounds))

  test('the tokens, their frames and their probabilities match those of onnx-asr', async () => {
    const emissions = await checkTokens(sounds)
    // The small models exercise every case: they write, stay, and move on by one, two, three and four frames.
    for (const frames of [0, 1, 2, 3, 4]) expect(emissions.some((emission) => emission.frames === frames)).toBe(true)
  })

  test('the text matches that of onnx-asr', async () => checkText(sounds))
})

// The readings are not in the repository.
describe.skipIf(!hasReadings)('on twenty readings', () => {
  test("the features match NeMo's, computed in double precision", async () => checkFeatures(readings))

  test('the tokens, their frames and their probabilities match those of onnx-asr', async () => {
    expect((await checkTokens(readings)).length).toBeGreaterThan(1000)
  })

  test('the text matches that of onnx-asr', async () => checkText(readings))
})

test('a sound shorter than two frames has no features', () => {
  expect(() => new FeatureMeter(80).measure(new Float32Array(minFrames * 160 - 1))).toThrow(RangeError)
})
