/**
 * Turns the lengths of symbols, as a graph predicts them, into times at which each stretch of the text is spoken. As
 * Kokoro's own program does it (hexgrad/kokoro, pipeline.py, join_timestamps), a space belongs half to the word before
 * it and half to the one behind, and everything is a little earlier than the lengths say.
 */
import type { Span } from './chunks.ts'

/** Marks have a length too, the pause behind a word: it is not part of the word. */
const marks = new Set(';:,.!?—…"()“”')

export interface SymbolTimes {
  spans: readonly Span[]
  symbols: string
  /** Of each symbol, with those of the pads at both ends; of any unit. */
  lengths: readonly number[]
  /** How much earlier the sound is; in the same unit. */
  early: number
  /** The last sound before a pause is drawn out by the graph into the silence: it counts for no more than this. */
  longestEnd: number
}

/** @returns for each span where it begins and ends, in the unit of the lengths, from the beginning of the first pad */
export function spanTimes({ spans, symbols, lengths, early, longestEnd }: SymbolTimes) {
  const all = Array.from(symbols)
  /** Where each symbol begins; one more for the end of the last. */
  const begins = [(lengths[0] ?? 0) - early]
  for (const at of all.keys()) begins.push(begins[at]! + (lengths[at + 1] ?? 0))
  const halfSpace = (at: number) => (all[at] === ' ' ? (begins[at + 1]! - begins[at]!) / 2 : 0)
  return spans.map(({ from, to, end }) => {
    const spoken = Array.from({ length: to - from }, (_, at) => from + at).filter((at) => !marks.has(all[at]!))
    const [first = from, last = to - 1] = [spoken[0], spoken.at(-1)]
    const isBeforePause = last + 1 === all.length || marks.has(all[last + 1]!)
    const lastLength = begins[last + 1]! - begins[last]!
    const spare = isBeforePause ? Math.max(0, lastLength - longestEnd) : 0
    return {
      end,
      from: Math.max(0, begins[first]! - halfSpace(first - 1)),
      to: Math.max(0, begins[last + 1]! + halfSpace(last + 1) - spare),
    }
  })
}
