/**
 * A graph from an ONNX file, as far as rewriting needs it (onnx.proto): nodes in an order in which they can be
 * computed, constants, inputs and outputs. Everything else stays as it is; notes about inner values are left out,
 * because ONNX Runtime finds them out by itself.
 */
import {
  type Field,
  fieldsOf,
  floatField,
  joined,
  lengthField,
  numberField,
  type Pieces,
  wholeNumbers,
} from './wire.ts'

const modelFields = { graph: 7, opsets: 8 } as const
const graphFields = { node: 1, name: 2, initializer: 5, input: 11, output: 12 } as const
const nodeFields = { input: 1, output: 2, op: 4, attribute: 5, domain: 7 } as const
const attributeFields = { name: 1, float: 2, whole: 3, text: 4, tensor: 5, graph: 6, wholes: 8, type: 20 } as const
const tensorFields = { dims: 1, type: 2, floats: 4, wholes: 5, name: 8, raw: 9, external: 13, isExternal: 14 } as const
const entryFields = { key: 1, value: 2 } as const
const opsetFields = { domain: 1, version: 2 } as const
/** The first field of whatever has a name, other than a tensor. */
const nameField = 1
const [floatType, wholeType, wholesType] = [1, 2, 7]

/** The domain of ONNX Runtime's own operators. */
export const microsoft = 'com.microsoft'

export const elementTypes = { float32: 1, uint8: 2, int8: 3, int64: 7, float16: 10 } as const

export interface Node {
  op: string
  domain: string
  inputs: readonly string[]
  outputs: readonly string[]
  attributes: readonly Uint8Array[]
}

/** A constant of the file. */
export interface Constant {
  name: string
  dims: readonly number[]
  /** One of `elementTypes`, or another. */
  type: number
  /** Its elements, one after another; null: they are kept in another way, or elsewhere. */
  raw: Uint8Array | null
  /** They are in a file beside the one that was read, which a graph in another folder does not find. */
  isElsewhere: boolean
  pieces: Pieces
}

export interface Graph {
  name: string
  nodes: readonly Node[]
  constants: ReadonlyMap<string, Constant>
  /** By name, as they stand in the file. */
  inputs: ReadonlyMap<string, Uint8Array>
  outputs: ReadonlyMap<string, Uint8Array>
}

export interface Model {
  graph: Graph
  /** All fields but the graph. */
  rest: readonly Uint8Array[]
}

const decoder = new TextDecoder()
const textOf = (content: Uint8Array): string => decoder.decode(content)
const textsIn = (fields: readonly Field[], number: number): string[] =>
  fields.filter((field) => field.number === number).map(({ content }) => textOf(content))

/** @throws RangeError, Error where the bytes are not a model */
export function readModel(file: Uint8Array): Model {
  const fields = fieldsOf(file)
  const graph = fields.find(({ number }) => number === modelFields.graph)
  if (graph === undefined) throw new Error('the file has no graph')
  return {
    graph: readGraph(graph.content),
    rest: fields.flatMap(({ number, raw }) => (number === modelFields.graph ? [] : [raw])),
  }
}

function readGraph(content: Uint8Array): Graph {
  const fields = fieldsOf(content)
  const all = (number: number) => fields.filter((field) => field.number === number).map((field) => field.content)
  const named = (number: number) =>
    new Map(all(number).map((port) => [textsIn(fieldsOf(port), nameField)[0] ?? '', port]))
  return {
    name: textsIn(fields, graphFields.name)[0] ?? '',
    nodes: all(graphFields.node).map(readNode),
    constants: new Map(
      all(graphFields.initializer)
        .map(readConstant)
        .map((constant) => [constant.name, constant]),
    ),
    inputs: named(graphFields.input),
    outputs: named(graphFields.output),
  }
}

function readNode(content: Uint8Array): Node {
  const fields = fieldsOf(content)
  return {
    op: textsIn(fields, nodeFields.op)[0] ?? '',
    domain: textsIn(fields, nodeFields.domain)[0] ?? '',
    inputs: textsIn(fields, nodeFields.input),
    outputs: textsIn(fields, nodeFields.output),
    attributes: fields.filter(({ number }) => number === nodeFields.attribute).map((field) => field.content),
  }
}

