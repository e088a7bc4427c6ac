/**
 * The two graphs of a Whisper model, as Hugging Face's optimum exports them: an encoder for a window, and a decoder
 * with two branches in one file. The first branch reads a whole prompt and returns the states of all attentions; the
 * second takes those states and one more token, and returns only the decoder's own states: those of the audio stay as
 * the first branch made them.
 */
import type { Card } from '../../domain/card.ts'
import { discard } from '../../onnx/discard.ts'
import type { Loop, Port, Session, Tensor, Tensors } from '../../onnx/session.ts'
import { encoderPositions, type WhisperConfig } from './config.ts'
import { windowFrames } from './features.ts'
import { pickRows, pickTokens } from './rows.ts'
import {
  decoderFile,
  encoderFile,
  type Kind,
  openSessions,
  pastOf,
  presentOf,
  stateNames,
  rowsInput,
  wantedInput,
} from './sessions.ts'
import type { WhisperSessions } from './sessions.ts'

/** Windows decoded together have their states in memory together: at most this many bytes. */
const batchBytes = 256e6
const batchMax = 8

/** The encoder's output for windows: one row each. */
export type Encoded = Tensor

export interface FirstPass {
  /** For each window and each wanted token of the prompt, one value per vocabulary entry: the next token. */
  logits: Float32Array
  /**
   * For each layer the attention of its heads, softmaxed: [windows, heads, tokens, positions]; null: the graph does not
   * output it.
   */
  attentions: readonly Float32Array[] | null
  /** Continues from here, as often as wanted. @param rows which windows, ascending; absent: all */
  follow(rows?: readonly number[]): Steps
  /** Gives the states back at once: those of a window of Whisper base take 37 MB, which the collector does not see. */
  release(): void
}

export interface Steps {
  /** @param ids one for each window @returns what follows them, one window after another */
  step(ids: readonly number[], signal?: AbortSignal): Promise<Float32Array>
  release(): void
}

export class WhisperGraphs {
  readonly #sessions: WhisperSessions
  readonly #config: WhisperConfig
  /** Whether the decoder outputs its attention to the audio. */
  readonly hasAttentions: boolean
  /** Each row is rounded by itself, so windows that are heard together do not share the range of their numbers. */
  readonly isRewritten: boolean
  /** Windows that can be decoded together, by what the decoder claims; 1: one at a time. */
  readonly maxBatch: number

  private constructor(sessions: WhisperSessions, config: WhisperConfig) {
    this.#sessions = sessions
    this.#config = config
    const { first, next } = sessions
    this.isRewritten = first !== next
    const outputs = new Set(first.outputs.map(({ name }) => name))
    this.hasAttentions = attentionNames(config).every((name) => outputs.has(name))
    const takesBatches = [...first.inputs, ...next.inputs].every(takesRows)
    this.maxBatch = takesBatches ? batchFor(config, floatTypeOf(next, pastOf('0.encoder.key'))) : 1
  }

  /** @param weights of the model's card @throws Error that names the file that is missing or is another graph */
  static async load(
    filesDir: string,
    config: WhisperConfig,
    threads: number,
    weights: Card['weights'] = null,
  ): Promise<WhisperGraphs> {
    return new WhisperGraphs(await openSessions(filesDir, config, threads, weights), config)
  }

