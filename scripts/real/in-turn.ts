/** Several programs transcribe the same clips in turn, so that other work on the machine burdens all of them alike. */
import { medianOf, printTable } from '../bench/figures.ts'
import type { Clip } from './clips.ts'
import { load } from './machine.ts'
import { pointsMore, rateOf, type WordErrors, wordErrors } from './words.ts'

export type Listener = (clip: Clip) => Promise<{ text: string; cpu: number }>

export interface Heard {
  errors: WordErrors[]
  /** Processor seconds and wall seconds of each round, for all clips. */
  cpu: number[]
  wall: number[]
}

/**
 * Every clip by all programs, which take turns at being first.
 * @param listeners by name; each has its model in memory already
 */
export async function hearInTurn(
  listeners: Readonly<Record<string, Listener>>,
  clips: readonly Clip[],
  rounds = 1,
): Promise<Map<string, Heard>> {
  const names = Object.keys(listeners)
  const results = new Map(names.map((name): [string, Heard] => [name, { errors: [], cpu: [], wall: [] }]))
  for (let round = 0; round < rounds; round++) {
    for (const { cpu, wall } of results.values()) {
      cpu.push(0)
      wall.push(0)
    }
    for (const [at, clip] of clips.entries()) {
      for (const [index] of names.entries()) {
        const name = names[(at + round + index) % names.length]!
        const beganMs = performance.now()
        const { text, cpu } = await listeners[name]!(clip)
        const result = results.get(name)!
        result.wall[round]! += (performance.now() - beganMs) / 1000
        result.cpu[round]! += cpu
        result.errors.push(wordErrors(clip.reference, text))
        console.error(`${clip.path.split('/').at(-1)} ${name} ${cpu.toFixed(1)} s: ${text}`)
      }
    }
  }
  return results
}

/**
 * @param memory resident megabytes at the peak, by name; absent: without that column
 * @param than the listener that the others' word errors are compared with; absent: without that column
 */
export function printHeard(
  what: string,
  clips: readonly Clip[],
  results: ReadonlyMap<string, Heard>,
  memory?: ReadonlyMap<string, number>,
  than?: string,
): void {
  const theirs = results.get(than ?? '')?.errors.slice(0, clips.length)
  const isCompared = theirs !== undefined && clips.length > 1
  const points = ({ errors }: Heard): string => {
    const { low, high } = pointsMore(errors.slice(0, clips.length), theirs!)
    return `${low.toFixed(1)} to ${high.toFixed(1)}`
  }
  const seconds = clips.reduce((sum, clip) => sum + clip.seconds, 0)
  const rounds = [...results.values()][0]?.cpu.length ?? 0
  printTable(`${what}, ${Math.round(seconds)} s, medians of ${rounds}, ${load()}`, [
    [
      'heard by',
      'word errors, %',
      ...(isCompared ? [`points more than ${than}, 95 %`] : []),
      'CPU ms a second',
      'least CPU ms',
      'wall seconds',
      ...(memory === undefined ? [] : ['peak MB']),
    ],
    ...[...results].map(([name, heard]) => [
      name,
      rateOf(heard.errors),
      ...(isCompared ? [points(heard)] : []),
      (1000 * medianOf(heard.cpu)) / seconds,
      (1000 * Math.min(...heard.cpu)) / seconds,
      medianOf(heard.wall),
      ...(memory === undefined ? [] : [Math.round(memory.get(name) ?? 0)]),
    ]),
  ])
}
