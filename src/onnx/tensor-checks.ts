/** Checks of given tensors for every back end, so that all refuse the same in the same words. */
import { isHeld, type LoopOptions, type Port, type Tensor, type Tensors } from './session.ts'

/** By type: the array of its numbers. */
export const arrays = {
  float32: Float32Array,
  float16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const

export const isKnownType = (type: string): type is Tensor['type'] => Object.hasOwn(arrays, type)

/** @throws Error naming inputs that are unknown or missing, and tensors that are not what they say */
export function checkFeeds(feeds: Tensors, wanted: readonly string[]): void {
  checkNames(Object.keys(feeds), wanted)
  checkTensors(feeds)
}

/** @throws as `checkFeeds`; Error naming a state that the graph does not have */
export function checkLoop(
  { links, start, constants = {} }: LoopOptions,
  inputs: readonly Port[],
  outputs: readonly Port[],
): void {
  checkNames(Object.keys(start), Object.keys(links), 'the loop starts from')
  const known = new Set(inputs.map(({ name }) => name))
  const strange = [...Object.keys(links), ...Object.keys(constants)].filter((name) => !known.has(name))
  if (strange.length > 0) throw new Error(`the graph has no input ${strange.join(', ')}`)
  const given = new Set(outputs.map(({ name }) => name))
  const absent = Object.values(links).filter((name) => !given.has(name))
  if (absent.length > 0) throw new Error(`the graph has no output ${absent.join(', ')}`)
  const shared = Object.values(links).find((name, at, all) => all.indexOf(name) !== at)
  if (shared !== undefined) throw new Error(`two states cannot come from the same output ${shared}`)
  checkTensors(start)
  checkTensors(constants)
}

function checkNames(given: readonly string[], wanted: readonly string[], what = 'the graph takes'): void {
  const unknown = given.filter((name) => !wanted.includes(name))
  const missing = wanted.filter((name) => !given.includes(name))
  if (unknown.length === 0 && missing.length === 0) return
  const faults = [
    unknown.length > 0 ? `it has no input ${unknown.join(', ')}` : '',
    missing.length > 0 ? `it was not given ${missing.join(', ')}` : '',
  ]
  throw new Error(`${what} ${wanted.join(', ')}: ${faults.filter((fault) => fault !== '').join('; ')}`)
}

/** A length that does not fit would be read past its end by native code. */
function checkTensors(tensors: Tensors): void {
  for (const [name, tensor] of Object.entries(tensors)) {
    if (isHeld(tensor)) continue
    const { type, dims, data } = tensor
    const length = dims.reduce((product, each) => product * each, 1)
    if (data instanceof arrays[type] && data.length === length) continue
    const wanted = `${length} numbers in a ${arrays[type].name}`
    const found = `${data.length} in a ${data.constructor.name}`
    throw new Error(`${name}: ${type} [${dims.join(', ')}] is ${wanted}, not ${found}`)
  }
}

export const copiesOf = (tensors: Tensors): Record<string, Tensor> =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { type, dims, data }]) => [name, { type, dims, data: data.slice() }]),
  )
