/**
 * Where a chunk that was cut between two words meets its neighbours. The graph ends whatever it is given as a sentence
 * ends, with a fall and a long last syllable. So it is given the neighbouring words, too, and only the frames of the
 * chunk are rendered: from the middle of one space to the middle of another, and one more at the end, in which one
 * chunk fades into the next.
 */
import type { Chunk, Span } from '../../phonemes/chunks.ts'
import { hopSamples } from './parameters.ts'

export interface Joints {
  /** The first frame, and the one behind the last; null: there is no neighbour, the speech begins or ends. */
  from: number | null
  to: number | null
}

export const noJoints: Joints = { from: null, to: null }

type Neighboured = Pick<Chunk, 'symbols' | 'before' | 'after'>

/** What the graph is given. */
export const withNeighbours = ({ symbols, before, after }: Neighboured): string =>
  [before, symbols, after].filter((part) => part !== '').join(' ')

/** Symbols before the chunk's own, in what the graph is given. */
const offsetOf = (before: string): number => (before === '' ? 0 : Array.from(before).length + 1)

/** @param symbolFrames the length of each symbol that the graph was given, those of the pads included */
export function jointsOf({ symbols, before, after }: Neighboured, symbolFrames: readonly number[]): Joints {
  /** The middle of the space that is this symbol. */
  const middleOf = (space: number): number =>
    symbolFrames.slice(0, space + 1).reduce((sum, frames) => sum + frames, 0) + (symbolFrames[space + 1] ?? 0) / 2
  const offset = offsetOf(before)
  return {
    from: before === '' ? null : Math.round(middleOf(offset - 1)),
    to: after === '' ? null : Math.round(middleOf(offset + Array.from(symbols).length)) + 1,
  }
}

/** The spans of a chunk in what the graph is given. */
export function spansThere({ spans, before }: Pick<Chunk, 'spans' | 'before'>): Span[] {
  const offset = offsetOf(before)
  return spans.map(({ from, to, end }) => ({ from: from + offset, to: to + offset, end }))
}

/** The sound of a stream, chunk after chunk: keeps back what is faded into the next. */
export class Seam {
  #kept: Float32Array | null = null

  /** @param pcm the next block, not empty @param isJoint whether it ends where another chunk joins */
  take(pcm: Float32Array, isJoint: boolean): Float32Array {
    const kept = this.#kept
    const joined = kept === null ? pcm : pcm.map((sample, at) => sample + (kept[at] ?? 0))
    const length = isJoint ? joined.length - hopSamples : joined.length
    this.#kept = isJoint ? joined.subarray(length) : null
    return joined.subarray(0, length)
  }
}
