/**
 * Greedy decoding of a token-and-duration transducer (H. Xu et al., "Efficient Sequence Transduction by Jointly
 * Predicting Tokens and Durations", 2023), by the rule of onnx-asr, which runs the published graph.
 *
 * Each step takes one frame of the encoder and the last token, and returns the next token, if any, and how many frames
 * to advance. Only tokens change the state.
 */
import type { Session, Tensor } from '../../onnx/session.ts'

/** A token written. */
export interface Emission {
  token: number
  /** The encoder frame where it was output, and how many frames it takes. */
  frame: number
  frames: number
  /** Natural logarithm of its probability among all tokens and the blank. */
  logprob: number
}

export interface TdtOptions {
  /** Tokens, the blank being the last of them. */
  vocabulary: number
  /** A frame that never ends is left after this many tokens. */
  maxTokensPerFrame: number
}

/** A window as the encoder outputs it. */
export interface Encoded {
  /** [1, size, frames or more]: frame by frame within each of its numbers. */
  outputs: Tensor
  /** Frames that belong to the window. */
  frames: number
}

/** How many frames to advance: these follow the tokens in the graph's output; each index is a duration. */
export const durations = 5

const one: Tensor = { type: 'int32', dims: [1], data: Int32Array.of(1) }

export class TdtDecoder {
  readonly #session: Session
  readonly #options: TdtOptions

  /** @param session the decoder and joint network in one graph */
  constructor(session: Session, options: TdtOptions) {
    this.#session = session
    this.#options = options
  }

  /** @throws the signal's reason; Error when the graph does not fit the vocabulary */
  async decode({ outputs, frames }: Encoded, signal: AbortSignal): Promise<Emission[]> {
    const { vocabulary, maxTokensPerFrame } = this.#options
    const blank = vocabulary - 1
    const frameAt = columnsOf(outputs)
    const emissions: Emission[] = []
    let states = this.#noStates()
    let onFrame = 0
    for (let frame = 0; frame < frames;) {
      const step = await this.#step(frameAt(frame), emissions.at(-1)?.token ?? blank, states, signal)
      const token = largest(step.logits, 0, vocabulary)
      const skip = largest(step.logits, vocabulary, vocabulary + durations) - vocabulary
      if (token !== blank) {
        emissions.push({ token, frame, frames: skip, logprob: logprobOf(step.logits.subarray(0, vocabulary), token) })
        states = step.states
        onFrame++
      }
      const isOver = token === blank || onFrame === maxTokensPerFrame
      const advance = skip === 0 && isOver ? 1 : skip
      if (advance > 0) onFrame = 0
      frame += advance
    }
    return emissions
  }

  async #step(
    frame: Tensor,
    token: number,
    states: States,
    signal: AbortSignal,
  ): Promise<{ logits: Float32Array; states: States }> {
    const targets: Tensor = { type: 'int32', dims: [1, 1], data: Int32Array.of(token) }
    const feeds = { encoder_outputs: frame, targets, target_length: one, ...states }
    const { outputs, output_states_1, output_states_2 } = await this.#session.run(feeds, signal)
    const logits = outputs?.data
    if (output_states_1 === undefined || output_states_2 === undefined || !(logits instanceof Float32Array)) {
      throw new Error('decoder_joint-model.onnx gave no outputs')
    }
    const expected = this.#options.vocabulary + durations
    if (logits.length !== expected) {
      throw new Error(`decoder_joint-model.onnx gives ${logits.length} numbers, but vocab.txt requires ${expected}`)
    }
    return { logits, states: { input_states_1: output_states_1, input_states_2: output_states_2 } }
  }

  #noStates(): States {
    const zeros = (name: keyof States): Tensor => {
      const dims = this.#session.inputs.find((port) => port.name === name)?.dims ?? []
      // Only the number of windows in a batch may be dynamic.
      const known = dims.map((length) => (typeof length === 'number' ? length : 1))
      return { type: 'float32', dims: known, data: new Float32Array(known.reduce((size, length) => size * length, 1)) }
    }
    return { input_states_1: zeros('input_states_1'), input_states_2: zeros('input_states_2') }
  }
}

// A type and not an interface, so that it can be spread into what a session is fed.
type States = Record<'input_states_1' | 'input_states_2', Tensor>

/** Turns [1, size, frames] round, so that each frame is one piece of memory. */
function columnsOf({ data, dims }: Tensor): (frame: number) => Tensor {
  const [, size = 0, frames = 0] = dims
  const columns = new Float32Array(size * frames)
  for (let row = 0; row < size; row++) {
    for (let frame = 0; frame < frames; frame++) columns[frame * size + row] = Number(data[row * frames + frame])
  }
  const at = (frame: number) => columns.subarray(frame * size, (frame + 1) * size)
  return (frame) => ({ type: 'float32', dims: [1, size, 1], data: at(frame) })
}

/** The index of the largest from `start` to before `end`; of equals, the first. */
function largest(values: Float32Array, start: number, end: number): number {
  let best = start
  for (let i = start + 1; i < end; i++) if (values[i]! > values[best]!) best = i
  return best
}

/** @param token of the largest logit */
function logprobOf(logits: Float32Array, token: number): number {
  const largestLogit = logits[token]!
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - largestLogit)
  return -Math.log(sum)
}
