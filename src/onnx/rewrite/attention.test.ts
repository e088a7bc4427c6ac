/** A small encoder of random weights, as the tools of Hugging Face export it. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Random } from '../../domain/random.ts'
import { distance } from '../../models/whisper/branches.ts'
import { writeSmallModel } from '../../models/whisper/model.fixture.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { createFfiSession } from '../ffi/session.ts'
import type { Session } from '../session.ts'
import { inHeads } from './attention.ts'
import { type Model, readModel, writeModel } from './graph.ts'

const opened: Session[] = []
afterAll(async () => {
  for (const session of opened) await session.release()
})

async function encoder(): Promise<Model> {
  const folder = await writeSmallModel(temporaryFolder(), { kind: 'optimum' })
  return readModel(await Bun.file(join(folder, 'encoder_model.onnx')).bytes())
}
const countOf = ({ graph }: Model, op: string) => graph.nodes.filter((node) => node.op === op).length
const rewritten = ({ graph, rest }: Model): Model => ({ graph: inHeads(graph), rest })

async function encoded(model: Model, features: Float32Array): Promise<Float32Array> {
  const session = await createFfiSession(writeModel(model), { threads: 1 })
  opened.push(session)
  const [input] = session.inputs
  const bands = Number(input!.dims[1])
  const dims = [1, bands, features.length / bands]
  const outputs = await session.run({ [input!.name]: { type: 'float32', dims, data: features } })
  return outputs['last_hidden_state']!.data as Float32Array
}

test('each attention of a sound to itself becomes one node, with the same result', async () => {
  const published = await encoder()
  const layers = countOf(published, 'Softmax')
  expect(layers).toBeGreaterThan(0)
  const whole = rewritten(published)
  expect([countOf(whole, 'MultiHeadAttention'), countOf(whole, 'Softmax')]).toEqual([layers, 0])
  const random = new Random(3)
  const features = Float32Array.from({ length: 80 * 3000 }, () => 2 * random.next() - 1)
  expect(distance(await encoded(whole, features), await encoded(published, features))).toBeLessThan(1e-4)
})

test('attention of another form stays as it is', async () => {
  const { graph, rest } = await encoder()
  const nodes = graph.nodes.map((node) => (node.op === 'Softmax' ? { ...node, op: 'LogSoftmax' } : node))
  const other = rewritten({ graph: { ...graph, nodes }, rest })
  expect([countOf(other, 'MultiHeadAttention'), countOf(other, 'LogSoftmax')]).toEqual([0, 1])
})
