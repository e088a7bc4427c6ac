/**
 * Turns audio into windows of speech: blocks of any length go in, windows for a recognizer come out on request.
 * Neither the audio nor its windows are ever in memory as a whole.
 */
import { type CutOptions, SpeechCutter } from './window-cutter.ts'
import { type SpeechDetector, windowMs, windowSamples } from './detector.ts'

export interface CutPart {
  /** Start of the window, from the beginning of the audio. */
  startMs: number
  /** A window of speech, mono, 16 kHz; null: no speech for some time, and only `heardMs` is news. */
  pcm: Float32Array | null
  /** How much of the audio is done once this window is: everything later is after it. */
  heardMs: number
}

/** How long silence lasts before it is reported. */
const silenceMs = 10_000

/**
 * Windows of speech in the order of the sound; the last part says how long the sound is.
 * @param pcm mono, in [-1, 1], 16 kHz, in blocks of any length
 * @throws the signal's reason once it aborts, between two blocks or windows; what the sound's own iteration throws
 */
export async function* cutSpeech(
  pcm: AsyncIterable<Float32Array>,
  detector: SpeechDetector,
  options: CutOptions,
  signal: AbortSignal,
): AsyncGenerator<CutPart, void, undefined> {
  const cutter = new SpeechCutter(options, windowMs)
  const listening = detector.listen()
  let toldMs = 0
  try {
    for await (const window of inWindows(pcm, signal)) {
      for (const cut of cutter.push(window, await listening.next(window))) {
        toldMs = cutter.heardMs
        yield { ...cut, heardMs: toldMs }
      }
      if (cutter.heardMs - toldMs < silenceMs) continue
      toldMs = cutter.heardMs
      yield { startMs: toldMs, pcm: null, heardMs: toldMs }
    }
  } finally {
    listening.release()
  }
  const { endMs } = cutter
  for (const cut of cutter.end()) {
    toldMs = endMs
    yield { ...cut, heardMs: endMs }
  }
  if (toldMs < endMs) yield { startMs: endMs, pcm: null, heardMs: endMs }
}

/** The detector's windows, each valid until the next is requested; the last one may be shorter. */
async function* inWindows(pcm: AsyncIterable<Float32Array>, signal: AbortSignal): AsyncGenerator<Float32Array> {
  const window = new Float32Array(windowSamples)
  let filled = 0
  for await (const block of pcm) {
    for (let at = 0; at < block.length;) {
      const part = block.subarray(at, at + windowSamples - filled)
      window.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < windowSamples) continue
      signal.throwIfAborted()
      yield window
      filled = 0
    }
  }
  signal.throwIfAborted()
  if (filled > 0) yield window.subarray(0, filled)
}
