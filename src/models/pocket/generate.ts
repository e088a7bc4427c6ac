/**
 * One chunk of text to audio, frame by frame (80 ms): the language model takes what was said and gives a condition, the
 * flow turns noise into the next frame under that condition, and the decoder makes samples of several frames at once.
 * As in Kyutai's pocket-tts, where the numbers come from.
 */
import type { Loop, Tensor, Tensors } from '../../onnx/session.ts'
import type { Bundle } from './bundle.ts'
import type { Graphs } from './graphs.ts'
import type { Manner } from './voice-state.ts'
import type { Noise } from './noise.ts'
import { linksOf, startStates } from './states.ts'

export interface Utterance {
  /** Tokens of the prepared text. */
  ids: readonly number[]
  /** At least 1. */
  framesAfterEos: number
  /** The states that the voice is. */
  start: Tensors
  /** Positions that the voice takes. */
  voiceLength: number
  noise: Noise
}

export interface Block {
  pcm: Float32Array
  isFirst: boolean
  isLast: boolean
  /**
   * The share of frames made, of all that the text can take: a lower bound of how much of the whole has been spoken.
   */
  share: number
  /** This is the last block because no more frames were allowed: the model had not said that it is through. */
  isCut: boolean
}

const eosLogit = -4
/** Speech has fewer frames than this: the reference's estimate of the longest that a text can take. */
const tokensPerS = 3
const spareS = 2

/** Frames that are decoded at once: two, so that audio starts early, then more, because that takes less time. */
const blockFrames = [2, 3, 4, 6, 9, 13, 15] as const

/**
 * Ends when the model says so, or at the most that the text can take: a model that does not end would fill its memory.
 * @throws the signal's reason once it aborts
 */
export async function* generate(
  graphs: Graphs,
  bundle: Bundle,
  manner: Manner,
  utterance: Utterance,
  signal: AbortSignal,
): AsyncGenerator<Block> {
  const limit = frameLimit(bundle, manner, utterance)
  const decoder = graphs.decoder.loop({ links: linksOf(bundle.mimiStates), start: graphs.decoderStart })
  let waiting: Float32Array[] = []
  let blocks = 0
  let frames = 0
  try {
    for await (const { latent, isLast, isCut } of latents(graphs, bundle, manner, utterance, limit, signal)) {
      waiting.push(latent)
      if (!isLast && waiting.length < blockFrames[Math.min(blocks, blockFrames.length - 1)]!) continue
      frames += waiting.length
      blocks++
      const pcm = await decode(decoder, bundle, waiting, signal)
      waiting = []
      yield { pcm, isFirst: blocks === 1, isLast, share: frames / limit, isCut }
    }
  } finally {
    decoder.release()
  }
}

/** @throws Error when the voice leaves no room */
function frameLimit({ capacity, framesPerS }: Bundle, { frames }: Manner, { ids, voiceLength }: Utterance): number {
  const room = capacity - voiceLength - ids.length
  if (room < 1)
    throw new Error(`the voice takes ${voiceLength} of ${capacity} positions, so there is no room left to speak`)
  return Math.min(room, frames?.() ?? Math.ceil((ids.length / tokensPerS + spareS) * framesPerS))
}

interface Latent {
  latent: Float32Array
  isLast: boolean
  isCut: boolean
}

async function* latents(
  graphs: Graphs,
  bundle: Bundle,
  manner: Manner,
  { ids, framesAfterEos, start, noise }: Utterance,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Latent> {
  const { latentDim, conditioningDim } = bundle
  const noText = floats([1, 0, conditioningDim])
  const loop = graphs.main.loop({ links: linksOf(bundle.flowStates), start })
  try {
    const token_ids: Tensor = { type: 'int64', dims: [1, ids.length], data: BigInt64Array.from(ids, BigInt) }
    const { embeddings } = await graphs.text.run({ token_ids }, signal)
    await loop.step({ sequence: floats([1, 0, latentDim]), text_embeddings: embeddings! }, signal)
    // The graph takes NaN for the start of speech.
    let sequence = floats([1, 1, latentDim], new Float32Array(latentDim).fill(NaN))
    let end = limit
    let isThrough = manner.frames !== null
    for (let frame = 0; frame < end; frame++) {
      const { conditioning, eos_logit } = await loop.step({ sequence, text_embeddings: noText }, signal)
      if (!isThrough && frame >= manner.eosGuardFrames && Number(eos_logit!.data[0]) > eosLogit) {
        isThrough = true
        end = Math.min(limit, frame + framesAfterEos)
      }
      const latent = await flow(graphs, manner, conditioning!, noise(latentDim), signal)
      const isLast = frame + 1 === end
      yield { latent, isLast, isCut: isLast && !isThrough }
      sequence = floats([1, 1, latentDim], latent)
    }
  } finally {
    loop.release()
  }
}

/** Lagrangian self-distillation (https://arxiv.org/abs/2505.18825): the flow says where to go from time s to time t. */
async function flow(
  { flow: graph }: Graphs,
  { temperature, flowSteps }: Manner,
  conditioning: Tensor,
  noise: Float32Array,
  signal: AbortSignal,
): Promise<Float32Array> {
  const deviation = Math.sqrt(temperature)
  const x = noise.map((number) => number * deviation)
  for (let step = 0; step < flowSteps; step++) {
    const s = floats([1, 1], Float32Array.of(step / flowSteps))
    const t = floats([1, 1], Float32Array.of((step + 1) / flowSteps))
    const { flow_dir } = await graph.run({ c: conditioning, s, t, x: floats([1, x.length], x) }, signal)
    const direction = flow_dir!.data as Float32Array
    for (let at = 0; at < x.length; at++) x[at]! += Math.fround(direction[at]! / flowSteps)
  }
  return x
}

async function decode(
  decoder: Loop,
  { latentDim }: Bundle,
  frames: readonly Float32Array[],
  signal: AbortSignal,
): Promise<Float32Array> {
  const latent = floats([1, frames.length, latentDim])
  for (const [at, frame] of frames.entries()) (latent.data as Float32Array).set(frame, at * latentDim)
  const { audio_frame } = await decoder.step({ latent }, signal)
  return audio_frame!.data as Float32Array
}

/** What the model remembers about a voice. @param heard float32 [1, frames, conditioningDim] */
export async function hear(graphs: Graphs, { flowStates, latentDim }: Bundle, heard: Tensor): Promise<Tensors> {
  const loop = graphs.main.loop({ links: linksOf(flowStates), start: startStates(flowStates) })
  try {
    await loop.step({ sequence: floats([1, 0, latentDim]), text_embeddings: heard })
    return await loop.states()
  } finally {
    loop.release()
  }
}

function floats(dims: readonly number[], data?: Float32Array): Tensor {
  return { type: 'float32', dims, data: data ?? new Float32Array(dims.reduce((size, length) => size * length, 1)) }
}
