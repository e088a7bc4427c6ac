/**
 * Where somebody speaks: Silero VAD v6 (https://github.com/snakers4/silero-vad, MIT), run window by window with its
 * recurrent state. The graph comes from a package made for browsers; nothing but that one file of it is used.
 *
 * The graph wants each window of 512 samples with the 64 samples before it. Without them it answers, but hears nothing.
 */
import graph from '@ricky0123/vad-web/dist/silero_vad_v6.onnx' with { type: 'file' }
import { checkContract } from '../contract.ts'
import { createSession, type Session, type Tensor } from '../session.ts'
import { speechSpans, type Span } from './spans.ts'

export const detectorRateHz = 16_000
const windowSamples = 512
const contextSamples = 64
const windowMs = (1000 * windowSamples) / detectorRateHz
const stateDims = [2, 1, 128] as const

export interface SpeechDetector {
  /**
   * @param pcm mono, in [-1, 1], 16 kHz
   * @throws the signal's reason once it aborts: between two windows, the engine's loop has its turn after each
   */
  detect(pcm: Float32Array, signal: AbortSignal): Promise<Span[]>
  /** The probability of speech in each window; the last one is filled up with silence. */
  probabilities(pcm: Float32Array, signal: AbortSignal): Promise<number[]>
  unload(): Promise<void>
}

/** @throws Error in ONNX Runtime's words */
export async function loadDetector(): Promise<SpeechDetector> {
  // A window is too little work to share among threads.
  const session = await createSession(await Bun.file(graph).bytes(), { threads: 1 })
  checkContract('silero_vad_v6.onnx', session, {
    inputs: [
      { name: 'input', type: 'float32', dims: [null, null] },
      { name: 'state', type: 'float32', dims: [2, null, 128] },
      { name: 'sr', type: 'int64', dims: [] },
    ],
    outputs: [
      { name: 'output', type: 'float32', dims: [null, 1] },
      { name: 'stateN', type: 'float32', dims: [null, null, null] },
    ],
  })
  const probabilities = (pcm: Float32Array, signal: AbortSignal) => run(session, pcm, signal)
  return {
    probabilities,
    async detect(pcm, signal) {
      return speechSpans(await probabilities(pcm, signal), windowMs, (1000 * pcm.length) / detectorRateHz)
    },
    unload: () => session.release(),
  }
}

async function run(session: Session, pcm: Float32Array, signal: AbortSignal): Promise<number[]> {
  const sr: Tensor = { type: 'int64', dims: [], data: BigInt64Array.of(BigInt(detectorRateHz)) }
  let state: Tensor = { type: 'float32', dims: stateDims, data: new Float32Array(2 * 128) }
  const found: number[] = []
  for (let at = 0; at < pcm.length; at += windowSamples) {
    signal.throwIfAborted()
    const { output, stateN } = await session.run({ input: windowAt(pcm, at), state, sr })
    const probability = output?.data[0]
    if (stateN === undefined || typeof probability !== 'number') throw new Error('the detector gave no probability')
    found.push(probability)
    state = stateN
  }
  return found
}

function windowAt(pcm: Float32Array, at: number): Tensor {
  const data = new Float32Array(contextSamples + windowSamples)
  const from = Math.max(0, at - contextSamples)
  data.set(pcm.subarray(from, at + windowSamples), contextSamples - (at - from))
  return { type: 'float32', dims: [1, data.length], data }
}
