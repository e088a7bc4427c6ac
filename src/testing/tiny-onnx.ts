/**
 * Writes small valid ONNX graphs, so that tests of everything that runs a graph need no downloaded weights. A model
 * file is one protobuf message; field numbers are those of onnx/onnx.proto (https://github.com/onnx/onnx).
 */
const elementTypes = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float16: 10 } as const
export type ElementType = keyof typeof elementTypes

export interface TensorSpec {
  name: string
  type: ElementType
  /** A word names a length that is known only when the graph runs. */
  dims: readonly (number | string)[]
}

export interface Constant extends TensorSpec {
  dims: readonly number[]
  data: Float32Array | Uint8Array | Uint16Array | Int32Array | BigInt64Array
}

/** To ONNX, integers (`1n`) and floats (`1`) are different attributes, so whole numbers are given as bigint. */
export type Attribute = number | bigint | string | readonly bigint[] | readonly number[] | GraphSpec

export interface NodeSpec {
  op: string
  inputs: readonly string[]
  outputs: readonly string[]
  attributes?: Readonly<Record<string, Attribute>>
}

export interface GraphSpec {
  name: string
  nodes: readonly NodeSpec[]
  inputs: readonly TensorSpec[]
  outputs: readonly TensorSpec[]
  constants?: readonly Constant[]
}

/** The bytes of a model file. @param metadata key-value pairs beside the graph */
export function onnxModel(graph: GraphSpec, opset = 17, metadata: Readonly<Record<string, string>> = {}): Uint8Array {
  const irVersion = 8
  return join([
    whole(1, irVersion),
    text(2, 'tiny-onnx'),
    message(7, graphFields(graph)),
    message(8, [text(1, ''), whole(2, opset)]),
    ...Object.entries(metadata).map(([key, value]) => message(14, [text(1, key), text(2, value)])),
  ])
}

function graphFields(graph: GraphSpec): Uint8Array[] {
  return [
    ...graph.nodes.map((node) => message(1, nodeFields(node))),
    text(2, graph.name),
    ...(graph.constants ?? []).map((constant) => message(5, constantFields(constant))),
    ...graph.inputs.map((input) => message(11, valueFields(input))),
    ...graph.outputs.map((output) => message(12, valueFields(output))),
  ]
}

const nodeFields = (node: NodeSpec): Uint8Array[] => [
  ...node.inputs.map((name) => text(1, name)),
  ...node.outputs.map((name) => text(2, name)),
  text(4, node.op),
  ...Object.entries(node.attributes ?? {}).map(([name, value]) =>
    message(5, [text(1, name), ...attributeFields(value)]),
  ),
]

/** The value's own field, and field 20, which states its kind. */
function attributeFields(value: Attribute): Uint8Array[] {
  if (typeof value === 'number') return [float(2, value), whole(20, 1)]
  if (typeof value === 'bigint') return [whole(3, value), whole(20, 2)]
  if (typeof value === 'string') return [text(4, value), whole(20, 3)]
  if (!isList(value)) return [message(6, graphFields(value)), whole(20, 5)]
  const items = Array.from<bigint | number, Uint8Array>(value, (item) =>
    typeof item === 'bigint' ? whole(8, item) : float(7, item),
  )
  return [...items, whole(20, typeof value[0] === 'number' ? 6 : 7)]
}

const isList = (value: object): value is readonly bigint[] | readonly number[] => Array.isArray(value)

/** A TensorProto with raw data, which ONNX wants in little-endian order. */
const constantFields = ({ name, type, dims, data }: Constant): Uint8Array[] => [
  ...dims.map((length) => whole(1, length)),
  whole(2, elementTypes[type]),
  text(8, name),
  bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
]

/** A ValueInfoProto: a name, and the type of a tensor with its shape. */
function valueFields({ name, type, dims }: TensorSpec): Uint8Array[] {
  const shape = dims.map((length) => message(1, [typeof length === 'number' ? whole(1, length) : text(2, length)]))
  const tensor = message(1, [whole(1, elementTypes[type]), message(2, shape)])
  return [text(1, name), message(2, [tensor])]
}

// Protobuf: a field is a tag (number and wire type) and a value (0: varint, 2: length and bytes, 5: four bytes).
const tag = (field: number, wireType: number): Uint8Array => varint(BigInt((field << 3) | wireType))
const whole = (field: number, value: number | bigint): Uint8Array =>
  join([tag(field, 0), varint(BigInt.asUintN(64, BigInt(value)))])
const bytes = (field: number, value: Uint8Array): Uint8Array =>
  join([tag(field, 2), varint(BigInt(value.length)), value])
const text = (field: number, value: string): Uint8Array => bytes(field, new TextEncoder().encode(value))
const message = (field: number, fields: readonly Uint8Array[]): Uint8Array => bytes(field, join(fields))

function float(field: number, value: number): Uint8Array {
  const four = new Uint8Array(4)
  new DataView(four.buffer).setFloat32(0, value, true)
  return join([tag(field, 5), four])
}

function varint(value: bigint): Uint8Array {
  const out: number[] = []
  let rest = value
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128)
  out.push(Number(rest))
  return Uint8Array.from(out)
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
