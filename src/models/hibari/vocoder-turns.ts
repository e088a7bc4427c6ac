/**
 * Which of the chunks in a thread is rendered next, for one block of what length. First come those whose listener has
 * nothing left, then those of streams that were not heard yet, then those whose listener runs dry soon. All others
 * have time: of them the one with the least left goes first, because that gives back its memory and ends its stream.
 * Taking turns instead, sixteen streams that began together would all end together, at the last moment.
 */
export interface Waiting {
  /** Nothing of its stream was played yet. */
  isFirst: boolean
  /** When its listener runs dry. */
  dueMs: number
  /** Of the chunk. */
  leftFrames: number
}

/** A block takes less than this, unless the machine is very busy. */
const leastAheadMs = 20
/** Of a stream that was not heard yet: 100 ms of sound, which take 1.5 ms, because it is waited for. */
const firstFrames = 8
/** 200 ms: a block that is sent wakes everyone up to the reader, so later ones are as long as others can wait. */
const sharedFrames = 16
/** 500 ms, where there are no others. */
const aloneFrames = 40
/** A listener with more sound than this is not in a hurry, even while some others are served first. */
const comfortMs = 200

/** @returns null: there is none */
export function nextChunk<T extends Waiting>(chunks: readonly T[], nowMs: number): T | null {
  let best: T | null = null
  for (const chunk of chunks) if (best === null || goesBefore(chunk, best, nowMs)) best = chunk
  return best
}

/** How much of it is rendered before the next is chosen. @param waiting chunks in its thread, itself included */
export function blockFrames({ isFirst }: Waiting, waiting: number): number {
  if (isFirst) return firstFrames
  return waiting > 1 ? sharedFrames : aloneFrames
}

function goesBefore(one: Waiting, other: Waiting, nowMs: number): boolean {
  const [rank, otherRank] = [rankOf(one, nowMs), rankOf(other, nowMs)]
  if (rank !== otherRank) return rank < otherRank
  if (rank === 3 && one.leftFrames !== other.leftFrames) return one.leftFrames < other.leftFrames
  return one.dueMs < other.dueMs
}

function rankOf({ isFirst, dueMs }: Waiting, nowMs: number): number {
  if (isFirst) return 1
  if (dueMs < nowMs + leastAheadMs) return 0
  return dueMs < nowMs + comfortMs ? 2 : 3
}
