/**
 * A small Parakeet: graphs with the inputs and outputs of the published ones, and random weights that are always the
 * same. They are scaled so that it writes a token at about half of its steps, and uses every duration. Its text is
 * nonsense. `golden.json` holds the same nonsense as read by onnx-asr, and we must match it.
 */
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import { type Constant, type GraphSpec, onnxModel } from '../../testing/tiny-onnx.ts'
import { Seeded } from '../../testing/seeded.ts'

/** Marks, words and parts of words, as a tokenizer would have learned them from several languages. */
export const pieces: readonly string[] = [
  '<unk>',
  ...'▁ ▁the ▁a ▁of ▁and ▁to ▁in ▁The ▁It ▁was ▁I ▁über ▁schön ▁été ▁łódź ▁мир ▁και ▁20 ▁3'.split(' '),
  ..."s e t d n er ing en ly ß ö é ż ий ος 5 0 . , ? ! ' - %".split(' '),
  ...'bcfghjklmpqrvwxyz'
    .split('')
    .flatMap((first) => ['a', 'i', 'o', 'u'].flatMap((vowel) => ['▁', ''].map((start) => start + first + vowel))),
  '<blk>',
]
export const vocabularyText = `${pieces.map((piece, id) => `${piece} ${id}`).join('\n')}\n`

const size = 24
const hidden = 16
const joint = 32
const durations = 5
/** Tokens that onnx-asr would output unchanged and we drop. */
const neverBias = -100

class Weights {
  readonly constants: Constant[] = []
  readonly #random: Seeded

  constructor(seed: number) {
    this.#random = new Seeded(seed)
  }

