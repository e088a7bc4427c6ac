/**
 * The states of the two graphs that run step by step, and the part of them that is a voice: keys and values of the
 * positions that the voice takes, about 49 KB each in the model of 6 layers. Only these are kept; the rest of the cache
 * is filled in as the bundle says when the voice is used.
 */
import type { PortSpec } from '../../onnx/contract.ts'
import type { Tensor } from '../../onnx/session.ts'
import { isCache, type StateSpec } from './bundle.ts'

type States = Record<string, Tensor>

/** By input, before the first run. */
export function startStates(specs: readonly StateSpec[]): States {
  return Object.fromEntries(specs.map((spec) => [spec.input, startState(spec)]))
}

function startState({ dims, type, fill }: StateSpec): Tensor {
  const size = dims.reduce((product, length) => product * length, 1)
  if (type === 'float32') {
    const data = new Float32Array(size)
    if (fill !== 'zeros') data.fill(fill === 'nan' ? NaN : 1)
    return { type, dims, data }
  }
  if (type === 'int64') return { type, dims, data: new BigInt64Array(size).fill(fill === 'ones' ? 1n : 0n) }
  return { type, dims, data: new Uint8Array(size).fill(fill === 'ones' ? 1 : 0) }
}

/** From each input to the output that gives its next value. */
export const linksOf = (specs: readonly StateSpec[]): Record<string, string> =>
  Object.fromEntries(specs.map(({ input, output }) => [input, output]))

/** What a graph must have for these states. */
export const portsOf = (specs: readonly StateSpec[], side: 'input' | 'output'): PortSpec[] =>
  specs.map(({ type, dims, ...names }) => ({ name: names[side], type, dims: side === 'input' ? dims : null }))

/** A voice in the model's memory. */
export interface Voice {
  /** Positions that it takes. */
  length: number
  /** By input; for a cache, the first `length` positions. */
  states: States
}

/** @param states after the model was given the voice, of which `length` positions count */
export function voiceOf(specs: readonly StateSpec[], states: States, length: number): Voice {
  const kept = specs.map((spec) => {
    const state = states[spec.input]
    if (state === undefined) throw new Error(`no state ${spec.input}`)
    return [spec.input, isCache(spec) ? resized(state, length, NaN) : state] as const
  })
  return { length, states: Object.fromEntries(kept) }
}

/** The states that speaking with a voice starts from: never written to, so that streams can share them. */
export function startWith(specs: readonly StateSpec[], { states }: Voice): States {
  const whole = specs.map((spec) => {
    const state = states[spec.input]!
    const fill = spec.fill === 'nan' ? NaN : spec.fill === 'ones' ? 1 : 0
    return [spec.input, isCache(spec) ? resized(state, spec.dims[2]!, fill) : state] as const
  })
  return Object.fromEntries(whole)
}

export const bytesOf = ({ states }: Voice): number =>
  Object.values(states).reduce((sum, { data }) => sum + data.byteLength, 0)

/** A cache with room for another number of positions: cut off, or filled up. */
function resized({ dims, data }: Tensor, length: number, fill: number): Tensor {
  const [sides = 0, batch = 0, positions = 0, heads = 0, numbers = 0] = dims
  const width = heads * numbers
  const kept = Math.min(length, positions)
  const next = new Float32Array(sides * batch * length * width)
  if (length > kept) next.fill(fill)
  for (let row = 0; row < sides * batch; row++) {
    const from = row * positions * width
    next.set((data as Float32Array).subarray(from, from + kept * width), row * length * width)
  }
  return { type: 'float32', dims: [sides, batch, length, heads, numbers], data: next }
}
