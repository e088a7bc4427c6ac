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
  ['martin', shape(98, 0.82, 0, -2.3, [[0, 0]])],
  [
    'jay',
    shape(104, 0.93, -4, -0.3, [
      [0, -2],
      [500, -2],
      [1000, -4],
      [2500, 3],
      [5000, 4],
    ]),
  ],
  [
    'robin',
    shape(145, 1.06, -0.7, -4.4, [
      [0, 3.4],
      [700, 0.5],
      [1800, 7.6],
      [3500, -1.9],
      [7000, -1.5],
    ]),
  ],
  [
    'merle',
    shape(159, 0.89, -1.8, 0.6, [
      [0, -3.3],
      [700, 0.2],
      [1800, 3.6],
      [3500, 2.3],
      [7000, 3],
    ]),
  ],
  [
    'wren',
    shape(215, 1.17, -3.6, 4.9, [
      [0, 1.2],
      [700, -9],
      [1800, 1.8],
      [3500, 4.8],
      [7000, -9.9],
    ]),
  ],
])
