/**
 * One token from the decoder's logits: forbidden ones are removed first, then the best is taken, or one is drawn. The
 * rules and their order are those of openai/whisper, `decoding.py`.
 */
import type { Random } from '../../domain/random.ts'
import { timestampStepMs, type WhisperTokens } from './tokens.ts'

/** No transcript begins later than this in its window. */
const latestStartMs = 1000

export interface Picked {
  id: number
  /** Natural logarithm of its probability among what may be written, at temperature 1. */
  logprob: number
}

/**
 * Takes out, in place, what may not follow.
 * @param logits one for each token of the vocabulary @param sampled what was written in this window so far
 */
export function filterLogits(logits: Float32Array, sampled: readonly number[], tokens: WhisperTokens): void {
  if (sampled.length === 0) for (const id of [...tokens.blank, tokens.endOfText]) forbid(logits, id)
  for (const id of tokens.suppressed) forbid(logits, id)
  forbid(logits, tokens.noTimestamps)
  keepPairs(logits, sampled, tokens)
  const { firstTimestamp } = tokens
  if (sampled.length === 0) {
    forbid(logits, 0, firstTimestamp)
    forbid(logits, firstTimestamp + latestStartMs / timestampStepMs + 1, logits.length)
  }
  const bestText = highest(logits, 0, firstTimestamp)
  if (logSumExp(logits, firstTimestamp, logits.length) > bestText) forbid(logits, 0, firstTimestamp)
}

/**
 * Timestamps come in pairs, the end of one segment and the start of the next, except before the end of the text; they
 * never go back, and no segment is empty.
 */
function keepPairs(logits: Float32Array, sampled: readonly number[], tokens: WhisperTokens): void {
  const { firstTimestamp, endOfText } = tokens
  const isTimestamp = (id: number | undefined) => id !== undefined && id >= firstTimestamp
  const endsInOne = isTimestamp(sampled.at(-1))
  const endsInTwo = endsInOne && (sampled.length < 2 || isTimestamp(sampled.at(-2)))
  if (endsInTwo) forbid(logits, firstTimestamp, logits.length)
  else if (endsInOne) forbid(logits, 0, endOfText)
  const last = sampled.findLast(isTimestamp)
  if (last === undefined) return
  forbid(logits, firstTimestamp, endsInOne && !endsInTwo ? last : last + 1)
}

/**
 * Whether the text would end where a segment has just ended, although there is more sound.
 * @param logits of what may be written @param endMs up to where it has to be written, from the window's start
 */
export function stopsEarly(
  logits: Float32Array,
  sampled: readonly number[],
  tokens: WhisperTokens,
  endMs: number,
): boolean {
  if (!endsInPair(sampled, tokens)) return false
  const writtenMs = (sampled.at(-1)! - tokens.firstTimestamp) * timestampStepMs
  return writtenMs <= endMs && best(logits) === tokens.endOfText
}

/** Whether a segment has just ended and the next begun: two timestamps. */
export function endsInPair(sampled: readonly number[], { firstTimestamp }: WhisperTokens): boolean {
  const isTimestamp = (at: number) => (sampled.at(at) ?? 0) >= firstTimestamp
  return sampled.length >= 3 && isTimestamp(-1) && isTimestamp(-2)
}

/** @param temperature 0: the best; otherwise drawn from the softmax of logits / temperature */
export function pickToken(logits: Float32Array, temperature: number, random: Random): Picked {
  const id = temperature === 0 ? best(logits) : drawn(logits, temperature, random)
  return { id, logprob: logits[id]! - logSumExp(logits, 0, logits.length) }
}

/** Softmax of one: how probable the decoder holds it. */
export const probabilityOf = (logits: Float32Array, id: number, end = logits.length): number =>
  Math.exp(logits[id]! - logSumExp(logits, 0, end))

/** @param among only these @returns that with the highest logit */
export function bestOf(logits: Float32Array, among: Iterable<number>): number {
  let found = -1
  for (const id of among) if (found < 0 || logits[id]! > logits[found]!) found = id
  return found
}

const forbid = (logits: Float32Array, from: number, to = from + 1): void => {
  logits.fill(Number.NEGATIVE_INFINITY, from, Math.max(from, to))
}

function best(logits: Float32Array): number {
  let at = 0
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[at]!) at = id
  return at
}

function drawn(logits: Float32Array, temperature: number, random: Random): number {
  const top = highest(logits, 0, logits.length)
  const weights = new Float64Array(logits.length)
  let sum = 0
  for (let id = 0; id < logits.length; id++) {
    const weight = Math.exp((logits[id]! - top) / temperature)
    weights[id] = weight
    sum += weight
  }
  let left = random.next() * sum
  for (let id = 0; id < weights.length; id++) {
    left -= weights[id]!
    if (left < 0) return id
  }
  // Rounding has left something over: the best is as good as any.
  return best(logits)
}

function highest(logits: Float32Array, from: number, to: number): number {
  let found = Number.NEGATIVE_INFINITY
  for (let id = from; id < to; id++) if (logits[id]! > found) found = logits[id]!
  return found
}

function logSumExp(logits: Float32Array, from: number, to: number): number {
  const top = highest(logits, from, to)
  if (top === Number.NEGATIVE_INFINITY) return top
  let sum = 0
  for (let id = from; id < to; id++) sum += Math.exp(logits[id]! - top)
  return top + Math.log(sum)
}
