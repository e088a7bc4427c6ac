/**
 * The two graphs of a Whisper model, in the shape that Hugging Face's optimum gives them: an encoder that hears a
 * window, and a decoder with two branches in one file. The first branch reads a whole prompt and returns the states of
 * all attentions; the second takes those states and one token more, and returns the decoder's own states only: those of
 * the sound stay as the first branch made them.
 */
import { join } from 'node:path'
import { checkContract, numbered } from '../contract.ts'
import { createSession, type Loop, type Port, type Session, type Tensor, type Tensors } from '../session.ts'
import type { WhisperConfig } from './config.ts'
import { windowFrames } from './features.ts'
import { asFloat32, asType, type FloatType } from './floats.ts'

const encoderFile = 'encoder_model.onnx'
export const decoderFile = 'decoder_model_merged.onnx'

/** What a window sounds like to the decoder. */
export type Encoded = Tensor

export interface FirstPass {
  /** For each token of the prompt, in rows of the vocabulary's length: what follows. */
  logits: Float32Array
  /** For each layer the attention of its heads, softmaxed: [heads, tokens, positions]; null: the graph does not say. */
  attentions: readonly Float32Array[] | null
  /** Goes on from here, as often as wanted. */
  follow(): Steps
}

export interface Steps {
  /** @returns what follows this token */
  step(id: number): Promise<Float32Array>
  release(): void
}

export class WhisperGraphs {
  readonly #encoder: Session
  readonly #decoder: Session
  readonly #config: WhisperConfig
  /** Whether the decoder says which sound it wrote a token by. */
  readonly hasAttentions: boolean

  private constructor(encoder: Session, decoder: Session, config: WhisperConfig) {
    this.#encoder = encoder
    this.#decoder = decoder
    this.#config = config
    const outputs = new Set(decoder.outputs.map(({ name }) => name))
    this.hasAttentions = attentionNames(config).every((name) => outputs.has(name))
  }

  /** @throws Error that names the file that is missing or is another graph */
  static async load(filesDir: string, config: WhisperConfig, threads: number): Promise<WhisperGraphs> {
    const encoder = await createSession(join(filesDir, encoderFile), { threads })
    try {
      checkEncoder(encoder, config)
      const decoder = await createSession(join(filesDir, decoderFile), { threads })
      try {
        checkDecoder(decoder, config)
        return new WhisperGraphs(encoder, decoder, config)
      } catch (error) {
        await decoder.release()
        throw error
      }
    } catch (error) {
      await encoder.release()
      throw error
    }
  }

