/** Products in the place of convolutions, beside the convolutions themselves: the sums are the same. */
import { afterAll, expect, test } from 'bun:test'
import { forEachSeed, type Seeded } from '../../testing/seeded.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import { createFfiSession } from '../ffi/session.ts'
import { multipliesBytesExactly } from '../exact-bytes.ts'
import type { Session } from '../session.ts'
import { withoutConvolutions } from './byte-convolutions.ts'
import { type Model, readModel, writeModel } from './graph.ts'
import { Made } from './made.ts'

const opened: Session[] = []
afterAll(async () => {
  for (const session of opened) await session.release()
})

const isExact = await multipliesBytesExactly()

interface Shape {
  channels: number
  outputs: number
  taps: number
  dilation: number
  pads: readonly [number, number]
  stride: number
  groups: number
}

/** Two convolutions of the same numbers, whose sums are made floats. */
function convolutions(random: Seeded, { channels, outputs, taps, dilation, pads, stride, groups }: Shape): Uint8Array {
  const length = outputs * (channels / groups) * taps
  const weights = (name: string) => {
    const data = Uint8Array.from({ length }, () => random.whole(0, 255))
    return { name, type: 'uint8', dims: [outputs, channels / groups, taps], data } as const
  }
  const zero = (name: string) => ({ name, type: 'uint8', dims: [], data: Uint8Array.of(random.whole(0, 255)) }) as const
  const attributes = {
    dilations: [BigInt(dilation)],
    group: BigInt(groups),
    kernel_shape: [BigInt(taps)],
    pads: pads.map(BigInt),
    strides: [BigInt(stride)],
  }
  const convolution = (at: string) => [
    { op: 'ConvInteger', inputs: ['bytes', `w${at}`, 'zero', `z${at}`], outputs: [`sums${at}`], attributes },
    { op: 'Cast', inputs: [`sums${at}`], outputs: [`result${at}`], attributes: { to: 1n } },
  ]
  return onnxModel({
    name: 'convolutions',
    nodes: [
      { op: 'DynamicQuantizeLinear', inputs: ['given'], outputs: ['bytes', 'scale', 'zero'] },
      ...convolution('1'),
      ...convolution('2'),
    ],
    inputs: [{ name: 'given', type: 'float32', dims: [1, channels, 'places'] }],
    outputs: ['result1', 'result2'].map((name) => ({ name, type: 'float32', dims: [1, outputs, 'left'] }) as const),
    constants: [weights('w1'), zero('z1'), weights('w2'), zero('z2')],
  })
}

async function rewritten(file: Uint8Array): Promise<Model> {
  const made = new Made(null)
  const model = withoutConvolutions(readModel(file), made)
  await made.compute()
  return made.finished(model)
}

async function run(file: Uint8Array, channels: number, data: Float32Array): Promise<unknown> {
  const session = await createFfiSession(file, { threads: 1 })
  opened.push(session)
  const dims = [1, channels, data.length / channels]
  const found = await session.run({ given: { type: 'float32', dims, data } })
  return ['result1', 'result2'].map((name) => [found[name]!.dims, found[name]!.data])
}

const countOf = ({ graph }: Model, op: string) => graph.nodes.filter((node) => node.op === op).length
const noise = (random: Seeded, length: number) => Float32Array.from({ length }, () => 2 * random.next() - 1)

// Other processors would add wrongly, so graphs are not rewritten for them.
test.skipIf(!isExact)('the sums are the same, whatever the window', () =>
  forEachSeed(25, async (random) => {
    const [taps, dilation] = [random.whole(1, 5), random.whole(1, 3)]
    const channels = random.whole(1, 9)
    const pads = [random.whole(0, 6), random.whole(0, 6)] as const
    const outputs = random.whole(1, 9)
    const file = convolutions(random, { channels, outputs, taps, dilation, pads, stride: 1, groups: 1 })
    const model = await rewritten(file)
    expect(countOf(model, 'ConvInteger')).toBe(0)
    // Both need the same rows.
    expect(countOf(model, 'Concat')).toBe(taps === 1 ? 0 : 1)
    const data = noise(random, channels * random.whole(dilation * (taps - 1) + 1, 30))
    expect(await run(writeModel(model), channels, data)).toEqual(await run(file, channels, data))
  }),
)

test('steps of several places and groups stay as they are', () =>
  forEachSeed(3, async (random) => {
    const shape = { channels: 4, outputs: 4, taps: 3, dilation: 1, pads: [1, 1], stride: 1, groups: 1 } as const
    for (const other of [{ stride: 2 }, { groups: 2 }]) {
      const model = await rewritten(convolutions(random, { ...shape, ...other }))
      expect(countOf(model, 'ConvInteger')).toBe(2)
    }
  }))
