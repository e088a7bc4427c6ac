/**
 * Turns audio into windows of speech: blocks of any length go in, windows for a recognizer come out on request.
 * Neither the audio nor its windows are ever in memory as a whole.
 */
import { type CutOptions, SpeechCutter } from './window-cutter.ts'
import { type SpeechDetector, windowMs, windowsAtOnce, windowSamples } from './detector.ts'

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
    for await (const windows of inWindows(pcm, signal)) {
      for (const [at, probability] of (await listening.next(windows)).entries()) {
        const window = windows.subarray(at * windowSamples, (at + 1) * windowSamples)
        for (const cut of cutter.push(window, probability)) {
          toldMs = cutter.heardMs
          yield { ...cut, heardMs: toldMs }
        }
        if (cutter.heardMs - toldMs < silenceMs) continue
        toldMs = cutter.heardMs
        yield { startMs: toldMs, pcm: null, heardMs: toldMs }
      }
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

/** As many of the detector's windows as a block has, valid until the next are requested; the last may be shorter. */
async function* inWindows(pcm: AsyncIterable<Float32Array>, signal: AbortSignal): AsyncGenerator<Float32Array> {
  const windows = new Float32Array(windowsAtOnce * windowSamples)
  let filled = 0
  for await (const block of pcm) {
    for (let at = 0; at < block.length;) {
      const part = block.subarray(at, at + windows.length - filled)
      windows.set(part, filled)
      filled += part.length
      at += part.length
      const whole = filled - (filled % windowSamples)
      if (whole === 0) continue
      signal.throwIfAborted()
      yield windows.subarray(0, whole)
      windows.copyWithin(0, whole, filled)
      filled -= whole
    }
  }
  signal.throwIfAborted()
  if (filled > 0) yield windows.subarray(0, filled)
}