  /** @param features bands by 3,000 frames */
  async encode(features: Float32Array): Promise<Encoded> {
    const dims = [1, this.#config.bands, windowFrames]
    const { last_hidden_state: encoded } = await this.#encoder.run({
      input_features: asType({ type: 'float32', dims, data: features }, floatTypeOf(this.#encoder, 'input_features')),
    })
    if (encoded === undefined) throw new Error(`${encoderFile} gave no output`)
    return asType(encoded, floatTypeOf(this.#decoder, 'encoder_hidden_states'))
  }

  /** As if the encoder had said so. @param values of all positions, one after another */
  encoded(values: Float32Array): Encoded {
    const dims = [1, values.length / this.#config.width, this.#config.width]
    return asType({ type: 'float32', dims, data: values }, floatTypeOf(this.#decoder, 'encoder_hidden_states'))
  }

  async first(prompt: readonly number[], encoded: Encoded): Promise<FirstPass> {
    const { layers, heads, headSize } = this.#config
    const empty = (name: string): Tensor =>
      asType(
        { type: 'float32', dims: [1, heads, 0, headSize], data: new Float32Array(0) },
        floatTypeOf(this.#decoder, name),
      )
    const outputs = await this.#decoder.run({
      input_ids: idsOf(prompt),
      encoder_hidden_states: encoded,
      use_cache_branch: flag(false),
      ...Object.fromEntries(stateNames(layers).map((name) => [pastOf(name), empty(pastOf(name))])),
    })
    const output = (name: string): Tensor => {
      const tensor = outputs[name]
      if (tensor === undefined) throw new Error(`${decoderFile} gave no ${name}`)
      return tensor
    }
    const states = (kind: Kind) =>
      Object.fromEntries(stateNames(layers, [kind]).map((name) => [pastOf(name), output(presentOf(name))]))
    const start = states('decoder')
    const constants = { encoder_hidden_states: encoded, use_cache_branch: flag(true), ...states('encoder') }
    return {
      logits: asFloat32(output('logits')),
      attentions: this.hasAttentions ? attentionNames(this.#config).map((name) => asFloat32(output(name))) : null,
      follow: () => this.#follow(start, constants),
    }
  }

  #follow(start: Tensors, constants: Tensors): Steps {
    const names = stateNames(this.#config.layers, ['decoder'])
    const links = Object.fromEntries(names.map((name) => [pastOf(name), presentOf(name)]))
    const loop: Loop = this.#decoder.loop({ links, start, constants })
    return {
      async step(id) {
        const { logits } = await loop.step({ input_ids: idsOf([id]) })
        if (logits === undefined) throw new Error(`${decoderFile} gave no logits`)
        return asFloat32(logits)
      },
      release: () => loop.release(),
    }
  }

  async release(): Promise<void> {
    await this.#encoder.release()
    await this.#decoder.release()
  }
}

type Kind = 'decoder' | 'encoder'

/** `<layer>.<kind>.<part>`, which follows `past_key_values.` in an input and `present.` in an output. */
const stateNames = (layers: number, kinds: readonly Kind[] = ['decoder', 'encoder']): string[] =>
  Array.from({ length: layers }, (_, layer) =>
    kinds.flatMap((kind) => ['key', 'value'].map((part) => `${layer}.${kind}.${part}`)),
  ).flat()
const pastOf = (name: string): string => `past_key_values.${name}`
const presentOf = (name: string): string => `present.${name}`
const attentionNames = ({ layers }: WhisperConfig): string[] =>
  Array.from({ length: layers }, (_, layer) => `cross_attentions.${layer}`)

const floats = ['float32', 'float16'] as const

function checkEncoder(encoder: Session, { bands, width }: WhisperConfig): void {
  checkContract(encoderFile, encoder, {
    inputs: [{ name: 'input_features', type: floats, dims: [null, bands, windowFrames] }],
    outputs: [{ name: 'last_hidden_state', type: floats, dims: [null, null, width] }],
  })
}

function checkDecoder(decoder: Session, { layers, heads, headSize, width, vocabulary }: WhisperConfig): void {
  const states = (pattern: string) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].flatMap((part) =>
      numbered(layers, `${pattern}.*.${part}`, { type: floats, dims: [null, heads, null, headSize] }),
    )
  checkContract(decoderFile, decoder, {
    inputs: [
      { name: 'input_ids', type: 'int64', dims: [null, null] },
      { name: 'encoder_hidden_states', type: floats, dims: [null, null, width] },
      ...states('past_key_values'),
      { name: 'use_cache_branch', type: 'bool', dims: [1] },
    ],
    outputs: [{ name: 'logits', type: floats, dims: [null, null, vocabulary] }, ...states('present')],
  })
}

function floatTypeOf(session: Session, input: string): FloatType {
  const port: Port | undefined = session.inputs.find(({ name }) => name === input)
  return port?.type === 'float16' ? 'float16' : 'float32'
}

const idsOf = (ids: readonly number[]): Tensor => ({
  type: 'int64',
  dims: [1, ids.length],
  data: BigInt64Array.from(ids, BigInt),
})

const flag = (value: boolean): Tensor => ({ type: 'bool', dims: [1], data: Uint8Array.of(value ? 1 : 0) })
