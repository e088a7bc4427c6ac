/**
 * Checks what a pipeline needs from a graph, once, when it is loaded: another export of the same model has
 * other names, types or shapes, and without this check it would fail at the first stream, or produce noise.
 *
 * As ONNX Runtime reports graphs: a scalar has no dims; a length known only at run time is its name in the graph, or ''
 * if it has none; the types are float32, float16, float64, bool, int8 to int64 and uint8 to uint64.
 */
import type { Port, Session } from './session.ts'

/** What is expected of an input or output. */
export interface PortSpec {
  name: string
  /** One of several: where exports of one model differ and the pipeline supports either. */
  type: string | readonly string[]
  /** null for a length: any; null for all: any rank. A length that is known only at run time fits every number. */
  dims: readonly (number | null)[] | null
}

interface Ports {
  inputs: readonly PortSpec[]
  outputs: readonly PortSpec[]
}

/** Listing more faults helps no one: it is another graph altogether. */
const maxFaults = 6

/**
 * More outputs than expected do no harm; another input would be missing at every run.
 * @param file as the user knows it
 * @throws Error that names the file and, for each fault, what was expected and what was found
 */
export function checkContract(file: string, session: Session, expected: Ports): void {
  const known = new Set(expected.inputs.map(({ name }) => name))
  const faults = [
    ...expected.inputs.flatMap((spec) => faultOf('input', spec, session.inputs)),
    ...expected.outputs.flatMap((spec) => faultOf('output', spec, session.outputs)),
    ...session.inputs.filter(({ name }) => !known.has(name)).map((port) => `unknown input ${port.name} ${shown(port)}`),
  ]
  if (faults.length === 0) return
  const more = faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : []
  throw new Error(`${file} is not the graph this model needs: ${[...faults.slice(0, maxFaults), ...more].join('; ')}`)
}

/** For ports that are numbered from 0, as the states of each layer: each `*` of the pattern is the number. */
export const numbered = (count: number, pattern: string, spec: Omit<PortSpec, 'name'>): PortSpec[] =>
  Array.from({ length: count }, (_, index) => ({ ...spec, name: pattern.replaceAll('*', String(index)) }))

function faultOf(kind: 'input' | 'output', spec: PortSpec, ports: readonly Port[]): string[] {
  const port = ports.find(({ name }) => name === spec.name)
  if (port === undefined) return [`no ${kind} ${spec.name} ${wanted(spec)}`]
  if (fits(spec, port)) return []
  return [`${kind} ${spec.name} is ${shown(port)}, but ${wanted(spec)} is expected`]
}

function fits({ type, dims }: PortSpec, port: Port): boolean {
  if (![type].flat().includes(port.type)) return false
  if (dims === null) return true
  if (dims.length !== port.dims.length) return false
  return port.dims.every((length, at) => typeof length === 'string' || dims[at] === null || dims[at] === length)
}

const shown = ({ type, dims }: Port): string =>
  `${type} [${dims.map((length) => (length === '' ? '?' : length)).join(', ')}]`

function wanted({ type, dims }: PortSpec): string {
  const shape = dims === null ? 'of any shape' : `[${dims.map((length) => length ?? '?').join(', ')}]`
  return `${[type].flat().join(' or ')} ${shape}`
}
