import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fromS16 } from '../../audio/pcm.ts'
import type { Weights } from '../../domain/card.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { realWeights } from '../../testing/real-weights.ts'
import { speech } from '../../testing/speech-clips.ts'
import type { TranscriptionInput, TranscriptionModel } from '../architecture.ts'
import { smallCard } from './model.fixture.ts'
import { load } from './pipeline.ts'

setDefaultTimeout(120_000)

const never = new AbortController().signal
const english: TranscriptionInput = { task: 'transcribe', language: 'en', prompt: null, temperature: 0, words: false }
const decoderName = 'decoder_model_merged.onnx'

const loadFrom = (filesDir: string, weights: Weights): Promise<TranscriptionModel> =>
  load({ card: { ...smallCard, weights }, filesDir, pronunciations: null, workers: 2 })

/** The same model with another decoder, beside links to all its other files. */
async function withDecoder(folder: string, decoder: Uint8Array): Promise<string> {
  const other = temporaryFolder()
  for (const name of readdirSync(folder)) if (name !== decoderName) symlinkSync(join(folder, name), join(other, name))
  await Bun.write(join(other, decoderName), decoder)
  return other
}

/** Swaps both names wherever they occur, so that each input or branch is taken for the other. */
function exchanged(graph: Uint8Array, one: string, other: string): Uint8Array {
  const [bytes, source] = [Buffer.from(graph), Buffer.from(graph)]
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    for (let at = source.indexOf(from); at >= 0; at = source.indexOf(from, at + 1)) bytes.write(to, at)
  }
  return bytes
}

describe.each([
  ['whisper-tiny.en', 'int8'],
  ['whisper-base', 'int8'],
  ['whisper-base-words', 'int8'],
  ['whisper-tiny.en-fp32', 'fp32'],
] as const)('%s', (id, weights) => {
  const folder = realWeights(id)
  let pcm: Float32Array
  let model: TranscriptionModel | undefined
  beforeAll(async () => {
    pcm = fromS16(await speech('It rained for days, and the birds in the old garden were silent.'))
  })
  afterAll(() => model?.unload())

  // Published weights are not in the repository: skipped where they are not on this machine.
  test.skipIf(folder === null)('loads, and transcribes what was said', async () => {
    model = await loadFrom(folder!, weights)
    const heard = await model.begin(english).hear(pcm, never)
    const text = heard.map((segment) => segment.text).join('')
    expect(text.trim()).toMatch(/^It rained for days,? and the birds in the old \w+ were silent\.$/)
  })

  // Published weights are not in the repository: skipped where they are not on this machine.
  test.skipIf(folder === null).each([
    ['keys of another layer', 'past_key_values.0.decoder.key', 'past_key_values.1.decoder.key'],
    ['branches exchanged', 'then_branch', 'else_branch'],
  ])('is refused with %s', async (_, one, other) => {
    const graph = await Bun.file(join(folder!, decoderName)).bytes()
    const broken = await withDecoder(folder!, exchanged(graph, one, other))
    await expect(loadFrom(broken, weights)).rejects.toThrow('this export is broken')
  })
})
