/**
 * Finds when each token was said, from the decoder's attention while it output the token (openai/whisper,
 * `timing.py`). The text is given to the decoder as if it had just produced it; some of its heads follow the audio.
 */
import { encoderPositions } from './config.ts'
import { firstColumns } from './dtw.ts'
import type { Encoded, WhisperGraphs } from './graphs.ts'
import { probabilityOf } from './sampling.ts'
import type { WhisperTokens } from './tokens.ts'

/** Positions of the encoder. */
const positionsPerS = 50
const filterWidth = 7

export interface Alignment {
  /** For each token of the text, and the end after the last. Seconds from the window's start. */
  startS: readonly number[]
  /** For each token of the text, among text tokens. */
  probability: readonly number[]
}

export interface AlignmentOrder {
  encoded: Encoded
  /** The tokens before the transcript. */
  prompt: readonly number[]
  /** Text only. */
  text: readonly number[]
  /** How many of the window's frames are audio. */
  frames: number
  heads: readonly (readonly [number, number])[]
}

/** @throws the signal's reason, while the decoder reads the text */
export async function align(
  graphs: WhisperGraphs,
  tokens: WhisperTokens,
  order: AlignmentOrder,
  signal?: AbortSignal,
): Promise<Alignment> {
  const { encoded, prompt, text, heads } = order
  const ids = [...prompt, tokens.noTimestamps, ...text, tokens.endOfText]
  const { logits, attentions, release } = await graphs.first(ids, encoded, signal)
  release()
  if (attentions === null) throw new Error('this decoder does not output its attention')
  const vocabulary = logits.length / ids.length
  const probability = text.map((id, at) => {
    const row = (prompt.length + at) * vocabulary
    return probabilityOf(logits.subarray(row, row + tokens.endOfText), id)
  })
  const positions = Math.min(encoderPositions, Math.floor(order.frames / 2))
  const sum = new Float32Array(ids.length * positions)
  for (const [layer, head] of heads) {
    const size = ids.length * encoderPositions
    addFollowed(sum, attentions[layer]!.subarray(head * size, (head + 1) * size), positions)
    await yieldTurn()
  }
  // The tokens before the text are left out, and so is its end; the row of each token is the one that outputs it.
  const rows = sum.subarray(prompt.length * positions, (ids.length - 1) * positions)
  const cost = rows.map((weight) => -weight / heads.length)
  return { startS: Array.from(firstColumns(cost, positions), (column) => column / positionsPerS), probability }
}

/**
 * Adds what one head attends to, each position measured against what the other tokens give it, and smoothed.
 * @param weights for each token, those of all positions
 */
function addFollowed(sum: Float32Array, weights: Float32Array, positions: number): void {
  const rows = weights.length / encoderPositions
  const kept = shares(weights, rows, positions)
  for (let position = 0; position < positions; position++) standardize(kept, rows, positions, position)
  for (let row = 0; row < rows; row++) addMedians(sum, kept.subarray(row * positions, (row + 1) * positions), row)
}

/**
 * For each token, its attention to the positions that are audio, as shares. In half precision all of it can be zero,
 * where the rest of the window has it: then nothing is known about any position.
 */
function shares(weights: Float32Array, rows: number, positions: number): Float32Array {
  const kept = new Float32Array(rows * positions)
  for (let row = 0; row < rows; row++) {
    const own = weights.subarray(row * encoderPositions, row * encoderPositions + positions)
    const whole = own.reduce((sum, weight) => sum + weight, 0)
    for (let position = 0; position < positions; position++) {
      kept[row * positions + position] = whole === 0 ? 1 / positions : own[position]! / whole
    }
  }
  return kept
}

/** Normalizes to mean 0 and deviation 1 over the tokens; 0 where they do not differ. */
function standardize(values: Float32Array, rows: number, columns: number, column: number): void {
  let sum = 0
  for (let row = 0; row < rows; row++) sum += values[row * columns + column]!
  const mean = sum / rows
  let squares = 0
  for (let row = 0; row < rows; row++) squares += (values[row * columns + column]! - mean) ** 2
  const deviation = Math.sqrt(squares / rows)
  for (let row = 0; row < rows; row++) {
    const at = row * columns + column
    values[at] = deviation === 0 ? 0 : (values[at]! - mean) / deviation
  }
}

/** Each value's median with its neighbours; past the ends they are mirrored. Too few values stay as they are. */
function addMedians(sum: Float32Array, values: Float32Array, row: number): void {
  const half = (filterWidth - 1) / 2
  const last = values.length - 1
  const near = new Float64Array(filterWidth)
  for (let at = 0; at <= last; at++) {
    if (last < half) sum[row * values.length + at]! += values[at]!
    else {
      for (let i = 0; i < filterWidth; i++) {
        const from = Math.abs(at + i - half)
        near[i] = values[from <= last ? from : 2 * last - from]!
      }
      sum[row * values.length + at]! += near.sort()[half]!
    }
  }
}

// Yields to the event loop during long computations, so that the engine handles other messages.
/** Until everything that waits in the loop has had its turn. */
const yieldTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