  /** Distributed evenly around zero, with the given deviation. */
  add(name: string, dims: readonly number[], deviation: number): string {
    const length = dims.reduce((product, dim) => product * dim, 1)
    const data = Float32Array.from({ length }, () => (2 * this.#random.next() - 1) * Math.sqrt(3) * deviation)
    this.constants.push({ name, type: 'float32', dims, data })
    return name
  }

  put(name: string, dims: readonly number[], data: Float32Array | BigInt64Array): string {
    this.constants.push({ name, type: data instanceof Float32Array ? 'float32' : 'int64', dims, data })
    return name
  }
}

/** Two convolutions, the first of which reduces eight frames to one. */
function encoder(seed: number, bands: number): GraphSpec {
  const weights = new Weights(seed)
  const near = weights.add('near', [size, bands, 9], 1.5 / Math.sqrt(9 * bands))
  const wide = weights.add('wide', [size, size, 5], 1.5 / Math.sqrt(5 * size))
  return {
    name: 'encoder',
    nodes: [
      { op: 'Conv', inputs: ['audio_signal', near], outputs: ['a'], attributes: { strides: [8n], pads: [4n, 4n] } },
      { op: 'Tanh', inputs: ['a'], outputs: ['b'] },
      { op: 'Conv', inputs: ['b', wide], outputs: ['c'], attributes: { pads: [2n, 2n] } },
      { op: 'Tanh', inputs: ['c'], outputs: ['outputs'] },
      { op: 'Add', inputs: ['length', weights.put('seven', [1], BigInt64Array.of(7n))], outputs: ['more'] },
      { op: 'Div', inputs: ['more', weights.put('eight', [1], BigInt64Array.of(8n))], outputs: ['encoded_lengths'] },
    ],
    inputs: [
      { name: 'audio_signal', type: 'float32', dims: ['batch', bands, 'frames'] },
      { name: 'length', type: 'int64', dims: ['batch'] },
    ],
    outputs: [
      { name: 'outputs', type: 'float32', dims: ['batch', size, 'encoded'] },
      { name: 'encoded_lengths', type: 'int64', dims: ['batch'] },
    ],
    constants: weights.constants,
  }
}

/** Two LSTM layers over the written tokens, added to a frame of the encoder, and one layer on top of both. */
function decoderJoint({ seed, blankBias }: SmallModel, count: number): GraphSpec {
  const weights = new Weights(seed + 100)
  const lstm = (layer: number, input: string) => ({
    op: 'LSTM',
    inputs: [
      input,
      weights.add(`w${layer}`, [1, 4 * hidden, hidden], 1.5 / Math.sqrt(hidden)),
      weights.add(`r${layer}`, [1, 4 * hidden, hidden], 1.5 / Math.sqrt(hidden)),
      weights.add(`b${layer}`, [1, 8 * hidden], 0.2),
      '',
      `h${layer}`,
      `c${layer}`,
    ],
    outputs: ['', `next_h${layer}`, `next_c${layer}`],
    attributes: { hidden_size: BigInt(hidden) },
  })
  const state = (name: string) => ({ name, type: 'float32', dims: [2, 'batch', hidden] }) as const
  const bias = new Float32Array(count + durations)
  bias[0] = neverBias
  bias[count - 1] = blankBias
  return {
    name: 'decoder_joint',
    nodes: [
      { op: 'Gather', inputs: [weights.add('embedding', [count, hidden], 1), 'targets'], outputs: ['e'] },
      { op: 'Split', inputs: ['input_states_1'], outputs: ['h0', 'h1'], attributes: { axis: 0n } },
      { op: 'Split', inputs: ['input_states_2'], outputs: ['c0', 'c1'], attributes: { axis: 0n } },
      lstm(0, 'e'),
      lstm(1, 'next_h0'),
      { op: 'Concat', inputs: ['next_h0', 'next_h1'], outputs: ['output_states_1'], attributes: { axis: 0n } },
      { op: 'Concat', inputs: ['next_c0', 'next_c1'], outputs: ['output_states_2'], attributes: { axis: 0n } },
      { op: 'Transpose', inputs: ['encoder_outputs'], outputs: ['f'], attributes: { perm: [0n, 2n, 1n] } },
      { op: 'MatMul', inputs: ['f', weights.add('heard', [size, joint], 1.5 / Math.sqrt(size))], outputs: ['x'] },
      {
        op: 'MatMul',
        inputs: ['next_h1', weights.add('said', [hidden, joint], 3 / Math.sqrt(hidden))],
        outputs: ['y'],
      },
      { op: 'Add', inputs: ['x', 'y'], outputs: ['z'] },
      { op: 'Relu', inputs: ['z'], outputs: ['both'] },
      {
        op: 'MatMul',
        inputs: ['both', weights.add('top', [joint, count + durations], 4 / Math.sqrt(joint))],
        outputs: ['l'],
      },
      { op: 'Add', inputs: ['l', weights.put('bias', [count + durations], bias)], outputs: ['logits'] },
      { op: 'Unsqueeze', inputs: ['logits', weights.put('second', [1], BigInt64Array.of(1n))], outputs: ['outputs'] },
      { op: 'Identity', inputs: ['target_length'], outputs: ['prednet_lengths'] },
    ],
    inputs: [
      { name: 'encoder_outputs', type: 'float32', dims: ['batch', size, 'frames'] },
      { name: 'targets', type: 'int32', dims: ['batch', 'tokens'] },
      { name: 'target_length', type: 'int32', dims: ['batch'] },
      state('input_states_1'),
      state('input_states_2'),
    ],
    outputs: [
      { name: 'outputs', type: 'float32', dims: ['batch', 'frames', 'tokens', count + durations] },
      { name: 'prednet_lengths', type: 'int32', dims: ['batch'] },
      state('output_states_1'),
      state('output_states_2'),
    ],
    constants: weights.constants,
  }
}

export interface SmallModel {
  name: string
  seed: number
  bands: number
  /** null: the default of onnx-asr. */
  maxTokensPerFrame: number | null
  /** A bias with which the blank wins about as often as all other tokens together. */
  blankBias: number
}

/** Durations of v2 and v3, and a set that often reaches the limit of tokens per frame. */
export const smallModels: readonly SmallModel[] = [
  { name: 'one', seed: 1, bands: 128, maxTokensPerFrame: null, blankBias: 4.2 },
  { name: 'other', seed: 2, bands: 80, maxTokensPerFrame: 2, blankBias: 6.2 },
]

/** Writes the four files of a model. */
export async function writeModel(folder: string, model: SmallModel): Promise<void> {
  const { seed, bands, maxTokensPerFrame } = model
  const limit = maxTokensPerFrame === null ? {} : { max_tokens_per_step: maxTokensPerFrame }
  const config = { model_type: 'nemo-conformer-tdt', features_size: bands, subsampling_factor: 8, ...limit }
  await Bun.write(join(folder, 'config.json'), JSON.stringify(config))
  await Bun.write(join(folder, 'vocab.txt'), vocabularyText)
  await Bun.write(join(folder, 'encoder-model.onnx'), onnxModel(encoder(seed, bands)))
  await Bun.write(join(folder, 'decoder_joint-model.onnx'), onnxModel(decoderJoint(model, pieces.length)))
}

/** The card of a model that knows these languages. */
export const cardOf = (...languages: string[]): Card => ({
  id: 'parakeet-test',
  family: 'parakeet-test',
  name: 'Parakeet for tests',
  description: '',
  task: 'automatic-speech-recognition',
  architecture: 'parakeet',
  preference: 0,
  builtIn: false,
  license: { name: 'Apache-2.0', attribution: '', limits: null },
  files: [],
  options: {},
  languages,
  scripts: ['Latin'],
  sampleRateHz: 16_000,
  memoryBytes: 0,
  createdAt: 0,
  cloning: null,
  mixing: false,
  voices: [],
  defaultVoice: null,
  voiceAliases: {},
  sources: [],
})