function readConstant(content: Uint8Array): Constant {
  const fields = fieldsOf(content)
  const dims = fields.filter(({ number }) => number === tensorFields.dims)
  return {
    name: textsIn(fields, tensorFields.name)[0] ?? '',
    // Packed or one by one.
    dims: dims.flatMap(({ content: packed, value }) =>
      packed.length > 0 ? wholeNumbers(packed).map(Number) : [value],
    ),
    type: fields.find(({ number }) => number === tensorFields.type)?.value ?? 0,
    raw: rawIn(fields),
    isElsewhere: fields.some(({ number, value }) => number === tensorFields.isExternal && value === 1),
    pieces: [content],
  }
}

/** The elements of small constants are often written as lists of numbers. */
function rawIn(fields: readonly Field[]): Uint8Array | null {
  const contentOf = (wanted: number) => fields.find(({ number }) => number === wanted)?.content
  const bytes = fields.some(({ number, value }) => number === tensorFields.type && byteTypes.includes(value))
  const wholes = bytes ? contentOf(tensorFields.wholes) : undefined
  const listed =
    wholes === undefined
      ? contentOf(tensorFields.floats)
      : Uint8Array.from(wholeNumbers(wholes), (whole) => Number(whole & 0xffn))
  return contentOf(tensorFields.raw) ?? listed ?? null
}

const byteTypes: readonly number[] = [elementTypes.uint8, elementTypes.int8]

/** The number that a constant of one number has. @returns null: it is missing, or of another type or length */
export function numberIn(found: Constant | undefined): number | null {
  const { raw = null, type = 0 } = found ?? {}
  if (raw === null) return null
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length)
  if (type === elementTypes.float32) return raw.length === 4 ? view.getFloat32(0, true) : null
  if (raw.length !== 1 || !byteTypes.includes(type)) return null
  return type === elementTypes.int8 ? view.getInt8(0) : view.getUint8(0)
}

/** The graph in an attribute, such as a branch of `If`. @returns null: the node has none of that name */
export function graphIn(node: Node, name: string): Graph | null {
  const content = attributeIn(node, name, attributeFields.graph)
  return content === null ? null : readGraph(content)
}

/** The tensor in an attribute, such as the value of `Constant`. @returns null: the node has none of that name */
export function tensorIn(node: Node, name: string): Constant | null {
  const content = attributeIn(node, name, attributeFields.tensor)
  return content === null ? null : readConstant(content)
}

/** A word in an attribute. @returns null: the node has none of that name */
export function wordIn(node: Node, name: string): string | null {
  const content = attributeIn(node, name, attributeFields.text)
  return content === null ? null : textOf(content)
}

/** Attributes of whole numbers, by name; others have none. */
export function wholesIn({ attributes }: Node): Record<string, readonly bigint[]> {
  return Object.fromEntries(
    attributes.map((attribute) => {
      const fields = fieldsOf(attribute)
      const all = fields.filter(({ number }) => number === attributeFields.wholes || number === attributeFields.whole)
      const values = all.flatMap(({ content, value }) => (content.length > 0 ? wholeNumbers(content) : [BigInt(value)]))
      return [textsIn(fields, attributeFields.name)[0] ?? '', values] as const
    }),
  )
}

function attributeIn({ attributes }: Node, name: string, kind: number): Uint8Array | null {
  for (const attribute of attributes) {
    const fields = fieldsOf(attribute)
    const found = fields.find(({ number }) => number === kind)
    if (textsIn(fields, attributeFields.name)[0] === name && found !== undefined) return found.content
  }
  return null
}

/** @param raw its elements, one after another */
export function constant(name: string, type: number, dims: readonly number[], raw: Uint8Array): Constant {
  const pieces = [
    ...dims.flatMap((length) => numberField(tensorFields.dims, length)),
    ...numberField(tensorFields.type, type),
    ...lengthField(tensorFields.name, name),
    ...lengthField(tensorFields.raw, raw),
  ]
  return { name, dims, type, raw, isElsewhere: false, pieces }
}

/** Part of a file beside the graph's. */
export interface Place {
  file: string
  offset: number
  length: number
}

