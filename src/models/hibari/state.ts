/**
 * Writes what is kept of a cloned voice, as JSON with a version: some 6 KB. A state of another version is refused by
 * name: sounding like another person would be worse.
 */
import { cepstra } from './features.ts'
import { gainOf, type Shape } from './shape.ts'

const version = 1

/** @param shape with a colour, and the same gain in all bins */
export function writeState({ hz, formants, gainDb, colour }: Shape): Uint8Array {
  const rounded = (values: ArrayLike<number>) => Array.from(values, (value) => Math.round(1e5 * value) / 1e5)
  const kept = {
    hibari: version,
    hz,
    formants,
    levelDb: gainDb[0],
    loudDb: colour?.loudDb,
    mean: rounded(colour?.mean ?? []),
    target: rounded(colour?.target ?? []),
    map: rounded(colour?.map ?? []),
  }
  return new TextEncoder().encode(JSON.stringify(kept))
}

/** @throws Error that says what is wrong, for the log: the voice has to be cloned again */
export function readState(state: Uint8Array): Shape {
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(state))
  } catch {
    throw new Error('this is no cloned voice of hibari: clone it again')
  }
  const found = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {}
  if (found['hibari'] !== version) {
    throw new Error(`this voice was cloned by another version (${String(found['hibari'])}): clone it again`)
  }
  const { hz, formants, levelDb, loudDb, mean, target, map } = found
  const isWhole =
    isBetween(hz, 55, 500) &&
    isBetween(formants, 0.5, 2) &&
    isBetween(levelDb, -60, 60) &&
    isBetween(loudDb, -200, 200) &&
    areNumbers(mean, cepstra) &&
    areNumbers(target, cepstra) &&
    areNumbers(map, cepstra * cepstra)
  if (!isWhole) throw new Error('this cloned voice is damaged: clone it again')
  const colour = {
    mean: Float64Array.from(mean),
    target: Float64Array.from(target),
    map: Float64Array.from(map),
    loudDb,
  }
  return { hz, formants, breathDb: 0, gainDb: gainOf([[0, levelDb]]), colour }
}

const isBetween = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && value >= min && value <= max

const areNumbers = (value: unknown, length: number): value is number[] =>
  Array.isArray(value) &&
  value.length === length &&
  value.every((one) => typeof one === 'number' && Number.isFinite(one))
