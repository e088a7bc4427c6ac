/**
 * Moonshine's two graphs, in ONNX Runtime's own format: an encoder for a window, and a decoder that outputs token after
 * token. The decoder's first step computes what it keeps of the audio; later ones get that, and their own states stay
 * where they are computed. Source: moonshine-ai/moonshine, core/moonshine-model.cpp (MIT).
 */
import { createSession } from '../../onnx/back-end.ts'
import { checkContract } from '../../onnx/contract.ts'
import { multipliesBytesExactly } from '../../onnx/exact-bytes.ts'
import type { Held, Loop, Session, Tensor, Tensors } from '../../onnx/session.ts'
import { signWeights } from '../../onnx/signed-weights.ts'
import { endToken, startToken, type Written } from './vocabulary.ts'

export const sampleRateHz = 16_000
export const encoderFile = 'encoder_model.ort'
export const decoderFile = 'decoder_model_merged.ort'
/** The encoder's strides need this many samples for one step. */
const leastSamples = 895
/** No one says more per second: a decoder that continues does not find its end. */
const tokensPerSecond = 6.5

const layers = 6
const heads = 8
const headSize = 36
const statesOf = (part: 'decoder' | 'encoder'): string[] =>
  Array.from({ length: layers }, (_, layer) => ['key', 'value'].map((kind) => `${layer}.${part}.${kind}`)).flat()
const own = statesOf('decoder')
const ofSound = statesOf('encoder')
const present = (name: string): string => `present.${name}`
const presentOfSound = new Set(ofSound.map(present))

export interface Heard {
  written: Written[]
  /** The decoder did not end by itself. */
  isCutOff: boolean
}

export class MoonshineGraphs {
  readonly #encoder: Session
  readonly #decoder: Session

  private constructor(encoder: Session, decoder: Session) {
    this.#encoder = encoder
    this.#decoder = decoder
  }

  /** @param read a file of the model, its path or its bytes @throws Error naming the file that does not fit */
  static async load(read: (name: string) => Promise<string | Uint8Array>, threads: number): Promise<MoonshineGraphs> {
    const sessions: Session[] = []
    try {
      const files = [encoderFile, decoderFile].map(read)
      // The second is unpacked while the first becomes a session; that it is missing is reported in its turn.
      for (const file of files) file.catch(() => {})
      sessions.push(await createSession(await signed(await files[0]!), { threads, onCpu: true }))
      // A step takes 2.3 ms with one thread as with two, which cost a fifth more processor time.
      sessions.push(await createSession(await files[1]!, { threads: 1, onCpu: true }))
      const [encoder, decoder] = sessions as [Session, Session]
      checkGraphs(encoder, decoder)
      return new MoonshineGraphs(encoder, decoder)
    } catch (error) {
      for (const session of sessions) await session.release()
      throw error
    }
  }

  /**
   * Transcribes a window: the most probable token at each step.
   * @param pcm mono, in [-1, 1], 16 kHz; less than 56 ms is nothing
   * @throws the signal's reason, and what ONNX Runtime refuses
   */
  async hear(pcm: Float32Array, signal: AbortSignal): Promise<Heard> {
    if (pcm.length < leastSamples) return { written: [], isCutOff: false }
    const { last_hidden_state: hidden } = await this.#encoder.run(
      { input_values: floats([1, pcm.length], pcm), attention_mask: ones(pcm.length) },
      signal,
    )
    if (hidden === undefined) throw new Error(`${encoderFile} gave no last_hidden_state`)
    // The mask counts samples, of which the graph takes every 384th; a single one is used for all.
    const sound = { encoder_hidden_states: hidden, encoder_attention_mask: ones(1) }
    const empty = Object.fromEntries([...own, ...ofSound].map((name) => [past(name), nothing]))
    const { read: first, held } = await this.#decoder.runHolding(
      { ...sound, ...empty, ...stepOf(startToken, false) },
      (output) => presentOfSound.has(output),
      signal,
    )
    const loop = this.#continued(sound, first, held)
    const most = Math.ceil((pcm.length / sampleRateHz) * tokensPerSecond)
    const written: Written[] = []
    try {
      for (let logits = given(first, 'logits'); ;) {
        const best = mostProbable(logits.data as Float32Array)
        if (best.token === endToken) return { written: [...written, best], isCutOff: false }
        written.push(best)
        if (written.length >= most) return { written, isCutOff: true }
        logits = given(await loop.step(stepOf(best.token, true), signal), 'logits')
      }
    } finally {
      loop.release()
    }
  }

  /** @param held given back here: the loop shares it */
  #continued(sound: Tensors, first: Tensors, held: Readonly<Record<string, Held>>): Loop {
    const kept = (names: readonly string[], from: Tensors): Tensors =>
      Object.fromEntries(names.map((name) => [past(name), given(from, present(name))]))
    try {
      return this.#decoder.loop({
        links: Object.fromEntries(own.map((name) => [past(name), present(name)])),
        start: kept(own, first),
        // Later steps give them back empty.
        constants: { ...sound, ...kept(ofSound, held) },
      })
    } finally {
      for (const one of Object.values(held)) one.release()
    }
  }

  async release(): Promise<void> {
    await this.#encoder.release()
    await this.#decoder.release()
  }
}

