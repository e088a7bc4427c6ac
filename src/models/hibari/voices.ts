/**
 * How each voice comes about: from which graph, in the English that this was taught, and how it is shaped. The six
 * built-in ones are all from one graph, the first as it is; how the others are shaped was chosen by measuring. All are
 * American: with British symbols, which the graph was not taught, 15 of 101 words were misheard instead of 3.
 * `scripts/voices.ts` measures them; docs/benchmarks.md has the figures.
 *
 * The voices of `models/hibari-voices.json` come from four more graphs, each as it is and lowered as `merle` is: to
 * 0.84 of its pitch, in a larger body. Those graphs were not at hand, so how they sound was not measured.
 */
import type { Accent } from '../../phonemes/reductions.ts'
import { gainOf, type Shape } from './shape.ts'

export interface Voice {
  graph: string
  accent: Accent
  /** null: as the graph gives it. */
  shape: Shape | null
}

/** @param levelDb brings it to the level of the others */
const shape = (
  hz: number,
  formants: number,
  breathDb: number,
  levelDb: number,
  knots: readonly (readonly [number, number])[],
): Shape => ({ hz, formants, breathDb, gainDb: gainOf(knots).map((gain) => gain + levelDb) })

/** Of the built-in voices; null: as the graph gives it. */
const shapes = {
  lark: null,
  martin: shape(98, 0.83, 0, -2.9, [
    [0, 0],
    [700, 0],
    [1800, 2],
    [3500, 5],
    [7000, 5],
  ]),
  jay: shape(104, 0.945, -3, -0.6, [
    [0, -2],
    [500, -2],
    [1000, -4],
    [2500, 3],
    [5000, 4],
  ]),
  robin: shape(121, 1.09, -1.5, -4.5, [
    [0, 3.4],
    [700, 0.5],
    [1800, 7.6],
    [3500, -1.9],
    [7000, -1.5],
  ]),
  merle: shape(159, 0.89, -1.8, -1.8, [
    [0, 3.4],
    [700, 0.5],
    [1800, 7.6],
    [3500, -1.9],
    [7000, -1.5],
  ]),
  wren: shape(212, 1.13, -3.1, 3, [
    [0, 6],
    [700, -9],
    [1800, 3.5],
    [3500, 7],
    [7000, -4.7],
  ]),
}

const builtIn = { graph: 'hibari.onnx', accent: 'american' } as const
const fenrir = { graph: 'am_fenrir_v2.int8.onnx', accent: 'american' } as const
const kore = { graph: 'af_kore.int8.onnx', accent: 'american' } as const
const emma = { graph: 'bf_emma.int8.onnx', accent: 'british' } as const
const fable = { graph: 'bm_fable.int8.onnx', accent: 'british' } as const

/** By id. */
export const voices: ReadonlyMap<string, Voice> = new Map<string, Voice>([
  ...Object.entries(shapes).map(([id, made]): [string, Voice] => [id, { ...builtIn, shape: made }]),
  ['kestrel', { ...fenrir, shape: null }],
  ['harrier', { ...fenrir, shape: shapes.merle }],
  ['linnet', { ...kore, shape: null }],
  ['siskin', { ...kore, shape: shapes.merle }],
  ['dunnock', { ...emma, shape: null }],
  ['pipit', { ...emma, shape: shapes.merle }],
  ['rook', { ...fable, shape: null }],
  ['heron', { ...fable, shape: shapes.merle }],
])

/** What a clone is made and spoken with: the built-in graph, whichever others there are. */
export const cloned: Omit<Voice, 'shape'> = builtIn
