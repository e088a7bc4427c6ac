/**
 * Convolutions of bytes over one dimension become products of bytes, with the same sums. ONNX Runtime computes
 * `ConvInteger` with the weights first, but multiplies quickly only where the signed numbers come second. So places
 * become rows: each has the bytes of all channels that its window covers, one tap after another.
 */
import { convolutionBytes } from './column-weights.ts'
import {
  type Constant,
  constant,
  elementTypes,
  type Graph,
  type Model,
  type Node,
  numberIn,
  pruned,
  wholeAttribute,
  wholesAttribute,
  wholesIn,
  wordIn,
} from './graph.ts'
import type { Made } from './made.ts'

const { uint8, int8, int64 } = elementTypes
/** From this opset on, `Pad` and `Slice` take their numbers as inputs, and bytes. */
export const leastOpset = 13
/** The unsigned byte that means 0. */
const middle = 128
/** Of [1, channels, places] to [1, places, channels], and back. */
const perm = wholesAttribute('perm', [0, 2, 1])
/** To the last place, for `Slice`. */
const toEnd = 2n ** 31n - 1n

interface Convolution {
  bytes: string
  /** The byte that means 0. */
  zero: string
  weights: Constant & { raw: Uint8Array }
  weightsZero: number
  dilation: number
  pads: readonly [before: number, after: number]
}

/** @param model of `leastOpset` or later @param made what became of constants in another graph of the same file */
export function withoutConvolutions({ graph, rest }: Model, made: Made): Model {
  const numbers = new Numbers()
  const shared = new Set<string>()
  const nodes = graph.nodes.flatMap((node) => {
    const convolution = convolutionOf(node, graph)
    if (convolution === null) return [node]
    // What several convolutions of the same bytes need is computed once.
    const { before, product } = asProduct(convolution, node.outputs, made, numbers)
    const missing = before.filter(({ outputs }) => !shared.has(outputs[0]!))
    for (const { outputs } of missing) shared.add(outputs[0]!)
    return [...missing, ...product]
  })
  const constants = new Map([...graph.constants, ...made.declared, ...numbers.constants])
  return { graph: pruned({ ...graph, nodes, constants }, [...graph.outputs.keys()]), rest }
}

/** @returns null: another operator, or one with groups, steps of more than one place, or more dimensions */
function convolutionOf(node: Node, { constants }: Graph): Convolution | null {
  const [bytes, name, zero, zeroName] = node.inputs
  if (node.op !== 'ConvInteger' || bytes === undefined || zero === undefined || zero === '') return null
  const weights = constants.get(name ?? '')
  const weightsZero = zeroName === undefined || zeroName === '' ? 0 : numberIn(constants.get(zeroName))
  if (weights === undefined || weights.raw === null || weights.dims.length !== 3 || weightsZero === null) return null
  if (weights.type !== uint8 && weights.type !== int8) return null
  const { group = [1n], strides = [1n], dilations = [1n], pads = [0n, 0n] } = wholesIn(node)
  const isPlain = [...group, ...strides].every((count) => count === 1n) && pads.length === 2
  if (!isPlain || !['NOTSET', null].includes(wordIn(node, 'auto_pad'))) return null
  return {
    bytes,
    zero,
    weights: { ...weights, raw: weights.raw },
    weightsZero,
    dilation: Number(dilations[0]),
    pads: [Number(pads[0]), Number(pads[1])],
  }
}

function asProduct(
  convolution: Convolution,
  outputs: readonly string[],
  made: Made,
  numbers: Numbers,
): { before: Node[]; product: Node[] } {
  const { bytes, zero, weights, dilation, pads } = convolution
  const [, , taps = 1] = weights.dims
  const named = { bytes: `${weights.name}/taps`, zero: `${weights.name}/zero` }
  if (!made.declared.has(named.bytes)) declare(convolution, named, made)
  const rows = `${bytes}/rows`
  const padded = pads.some((count) => count > 0) ? `${rows}/${pads.join('-')}` : rows
  const before = [plain('Transpose', [bytes], rows, perm)]
  if (padded !== rows) {
    const counts = numbers.of([0n, BigInt(pads[0]), 0n, 0n, BigInt(pads[1]), 0n])
    before.push(plain('Pad', [rows, counts, zero], padded))
  }
  const covered = windows(padded, taps, dilation, numbers)
  const zeros = made.declared.has(named.zero) ? [named.zero] : []
  const sums = `${outputs[0]}/sums`
  return {
    before: [...before, ...covered.nodes],
    product: [
      plain('MatMulInteger', [covered.name, named.bytes, zero, ...zeros], sums),
      plain('Transpose', [sums], outputs[0]!, perm),
    ],
  }
}

/** The rows that each window covers, one after another. */
function windows(rows: string, taps: number, dilation: number, numbers: Numbers): { name: string; nodes: Node[] } {
  if (taps === 1) return { name: rows, nodes: [] }
  const name = `${rows}/${taps}x${dilation}`
  const parts = Array.from({ length: taps }, (_, tap) => {
    const after = dilation * (taps - 1 - tap)
    const [from, to] = [BigInt(dilation * tap), after === 0 ? toEnd : BigInt(-after)]
    return plain('Slice', [rows, numbers.of([from]), numbers.of([to]), numbers.of([1n])], `${name}/${tap}`)
  })
  const slices = parts.flatMap(({ outputs }) => outputs)
  return { name, nodes: [...parts, plain('Concat', slices, name, wholeAttribute('axis', 2))] }
}

const plain = (op: string, inputs: readonly string[], output: string, ...attributes: Uint8Array[]): Node => {
  return { op, domain: '', inputs, outputs: [output], attributes }
}

/** Lists of whole numbers that nodes take as inputs. */
class Numbers {
  readonly constants = new Map<string, Constant>()

  /** @returns the name of the constant */
  of(values: readonly bigint[]): string {
    const name = `numbers/${values.join(',')}`
    const raw = new Uint8Array(BigInt64Array.from(values).buffer)
    this.constants.set(name, constant(name, int64, [values.length], raw))
    return name
  }
}

function declare({ weights, weightsZero }: Convolution, names: { bytes: string; zero: string }, made: Made): void {
  const [outputs = 0, channels = 0, taps = 0] = weights.dims
  const shift = weights.type === int8 ? 0 : middle
  const { raw } = weights
  made.declare([{ name: names.bytes, type: int8, dims: [taps * channels, outputs] }], () => [
    convolutionBytes({ raw, outputs, channels, taps, shift }),
  ])
  if (weightsZero !== shift) {
    made.declare([{ name: names.zero, type: int8, dims: [] }], () => [Int8Array.of(weightsZero - shift)])
  }
}