/**
 * With signed weights its products of bytes take a third of the time. The decoder's would save 7 % of a step, and to
 * sign them takes as long as 300 such savings.
 */
async function signed(encoder: string | Uint8Array): Promise<string | Uint8Array> {
  if (!(await multipliesBytesExactly())) return encoder
  const file = typeof encoder === 'string' ? await Bun.file(encoder).bytes() : encoder
  signWeights(file)
  return file
}

const past = (name: string): string => `past_key_values.${name}`

const floats = (dims: readonly number[], data: Float32Array): Tensor => ({ type: 'float32', dims, data })

const ones = (length: number): Tensor => ({
  type: 'int64',
  dims: [1, length],
  data: new BigInt64Array(length).fill(1n),
})

const nothing: Tensor = floats([1, heads, 0, headSize], new Float32Array(0))

const stepOf = (token: number, hasStates: boolean): Tensors => ({
  input_ids: { type: 'int64', dims: [1, 1], data: BigInt64Array.of(BigInt(token)) },
  use_cache_branch: { type: 'bool', dims: [1], data: Uint8Array.of(hasStates ? 1 : 0) },
})

function given(results: Readonly<Record<string, Tensor>>, name: string): Tensor {
  const tensor = results[name]
  if (tensor === undefined) throw new Error(`${decoderFile} gave no ${name}`)
  return tensor
}

/** The first of those that are alike. */
function mostProbable(logits: Float32Array): Written {
  let token = 0
  for (let at = 1; at < logits.length; at++) if (logits[at]! > logits[token]!) token = at
  let sum = 0
  for (let at = 0; at < logits.length; at++) sum += Math.exp(logits[at]! - logits[token]!)
  return { token, logProbability: -Math.log(sum) }
}

function checkGraphs(encoder: Session, decoder: Session): void {
  checkContract(encoderFile, encoder, {
    inputs: [
      { name: 'input_values', type: 'float32', dims: [null, null] },
      { name: 'attention_mask', type: 'int64', dims: [null, null] },
    ],
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: [null, null, heads * headSize] }],
  })
  const state = (name: string) => ({ name, type: 'float32', dims: [null, heads, null, headSize] })
  checkContract(decoderFile, decoder, {
    inputs: [
      { name: 'input_ids', type: 'int64', dims: [null, null] },
      { name: 'encoder_hidden_states', type: 'float32', dims: [null, null, null] },
      { name: 'encoder_attention_mask', type: 'int64', dims: [null, null] },
      { name: 'use_cache_branch', type: 'bool', dims: [null] },
      ...[...own, ...ofSound].map((name) => state(past(name))),
    ],
    outputs: [
      { name: 'logits', type: 'float32', dims: null },
      ...[...own, ...ofSound].map((name) => ({ name: present(name), type: 'float32', dims: null })),
    ],
  })
}
