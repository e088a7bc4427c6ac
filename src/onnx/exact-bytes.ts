/**
 * Whether this processor multiplies bytes exactly. Without its own instructions for that (VNNI, AMX), ONNX Runtime adds
 * two products of bytes in 16 bits, and what does not fit is cut: 255 * 127 + 255 * 127 becomes 32,767. Such a sum is
 * computed once, so the answer is that of the processor and the library at hand, not of a list of them.
 */
import { createSession } from './back-end.ts'
import { constant, elementTypes, type Graph, microsoft, type Node, writeModel } from './rewrite/graph.ts'
import { portOf } from './rewrite/port.ts'
import { lengthField, numberField } from './rewrite/wire.ts'

const { uint8, int8, float32 } = elementTypes
/** One row takes another way through the library than many. */
const rowCounts = [1, 64]
const [inputs, outputs] = [256, 64]
const [most, middle] = [255, 128]
const modelFields = { version: 1, opset: 8 } as const
const opsetFields = { version: 2 } as const

let known: Promise<boolean> | null = null

/** @throws Error when ONNX Runtime cannot be loaded */
export function multipliesBytesExactly(): Promise<boolean> {
  known ??= measure()
  return known
}

async function measure(): Promise<boolean> {
  const session = await createSession(writeModel({ graph: product(), rest: header() }), { threads: 1 })
  try {
    for (const rows of rowCounts) {
      const data = new Uint8Array(rows * inputs).fill(most)
      const { product: sums } = await session.run({ numbers: { type: 'uint8', dims: [rows, inputs], data } })
      if (sums?.data.some((sum, at) => Number(sum) !== expected(at % outputs))) return false
    }
    return true
  } finally {
    await session.release()
  }
}

const weightOf = (output: number): number => (output % 2 === 0 ? 127 : -127)
const expected = (output: number): number => inputs * (most - middle) * weightOf(output)

function product(): Graph {
  const weights = Uint8Array.from({ length: inputs * outputs }, (_, at) => weightOf(at % outputs))
  const node: Node = {
    op: 'MatMulIntegerToFloat',
    domain: microsoft,
    inputs: ['numbers', 'weights', 'one', 'one', 'middle'],
    outputs: ['product'],
    attributes: [],
  }
  const constants = [
    constant('weights', int8, [inputs, outputs], weights),
    constant('one', float32, [], new Uint8Array(Float32Array.of(1).buffer)),
    constant('middle', uint8, [], Uint8Array.of(middle)),
  ]
  return {
    name: 'bytes',
    nodes: [node],
    constants: new Map(constants.map((one) => [one.name, one])),
    inputs: new Map([['numbers', portOf('numbers', uint8, ['rows', inputs])]]),
    outputs: new Map([['product', portOf('product', float32, ['rows', outputs])]]),
  }
}

const header = (): Uint8Array[] => [
  ...numberField(modelFields.version, 8),
  ...lengthField(modelFields.opset, numberField(opsetFields.version, 17)),
]
