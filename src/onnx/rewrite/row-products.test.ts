/** Products of bytes, beside the same products as exported. */
import { afterAll, expect, test } from 'bun:test'
import { Random } from '../../domain/random.ts'
import { distance } from '../../models/whisper/branches.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import { createFfiSession } from '../ffi/session.ts'
import { multipliesBytesExactly } from '../exact-bytes.ts'
import type { Session } from '../session.ts'
import { type Model, readModel, writeModel } from './graph.ts'
import { Made } from './made.ts'
import { inRows } from './row-products.ts'

const opened: Session[] = []
afterAll(async () => {
  for (const session of opened) await session.release()
})

const isExact = await multipliesBytesExactly()

const [inputs, outputs] = [96, 40]
const random = new Random(5)
const noise = (length: number) => Float32Array.from({ length }, () => 2 * random.next() - 1)
const port = (name: string, width: number) => ({ name, type: 'float32', dims: [1, 'rows', width] }) as const

/** Two products of the same numbers, as `torch.onnx` writes them. */
function ofFloats(opset: number): Uint8Array {
  const weights = (name: string) =>
    ({ name, type: 'float32', dims: [inputs, outputs], data: noise(inputs * outputs) }) as const
  return onnxModel(
    {
      name: 'floats',
      nodes: [
        { op: 'MatMul', inputs: ['given', 'first'], outputs: ['one'] },
        { op: 'MatMul', inputs: ['given', 'second'], outputs: ['two'] },
      ],
      inputs: [port('given', inputs)],
      outputs: [port('one', outputs), port('two', outputs)],
      constants: [weights('first'), weights('second')],
    },
    opset,
  )
}

/** A product as `quantize_dynamic` writes it, with unsigned weights. */
function ofBytes(): Uint8Array {
  const data = Uint8Array.from({ length: inputs * outputs }, () => Math.floor(256 * random.next()))
  const one = (name: string, type: 'float32' | 'uint8', value: Float32Array | Uint8Array) => {
    return { name, type, dims: [], data: value } as const
  }
  return onnxModel({
    name: 'bytes',
    nodes: [
      { op: 'DynamicQuantizeLinear', inputs: ['given'], outputs: ['rounded', 'scale', 'zero'] },
      { op: 'MatMulInteger', inputs: ['rounded', 'weights', 'zero', 'middle'], outputs: ['sums'] },
      { op: 'Cast', inputs: ['sums'], outputs: ['floats'], attributes: { to: 1n } },
      { op: 'Mul', inputs: ['scale', 'step'], outputs: ['scales'] },
      { op: 'Mul', inputs: ['floats', 'scales'], outputs: ['one'] },
    ],
    inputs: [port('given', inputs)],
    outputs: [port('one', outputs)],
    constants: [
      { name: 'weights', type: 'uint8', dims: [inputs, outputs], data },
      one('step', 'float32', Float32Array.of(0.01)),
      one('middle', 'uint8', Uint8Array.of(131)),
    ],
  })
}

async function rewritten(file: Uint8Array): Promise<Model> {
  const made = new Made(null)
  const model = inRows(readModel(file), made)
  await made.compute()
  return made.finished(model)
}

async function run(file: Uint8Array, data: Float32Array): Promise<Record<string, Float32Array>> {
  const session = await createFfiSession(file, { threads: 1 })
  opened.push(session)
  const dims = [1, data.length / inputs, inputs]
  const found = await session.run({ given: { type: 'float32', dims, data } })
  return Object.fromEntries(Object.entries(found).map(([name, { data: values }]) => [name, values as Float32Array]))
}

const countOf = ({ graph }: Model, op: string) => graph.nodes.filter((node) => node.op === op).length

// Other processors would add wrongly, so graphs are not rewritten for them.
test.skipIf(!isExact).each([17, 18])(
  'products with weights of 32 bits are nearly the same (opset %i)',
  async (opset) => {
    const file = ofFloats(opset)
    const model = await rewritten(file)
    const data = noise(20 * inputs)
    const [found, expected] = [await run(writeModel(model), data), await run(file, data)]
    for (const name of ['one', 'two']) expect(distance(found[name]!, expected[name]!)).toBeWithin(1e-6, 0.05)
    // What is multiplied twice is rounded once.
    expect(['MatMul', 'MatMulIntegerToFloat', 'QuantizeLinear'].map((op) => countOf(model, op))).toEqual([0, 2, 1])
  },
)

// Other processors would add wrongly, so graphs are not rewritten for them.
test.skipIf(!isExact)('a loud row takes nothing from the row beside it, which it does as published', async () => {
  const file = ofBytes()
  const model = await rewritten(file)
  expect(countOf(model, 'DynamicQuantizeLinear')).toBe(0)
  const quiet = noise(inputs)
  const both = new Float32Array([...quiet, ...noise(inputs).map((value) => 100 * value)])
  const [bytes, published] = [writeModel(model), file]
  const { one: alone } = await run(bytes, quiet)
  const { one: beside } = await run(bytes, both)
  expect(beside!.subarray(0, outputs)).toEqual(alone!)
  const { one: exact } = await run(published, quiet)
  expect(distance(alone!, exact!)).toBeWithin(1e-6, 0.05)
  const { one: spoiled } = await run(published, both)
  expect(distance(spoiled!.subarray(0, outputs), exact!)).toBeGreaterThan(0.1)
})

test('a row of zeros gives zeros', async () => {
  const { one } = await run(writeModel(await rewritten(ofFloats(17))), new Float32Array(2 * inputs))
  expect(one!.every((value) => value === 0)).toBe(true)
})

test('products of other numbers than the wanted ones stay as they are', async () => {
  const made = new Made(null)
  const model = inRows(readModel(ofFloats(17)), made, (from) => from !== 'given')
  expect(countOf(model, 'MatMul')).toBe(2)
})
