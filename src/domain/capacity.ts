/**
 * Decides whether every stream can be played without a gap, given how much audio each has and will still get, and how
 * fast the machine generates it.
 */

export interface Load {
  /** Sound that its listener has and has not played. */
  aheadMs: number
  /** Sound that is still to be made, by estimate. */
  restMs: number
  /** As much sound could be made while a step brings its first: that is needed as a whole. */
  stepMs: number
  /** Sound that the whole machine makes in a time, when it makes nothing else: 20 is twenty times real time. */
  speed: number
}

/** A first sound takes as long. */
const usualLeastMs = 1000

export interface Span {
  /** 1 s unless given. */
  leastMs?: number
  untilMs?: number
}

interface Turn {
  atMs: number
  /** Work that is needed at once. */
  jumpMs: number
  /** Work for each time that passes from here on, more or less than before. */
  slope: number
}

/**
 * The largest share of the machine that is needed from now to any later time. What a stream needs by then is what its
 * listener will have played, less what it has, in whole steps; with the earliest deadline first, a share up to 1 is
 * enough for all.
 * @param span a share needed for less than `leastMs` does not matter, nor one that is needed after `untilMs`
 */
export function peakUse(loads: readonly Load[], { leastMs = usualLeastMs, untilMs = Infinity }: Span = {}): number {
  if (loads.length === 0) return 0
  const ends = [leastMs, untilMs].map((atMs) => ({ atMs, jumpMs: 0, slope: 0 }))
  const all = [...loads.flatMap(turnsOf), ...ends].filter(({ atMs }) => atMs <= untilMs && atMs < Infinity)
  const turns = all.sort((a, b) => a.atMs - b.atMs)
  let [needMs, slope, atMs, peak] = [0, 0, 0, 0]
  for (const turn of turns) {
    needMs += slope * (turn.atMs - atMs)
    atMs = turn.atMs
    // It is largest before a fall and after a rise.
    peak = Math.max(peak, needMs / Math.max(leastMs, atMs), (needMs + turn.jumpMs) / Math.max(leastMs, atMs))
    needMs += turn.jumpMs
    slope += turn.slope
  }
  return peak
}

function turnsOf({ aheadMs, restMs, stepMs, speed }: Load): Turn[] {
  const first = Math.min(stepMs, restMs)
  return [
    { atMs: aheadMs, jumpMs: first / speed, slope: 1 / speed },
    { atMs: aheadMs + restMs - first, jumpMs: 0, slope: -1 / speed },
  ]
}

/** How long the machine needs for everything. */
export const workMs = (loads: readonly Load[]): number =>
  loads.reduce((sum, { restMs, speed }) => sum + restMs / speed, 0)
