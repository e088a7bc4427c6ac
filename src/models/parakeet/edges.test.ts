import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachSeed, Seeded } from '../../testing/seeded.ts'
import { type GraphSpec, onnxModel } from '../../testing/tiny-onnx.ts'
import type { TranscriptionModel } from '../architecture.ts'
import { SpeechCutter, type SpeechWindow } from '../silero/window-cutter.ts'
import { cardOf } from './graphs.fixture.ts'
import { load } from './pipeline.ts'

/**
 * A Parakeet that writes one word for each burst of noise: where the sound is loud, and then not again for four frames.
 */
const bands = 80
const encoder: GraphSpec = {
  name: 'loudness',
  nodes: [
    { op: 'ReduceMean', inputs: ['audio_signal'], outputs: ['level'], attributes: { axes: [1n], keepdims: 1n } },
    {
      op: 'MaxPool',
      inputs: ['level'],
      outputs: ['outputs'],
      attributes: { kernel_shape: [8n], strides: [8n], ceil_mode: 1n },
    },
    { op: 'Add', inputs: ['length', 'seven'], outputs: ['more'] },
    { op: 'Div', inputs: ['more', 'eight'], outputs: ['encoded_lengths'] },
  ],
  inputs: [
    { name: 'audio_signal', type: 'float32', dims: ['batch', bands, 'frames'] },
    { name: 'length', type: 'int64', dims: ['batch'] },
  ],
  outputs: [
    { name: 'outputs', type: 'float32', dims: ['batch', 1, 'encoded'] },
    { name: 'encoded_lengths', type: 'int64', dims: ['batch'] },
  ],
  constants: [
    { name: 'seven', type: 'int64', dims: [1], data: BigInt64Array.of(7n) },
    { name: 'eight', type: 'int64', dims: [1], data: BigInt64Array.of(8n) },
  ],
}

/** How far above the mean a burst is. */
const loud = 0.8
const state = (name: string) => ({ name, type: 'float32', dims: [2, 1, 1] }) as const
const decoder: GraphSpec = {
  name: 'one_word_each',
  nodes: [
    { op: 'Mul', inputs: ['encoder_outputs', 'by'], outputs: ['heard'] },
    { op: 'Add', inputs: ['heard', 'bias'], outputs: ['outputs'] },
    { op: 'Identity', inputs: ['input_states_1'], outputs: ['output_states_1'] },
    { op: 'Identity', inputs: ['input_states_2'], outputs: ['output_states_2'] },
  ],
  inputs: [
    { name: 'encoder_outputs', type: 'float32', dims: [1, 1, 1] },
    { name: 'targets', type: 'int32', dims: [1, 1] },
    { name: 'target_length', type: 'int32', dims: [1] },
    state('input_states_1'),
    state('input_states_2'),
  ],
  outputs: [{ name: 'outputs', type: 'float32', dims: [1, 1, 7] }, state('output_states_1'), state('output_states_2')],
  constants: [
    // The word and the blank; then the durations of zero, one, two, three and four frames.
    { name: 'by', type: 'float32', dims: [7], data: Float32Array.of(1, 0, 0, 0, 0, 0, 1) },
    { name: 'bias', type: 'float32', dims: [7], data: Float32Array.of(0, loud, -9, loud, -9, -9, 0) },
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'myna-parakeet-'))
let model: TranscriptionModel
beforeAll(async () => {
  const config = { model_type: 'nemo-conformer-tdt', features_size: bands, subsampling_factor: 8 }
  await Bun.write(join(folder, 'config.json'), JSON.stringify(config))
  await Bun.write(join(folder, 'vocab.txt'), '▁word 0\n<blk> 1\n')
  await Bun.write(join(folder, 'encoder-model.onnx'), onnxModel(encoder))
  await Bun.write(join(folder, 'decoder_joint-model.onnx'), onnxModel(decoder))
  model = await load({ card: cardOf('en'), filesDir: folder, pronunciations: null, workers: 1 })
})
afterAll(async () => {
  await model.unload()
  rmSync(folder, { recursive: true })
})

const rateHz = 16_000
const burstMs = 100

/** A minute and a half of a speaker who never pauses for long. */
function talk(random: Seeded): { pcm: Float32Array; startsMs: number[] } {
  const startsMs: number[] = []
  for (let atMs = 300; atMs < 90_000; atMs += random.whole(480, 900)) startsMs.push(atMs)
  const noise = (level: number) => level * (2 * random.next() - 1)
  const pcm = Float32Array.from({ length: 92 * rateHz }, () => noise(0.01))
  for (const startMs of startsMs) {
    const level = 0.2 + 0.3 * random.next()
    const start = (startMs * rateHz) / 1000
    for (let i = start; i < start + (burstMs * rateHz) / 1000; i++) pcm[i] = noise(level)
  }
  return { pcm, startsMs }
}

test('words at the border of two windows are neither lost nor doubled', () =>
  forEachSeed(3, async (random) => {
    const { pcm, startsMs } = talk(random)
    // To the detector all of it is speech: every window is cut without a pause.
    const cutter = new SpeechCutter({ maxWindowMs: random.whole(5000, 20_000) }, 32)
    const windows: SpeechWindow[] = []
    for (let at = 0; at < pcm.length; at += 512) windows.push(...cutter.push(pcm.subarray(at, at + 512), 0.99))
    windows.push(...cutter.end())
    expect(windows.length).toBeGreaterThan(4)
    const input = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: true } as const
    const transcribing = model.begin(input)
    const heardMs: number[] = []
    for (const { startMs, pcm: window } of windows) {
      const segments = await transcribing.hear(window, new AbortController().signal)
      for (const { words } of segments) heardMs.push(...words!.map((word) => startMs + word.startMs))
    }
    expect(heardMs.length).toBe(startsMs.length)
    for (const [index, startMs] of startsMs.entries()) expect(heardMs[index]! - startMs).toBeWithin(-95, 15)
  }))