/** A constant whose elements are in another file. */
export function externalConstant(
  name: string,
  type: number,
  dims: readonly number[],
  { file, offset, length }: Place,
): Constant {
  const entries = { location: file, offset: `${offset}`, length: `${length}` }
  const pieces = [
    ...dims.flatMap((count) => numberField(tensorFields.dims, count)),
    ...numberField(tensorFields.type, type),
    ...lengthField(tensorFields.name, name),
    ...Object.entries(entries).flatMap(([key, value]) =>
      lengthField(tensorFields.external, [
        ...lengthField(entryFields.key, key),
        ...lengthField(entryFields.value, value),
      ]),
    ),
    ...numberField(tensorFields.isExternal, 1),
  ]
  return { name, dims, type, raw: null, isElsewhere: false, pieces }
}

export const wholeAttribute = (name: string, value: number): Uint8Array =>
  joined([
    ...lengthField(attributeFields.name, name),
    ...numberField(attributeFields.whole, value),
    ...numberField(attributeFields.type, wholeType),
  ])

export const wholesAttribute = (name: string, values: readonly number[]): Uint8Array =>
  joined([
    ...lengthField(attributeFields.name, name),
    ...values.flatMap((value) => numberField(attributeFields.wholes, value)),
    ...numberField(attributeFields.type, wholesType),
  ])

export const floatAttribute = (name: string, value: number): Uint8Array =>
  joined([
    ...lengthField(attributeFields.name, name),
    ...floatField(attributeFields.float, value),
    ...numberField(attributeFields.type, floatType),
  ])

/** Only what these outputs need: nodes, constants and inputs. */
export function pruned(graph: Graph, outputs: readonly string[]): Graph {
  const needed = new Set(outputs)
  const nodes: Node[] = []
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some((name) => needed.has(name))) continue
    nodes.push(node)
    for (const name of node.inputs) needed.add(name)
  }
  const kept = <T>(all: ReadonlyMap<string, T>) => new Map([...all].filter(([name]) => needed.has(name)))
  return {
    name: graph.name,
    nodes: nodes.reverse(),
    constants: kept(graph.constants),
    inputs: kept(graph.inputs),
    outputs: new Map([...graph.outputs].filter(([name]) => outputs.includes(name))),
  }
}

/** The version of the standard operators; 0: the file does not say. */
export const opsetOf = ({ rest }: Model): number => opsets(rest).find(({ domain }) => domain === '')?.version ?? 0

/** With ONNX Runtime's own operators beside those of the file. */
export function writeModel({ graph, rest }: Model): Uint8Array<ArrayBuffer> {
  const isKnown = opsets(rest).some(({ domain }) => domain === microsoft)
  const own = [...lengthField(opsetFields.domain, microsoft), ...numberField(opsetFields.version, 1)]
  const added = isKnown ? [] : lengthField(modelFields.opsets, own)
  return joined([...rest, ...added, ...lengthField(modelFields.graph, piecesOf(graph))])
}

function opsets(rest: readonly Uint8Array[]): { domain: string; version: number }[] {
  const given = fieldsOf(joined(rest)).filter(({ number }) => number === modelFields.opsets)
  return given.map(({ content }) => {
    const fields = fieldsOf(content)
    const version = fields.find(({ number }) => number === opsetFields.version)?.value ?? 0
    return { domain: textsIn(fields, opsetFields.domain)[0] ?? '', version }
  })
}

const piecesOf = ({ name, nodes, constants, inputs, outputs }: Graph): Uint8Array[] => [
  ...lengthField(graphFields.name, name),
  ...nodes.flatMap((node) => lengthField(graphFields.node, nodePieces(node))),
  ...[...constants.values()].flatMap(({ pieces }) => lengthField(graphFields.initializer, pieces)),
  ...[...inputs.values()].flatMap((port) => lengthField(graphFields.input, port)),
  ...[...outputs.values()].flatMap((port) => lengthField(graphFields.output, port)),
]

const nodePieces = ({ op, domain, inputs, outputs, attributes }: Node): Uint8Array[] => [
  ...inputs.flatMap((input) => lengthField(nodeFields.input, input)),
  ...outputs.flatMap((output) => lengthField(nodeFields.output, output)),
  ...lengthField(nodeFields.op, op),
  ...attributes.flatMap((attribute) => lengthField(nodeFields.attribute, attribute)),
  ...(domain === '' ? [] : lengthField(nodeFields.domain, domain)),
]
