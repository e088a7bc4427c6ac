/**
 * Products with constant weights become products of bytes. Each row of what is multiplied is divided by its largest
 * number and rounded to 8 bits. `DynamicQuantizeLinear`, of published files, takes the largest number of all rows, so
 * loud rows cost quiet ones their digits. This is for many rows at once: on a processor that multiplies bytes, such a
 * product takes a quarter to a third of the time that it takes with 32 bits, or in blocks. Not every processor adds
 * such products exactly (`exact-bytes.ts`).
 */
import { columnBytes, signedBytes } from './column-weights.ts'
import {
  type Constant,
  constant,
  elementTypes,
  type Model,
  type Node,
  microsoft,
  opsetOf,
  pruned,
  wholeAttribute,
  wholesAttribute,
} from './graph.ts'
import type { Made } from './made.ts'
import { type Product, Products } from './products.ts'

const { float32, uint8, int8, int64 } = elementTypes
const largest = 127
/** The byte that means 0. */
const middle = 128
/** What a row of zeros is divided by. */
const least = 1e-30
/** From this opset on, `ReduceMax` takes its axes as an input. */
const axesInputOpset = 18

const names = {
  one: 'rows/one',
  middle: 'rows/middle',
  largest: 'rows/largest',
  least: 'rows/least',
  axes: 'rows/axes',
}

/** @param isWanted whether products of what has this name become such; others stay as they are */
export function inRows(model: Model, made: Made, isWanted = (_from: string) => true): Model {
  const { graph } = model
  const products = new Products(graph)
  const rounded = new Set<string>()
  const axesAreInput = opsetOf(model) >= axesInputOpset
  const nodes = graph.nodes.flatMap((node): readonly Node[] => {
    const product = products.endedBy(node)
    if (product === null || !isWanted(product.from)) return [node]
    const before = rounded.has(product.from) ? [] : rounding(product.from, axesAreInput)
    rounded.add(product.from)
    return [...before, ...productInRows(product, node.outputs, made)]
  })
  const constants = new Map([...graph.constants, ...made.declared, ...numbers])
  return { ...model, graph: pruned({ ...graph, nodes, constants }, [...graph.outputs.keys()]) }
}

const float = (name: string, value: number): Constant =>
  constant(name, float32, [], new Uint8Array(Float32Array.of(value).buffer))

const numbers: ReadonlyMap<string, Constant> = new Map(
  [
    float(names.one, 1),
    float(names.largest, largest),
    float(names.least, least),
    constant(names.middle, uint8, [], Uint8Array.of(middle)),
    constant(names.axes, int64, [1], new Uint8Array(BigInt64Array.of(-1n).buffer)),
  ].map((one) => [one.name, one]),
)

/** Once for all products of the same numbers: their bytes, and the largest of each row. */
function rounding(from: string, axesAreInput: boolean): Node[] {
  const of = (what: string) => `${from}/${what}`
  const reduce = (op: string, output: string): Node => ({
    op,
    domain: '',
    inputs: axesAreInput ? [from, names.axes] : [from],
    outputs: [output],
    attributes: [wholeAttribute('keepdims', 1), ...(axesAreInput ? [] : [wholesAttribute('axes', [-1])])],
  })
  const plain = (op: string, inputs: readonly string[], output: string): Node => {
    return { op, domain: '', inputs, outputs: [output], attributes: [] }
  }
  return [
    reduce('ReduceMax', of('highest')),
    reduce('ReduceMin', of('lowest')),
    plain('Neg', [of('lowest')], of('depth')),
    plain('Max', [of('highest'), of('depth'), names.least], of('largest')),
    plain('Div', [names.largest, of('largest')], of('inverse')),
    plain('Mul', [from, of('inverse')], of('scaled')),
    plain('QuantizeLinear', [of('scaled'), names.one, names.middle], of('bytes')),
  ]
}

function productInRows(product: Product, outputs: readonly string[], made: Made): Node[] {
  const { from, name } = product
  const named = { bytes: `${name}/bytes`, scales: `${name}/columns`, zero: `${name}/zero` }
  if (!made.declared.has(named.bytes)) declare(product, named, made)
  const rows = `${outputs[0]}/rows`
  const zeros = made.declared.has(named.zero) ? [named.zero] : []
  const inputs = [`${from}/bytes`, named.bytes, names.one, named.scales, names.middle, ...zeros]
  return [
    { op: 'MatMulIntegerToFloat', domain: microsoft, inputs, outputs: [rows], attributes: [] },
    { op: 'Mul', domain: '', inputs: [rows, `${from}/largest`], outputs, attributes: [] },
  ]
}

interface Names {
  bytes: string
  scales: string
  zero: string
}

function declare({ inputs, outputs, weights }: Product, { bytes: name, scales, zero }: Names, made: Made): void {
  const { raw, turned, bytes } = weights
  const dims = [inputs, outputs]
  // What is multiplied has been divided by its largest number and multiplied by 127.
  const scaled = (scale: number) => scale / largest
  if (bytes === null) {
    const declared = [
      { name, type: int8, dims },
      { name: scales, type: float32, dims: [outputs] },
    ]
    made.declare(declared, () => {
      const found = columnBytes(raw, outputs, inputs, turned)
      return [found.bytes, found.scales.map(scaled)]
    })
    return
  }
  const shift = bytes.isSigned ? 0 : middle
  made.declare([{ name, type: int8, dims }], () => [signedBytes({ raw, outputs, inputs, turned, shift })])
  made.declare([{ name: scales, type: float32, dims: [] }], () => [Float32Array.of(scaled(bytes.scale))])
  if (bytes.zero !== shift)
    made.declare([{ name: zero, type: int8, dims: [] }], () => [Int8Array.of(bytes.zero - shift)])
}