  /** One window. @param features bands by 3,000 frames @throws the signal's reason */
  async encode(features: Float32Array, signal?: AbortSignal): Promise<Encoded> {
    const sound: Tensor = { type: 'float32', dims: [1, this.#config.bands, windowFrames], data: features }
    const input_features = asType(sound, floatTypeOf(this.#sessions.encoder, 'input_features'))
    const { last_hidden_state: encoded } = await this.#sessions.encoder.run({ input_features }, signal)
    if (encoded === undefined) throw new Error(`${encoderFile} gave no output`)
    return asType(encoded, floatTypeOf(this.#sessions.first, 'encoder_hidden_states'))
  }

  /** As if from the encoder. @param values of all positions, one after another */
  encoded(values: Float32Array): Encoded {
    const dims = [1, values.length / this.#config.width, this.#config.width]
    return asType({ type: 'float32', dims, data: values }, floatTypeOf(this.#sessions.first, 'encoder_hidden_states'))
  }

  /**
   * All windows begin with the same prompt.
   * @param wanted tokens of the prompt whose logits are needed, by their place; absent: all. For a long prompt, all of
   * them take fifty megabytes, and as long as half of an encoder run
   * @throws the signal's reason
   */
  async first(
    prompt: readonly number[],
    encoded: Encoded,
    signal?: AbortSignal,
    wanted: readonly number[] = Array.from(prompt.keys()),
  ): Promise<FirstPass> {
    const { layers, heads, headSize } = this.#config
    const rows = encoded.dims[0]!
    const empty = (name: string): Tensor =>
      asType(
        { type: 'float32', dims: [rows, heads, 0, headSize], data: new Float32Array(0) },
        floatTypeOf(this.#sessions.first, name),
      )
    const ids = Array.from({ length: rows }, () => prompt)
    const feeds = {
      ...this.#read(ids),
      encoder_hidden_states: encoded,
      use_cache_branch: flag(false),
      [wantedInput]: { type: 'int64', dims: [wanted.length], data: BigInt64Array.from(wanted, BigInt) } as const,
      ...Object.fromEntries(stateNames(layers).map((name) => [pastOf(name), empty(pastOf(name))])),
    }
    const { first } = this.#sessions
    // Those of the sound are 37 MB for a window of Whisper base, and only steps read them.
    const ofSound = new Set(stateNames(layers, ['encoder']).map(presentOf))
    const { read, held } = await first.runHolding(taken(first, feeds), (name) => ofSound.has(name), signal)
    const output = (name: string): Tensor => {
      const tensor = held[name] ?? read[name]
      if (tensor === undefined) throw new Error(`${decoderFile} gave no ${name}`)
      return tensor
    }
    const states = (kind: Kind) =>
      Object.fromEntries(stateNames(layers, [kind]).map((name) => [pastOf(name), output(presentOf(name))]))
    const [own, sound] = [states('decoder'), { encoder_hidden_states: encoded, ...states('encoder') }]
    return {
      logits: asFloat32(takes(first, wantedInput) ? output('logits') : pickTokens(output('logits'), wanted)),
      attentions: this.hasAttentions ? attentionNames(this.#config).map((name) => asFloat32(output(name))) : null,
      follow: (rows) => this.#follow(picked(own, rows), picked(sound, rows)),
      release: () => {
        for (const one of Object.values(held)) one.release()
        for (const { data } of Object.values(own)) discard(data)
      },
    }
  }

  #follow(start: Tensors, sound: Tensors): Steps {
    const names = stateNames(this.#config.layers, ['decoder'])
    const links = Object.fromEntries(names.map((name) => [pastOf(name), presentOf(name)]))
    const { next } = this.#sessions
    const constants = taken(next, { ...sound, use_cache_branch: flag(true) })
    const loop: Loop = next.loop({ links, start, constants })
    return {
      step: async (ids, signal) => {
        const { logits } = await loop.step(this.#read(ids.map((id) => [id])), signal)
        if (logits === undefined) throw new Error(`${decoderFile} gave no logits`)
        return asFloat32(logits)
      },
      release: () => loop.release(),
    }
  }

  /** What decoders take for tokens. */
  #read(ids: readonly (readonly number[])[]): Tensors {
    const { rows } = this.#sessions
    return { input_ids: idsOf(ids), ...(rows !== null && { [rowsInput]: rows.of(ids) }) }
  }

  async release(): Promise<void> {
    const { encoder, first, next, rows } = this.#sessions
    for (const session of new Set([encoder, first, next])) await session.release()
    rows?.close()
  }
}

const attentionNames = ({ layers }: WhisperConfig): string[] =>
  Array.from({ length: layers }, (_, layer) => `cross_attentions.${layer}`)

function floatTypeOf(session: Session, input: string): FloatType {
  const port: Port | undefined = session.inputs.find(({ name }) => name === input)
  return port?.type === 'float16' ? 'float16' : 'float32'
}

/** Whether a graph has a dynamic number of windows. */
const takesRows = ({ name, dims }: Port): boolean =>
  name === 'use_cache_branch' || name === wantedInput || typeof dims[0] === 'string'

/** Each window has the keys and values of its sound, and those of all that is written. */
function batchFor({ layers, width, maxTokens }: WhisperConfig, type: FloatType): number {
  const rowBytes = 2 * layers * width * (encoderPositions + maxTokens) * (type === 'float16' ? 2 : 4)
  return Math.min(batchMax, Math.max(1, Math.floor(batchBytes / rowBytes)))
}

/** What the graph asks for: one with two branches needs more than either. */
const taken = (session: Session, tensors: Tensors): Tensors =>
  Object.fromEntries(Object.entries(tensors).filter(([name]) => takes(session, name)))

const takes = ({ inputs }: Session, input: string): boolean => inputs.some(({ name }) => name === input)

const picked = (tensors: Tensors, rows: readonly number[] | undefined): Tensors =>
  rows === undefined
    ? tensors
    : Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, pickRows(tensor, rows)]))

const idsOf = (rows: readonly (readonly number[])[]): Tensor => ({
  type: 'int64',
  dims: [rows.length, rows[0]!.length],
  data: BigInt64Array.from(rows.flat(), BigInt),
})

const flag = (value: boolean): Tensor => ({ type: 'bool', dims: [1], data: Uint8Array.of(value ? 1 : 0) })

// Graphs of half precision take and give numbers of 16 bits in some places and of 32 in others, each export in its
// own; here is what they are turned into. A tensor of 16 bits carries the bits themselves.
type FloatType = 'float32' | 'float16'

/** @returns the same tensor when it is of that type already */
function asType(tensor: Tensor, type: FloatType): Tensor {
  if (tensor.type === type) return tensor
  const values = asFloat32(tensor)
  if (type === 'float32') return { type, dims: tensor.dims, data: values }
  return { type, dims: tensor.dims, data: new Uint16Array(Float16Array.from(values).buffer) }
}

/** @throws Error for a tensor of whole numbers */
function asFloat32({ type, data }: Tensor): Float32Array {
  if (data instanceof Float32Array) return data
  if (type !== 'float16' || !(data instanceof Uint16Array)) throw new Error(`numbers came as ${type}`)
  return Float32Array.from(new Float16Array(data.buffer, data.byteOffset, data.length))
}
