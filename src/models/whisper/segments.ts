/**
 * Cuts a window's tokens into segments at their timestamps, and determines how far the window was transcribed
 * (openai/whisper, `transcribe.py`).
 */
import { frameMs } from './features.ts'
import { timestampStepMs, type WhisperTokens } from './tokens.ts'

export interface Piece {
  /** From the start of the audio. */
  startMs: number
  endMs: number
  tokens: readonly number[]
}

export interface Cut {
  pieces: Piece[]
  /** Frames of the window after which the next one begins. */
  advanceFrames: number
  /** The tokens end in a single timestamp: there is no speech after it. */
  endsInSilence: boolean
}

/** @param seek the window's first frame @param frames how many of its frames are sound */
export function cutTokens(ids: readonly number[], tokens: WhisperTokens, seek: number, frames: number): Cut {
  const { firstTimestamp } = tokens
  const isTimestamp = (id: number | undefined) => id !== undefined && id >= firstTimestamp
  const stepsOf = (id: number) => id - firstTimestamp
  const startMs = seek * frameMs
  const endsInSilence = ids.length > 1 && isTimestamp(ids.at(-1)) && !isTimestamp(ids.at(-2))
  const ends = ids.flatMap((id, at) => (at > 0 && isTimestamp(id) && isTimestamp(ids[at - 1]) ? [at] : []))
  if (ends.length === 0) {
    const last = ids.findLast(isTimestamp)
    const lengthMs = last === undefined || last === firstTimestamp ? frames * frameMs : stepsOf(last) * timestampStepMs
    const piece = { startMs, endMs: startMs + lengthMs, tokens: ids }
    return { pieces: [piece], advanceFrames: frames, endsInSilence }
  }
  if (endsInSilence) ends.push(ids.length)
  const pieces = ends.map((end, index) => {
    const own = ids.slice(ends[index - 1] ?? 0, end)
    const [first, last] = [own[0]!, own.at(-1)!]
    const at = (id: number) => startMs + stepsOf(id) * timestampStepMs
    return { startMs: at(first), endMs: at(last), tokens: own }
  })
  // What follows the last pair is unfinished, and is decoded again with what comes after it.
  const heardSteps = stepsOf(ids[ends.at(-1)! - 1]!)
  return { pieces, advanceFrames: endsInSilence ? frames : (heardSteps * timestampStepMs) / frameMs, endsInSilence }
}
