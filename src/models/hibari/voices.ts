/**
 * The built-in voices, all from the one graph: how each is shaped, chosen by measuring. The first is the graph's own
 * voice, unshaped. All are American: with British symbols, which the graph was not taught, 15 of 101 words were
 * misheard instead of 3. `scripts/voices.ts` measures them; docs/benchmarks.md has the figures.
 */
import { gainOf, type Shape } from './shape.ts'

/** @param levelDb brings it to the level of the others */
const shape = (
  hz: number,
  formants: number,
  breathDb: number,
  levelDb: number,
  knots: readonly (readonly [number, number])[],
): Shape => ({ hz, formants, breathDb, gainDb: gainOf(knots).map((gain) => gain + levelDb) })

/** By id; null: as the graph gives it. */
export const voices: ReadonlyMap<string, Shape | null> = new Map([
  ['lark', null],
  ['martin', shape(98, 0.82, 0, -2.8, [[0, 0]])],
  [
    'jay',
    shape(104, 0.93, -4, -0.6, [
      [0, -2],
      [500, -2],
      [1000, -4],
      [2500, 3],
      [5000, 4],
    ]),
  ],
  [
    'robin',
    shape(150, 1.035, -2.1, -3.1, [
      [0, 1.9],
      [700, -0.3],
      [1800, 4.9],
      [3500, 1.1],
      [7000, -1.8],
    ]),
  ],
  [
    'merle',
    shape(160, 0.88, 0, -1.3, [
      [0, 2],
      [500, 2],
      [1800, -2],
      [4000, -2],
      [8000, -4],
    ]),
  ],
  [
    'wren',
    shape(215, 1.18, -4.3, 4.6, [
      [0, 2],
      [700, -9],
      [1800, 1.9],
      [3500, 5.7],
      [7000, -9],
    ]),
  ],
])
