/**
 * Continues behind damage: a demuxer that lost its way gets the file again, with everything up to the next unit (a
 * cluster of Matroska, a fragment of MP4) marked as void. Each unit says when it begins, so the length of the missing
 * part is known.
 */
import type { Timed } from './packet.ts'
import { type ClipBytes, patched } from './source.ts'

export interface Unit {
  at: number
  seconds: number
}

export interface Units {
  /** The first that begins there or later. */
  next(from: number): Unit | null
  /** The header of an element that is skipped, with this total size. */
  voidHead(sizeBytes: number): Uint8Array
}

/** Units overlap a little in sound files, too. */
const leastStepSeconds = 0.001
const maxRestarts = 1000
/** Units of pictures may follow the last sound. */
const maxFruitless = 8

/** @param reopen gives the packets of a repaired file */
export async function* resumed(
  clip: ClipBytes,
  packets: AsyncIterable<Timed>,
  units: Units,
  reopen: (mended: ClipBytes) => Promise<AsyncIterable<Timed>>,
): AsyncGenerator<Timed> {
  let reached = -Infinity
  let fruitless = 0
  let failure: unknown = null
  let current: AsyncIterable<Timed> | null = packets
  let first: Unit | null = null
  let unit: Unit | null = null
  for (let restarts = 0; restarts < maxRestarts; restarts++) {
    try {
      for await (const packet of current ?? []) {
        if (restarts > 0 && packet.timestamp <= reached) continue
        reached = Math.max(reached, packet.timestamp)
        fruitless = 0
        yield packet
      }
    } catch (error) {
      failure ??= error
    }
    if (fruitless++ > maxFruitless) break
    first ??= units.next(0)
    if (first === null) break
    unit = unitAfter(units, (unit ?? first).at + 1, reached + leastStepSeconds)
    if (unit === null) break
    current = await reopen(patched(clip, first.at, units.voidHead(unit.at - first.at))).catch(() => null)
  }
  if (failure !== null && reached === -Infinity) throw failure
}

function unitAfter(units: Units, from: number, seconds: number): Unit | null {
  for (let unit = units.next(from); unit !== null; unit = units.next(unit.at + 1)) {
    if (unit.seconds > seconds) return unit
  }
  return null
}
