/**
 * Detects speech: Silero VAD v6 (https://github.com/snakers4/silero-vad, MIT), run with its recurrent state, as many
 * windows at once as there are (`graph.ts`). The graph comes from a package made for browsers; only that one file of it
 * is used.
 *
 * The graph takes each window of 512 samples with the 64 samples before it. Without them it answers, but detects
 * nothing.
 */
import graph from '@ricky0123/vad-web/dist/silero_vad_v6.onnx' with { type: 'file' }
import { unpacked } from '../../embedded/packed.ts'
import { createSession } from '../../onnx/back-end.ts'
import { checkContract } from '../../onnx/contract.ts'
import type { Session, Tensor } from '../../onnx/session.ts'
import { manyWindows, width } from './graph.ts'
import { BurstFinder, isSpeech, type Span } from './bursts.ts'

export const detectorRateHz = 16_000
export const windowSamples = 512
const contextSamples = 64
/** A second: more would save nothing, and hold the engine's loop for longer than a millisecond. */
export const windowsAtOnce = 32
export const windowMs = (1000 * windowSamples) / detectorRateHz
const stateDims = [2, 1, width] as const

export interface SpeechDetector {
  readonly onCpu: true
  /**
   * @param pcm mono, in [-1, 1], 16 kHz
   * @throws the signal's reason once it aborts: between two seconds, the engine's loop has its turn after each
   */
  detect(pcm: Float32Array, signal: AbortSignal): Promise<Span[]>
  /** The probability of speech in each window; the last one is filled up with silence. */
  probabilities(pcm: Float32Array, signal: AbortSignal): Promise<number[]>
  /** For audio that arrives bit by bit; many streams may be active at once. */
  listen(): Listening
  unload(): Promise<void>
}

/** One stream of audio. */
export interface Listening {
  /**
   * @param windows the next samples, 512 for each window and at most `windowsAtOnce` windows; missing ones at the end
   * count as silence
   * @returns the probability of speech in each
   */
  next(windows: Float32Array): Promise<Float32Array>
  /** Harmless when repeated. */
  release(): void
}

/** @throws Error in ONNX Runtime's words */
export async function loadDetector(): Promise<SpeechDetector> {
  // It is too little work to split among threads, or to send to a graphics card or another thread: 0.035 ms of CPU for
  // a window among eight, 0.09 for one alone.
  const session = await createSession(manyWindows(await unpacked(graph)), {
    threads: 1,
    onCpu: true,
    inline: true,
  })
  checkContract('silero_vad_v6.onnx', session, {
    inputs: [
      { name: 'input', type: 'float32', dims: [null, null] },
      { name: 'state', type: 'float32', dims: stateDims },
    ],
    outputs: [
      { name: 'output', type: 'float32', dims: [null, 1] },
      { name: 'stateN', type: 'float32', dims: stateDims },
    ],
  })
  const listen = () => startListening(session)
  const probabilities = (pcm: Float32Array, signal: AbortSignal) => listenToAll(listen(), pcm, signal)
  return {
    onCpu: true,
    probabilities,
    async detect(pcm, signal) {
      return speechSpans(await probabilities(pcm, signal), windowMs, (1000 * pcm.length) / detectorRateHz)
    },
    listen,
    unload: () => session.release(),
  }
}

async function listenToAll(listening: Listening, pcm: Float32Array, signal: AbortSignal): Promise<number[]> {
  const found: number[] = []
  try {
    for (let at = 0; at < pcm.length; at += windowsAtOnce * windowSamples) {
      signal.throwIfAborted()
      found.push(...(await listening.next(pcm.subarray(at, at + windowsAtOnce * windowSamples))))
    }
  } finally {
    listening.release()
  }
  return found
}

function startListening(session: Session): Listening {
  const state: Tensor = { type: 'float32', dims: stateDims, data: new Float32Array(2 * width) }
  const loop = session.loop({ links: { state: 'stateN' }, start: { state } })
  const before = new Float32Array(contextSamples)
  return {
    async next(windows) {
      const count = Math.ceil(windows.length / windowSamples)
      const input = new Float32Array(count * (contextSamples + windowSamples))
      for (let window = 0; window < count; window++) {
        const at = window * (contextSamples + windowSamples)
        const samples = windows.subarray(window * windowSamples, (window + 1) * windowSamples)
        input.set(before, at)
        input.set(samples, at + contextSamples)
        before.set(input.subarray(at + windowSamples, at + windowSamples + contextSamples))
      }
      const { output } = await loop.step({
        input: { type: 'float32', dims: [count, contextSamples + windowSamples], data: input },
      })
      if (!(output?.data instanceof Float32Array)) throw new Error('the detector gave no probabilities')
      return output.data
    },
    release: () => loop.release(),
  }
}

// From the probability of speech in each window to spans of speech, as Silero's `get_speech_timestamps` makes them:
// short bursts dropped, the rest padded.
const paddingMs = 30

/** @param probabilities one for each window of `windowMs` @param totalMs where the sound ends */
export function speechSpans(probabilities: readonly number[], windowMs: number, totalMs: number): Span[] {
  return padded(findBursts(probabilities, windowMs, totalMs).filter(isSpeech), totalMs)
}

function findBursts(probabilities: readonly number[], windowMs: number, totalMs: number): Span[] {
  const finder = new BurstFinder(windowMs)
  const bursts = probabilities.flatMap((probability) => finder.push(probability) ?? [])
  const last = finder.open
  return last === null ? bursts : [...bursts, { startMs: last.startMs, endMs: totalMs }]
}

/** Neighbours share a gap that is too short for the padding of both. */
function padded(bursts: readonly Span[], totalMs: number): Span[] {
  const room = (gapMs: number) => (gapMs < 2 * paddingMs ? gapMs / 2 : paddingMs)
  return bursts.map(({ startMs, endMs }, index) => {
    const before = bursts[index - 1]
    const after = bursts[index + 1]
    return {
      startMs: Math.round(Math.max(0, startMs - (before === undefined ? paddingMs : room(startMs - before.endMs)))),
      endMs: Math.round(Math.min(totalMs, endMs + (after === undefined ? paddingMs : room(after.startMs - endMs)))),
    }
  })
}
