import { expect, test } from 'bun:test'
import { embeddedFile } from '../embedded/models.ts'
import { cards } from '../catalog/cards.ts'
import { createSession } from './back-end.ts'
import { exposeOutput } from './expose-output.ts'

test('a value inside a graph becomes an output, and the other outputs stay as they are', async () => {
  const card = cards.find(({ id }) => id === 'hibari')!
  const model = await embeddedFile(card, 'hibari.onnx')
  const [plain, exposed] = [
    await createSession(model, { threads: 1 }),
    await createSession(exposeOutput(model, '/Cast_32_output_0'), { threads: 1 }),
  ]
  const names = plain.outputs.map(({ name }) => name)
  expect(exposed.outputs.map(({ name }) => name)).toEqual([...names, '/Cast_32_output_0'])
  const feeds = {
    ids: { type: 'int64', dims: [1, 5], data: BigInt64Array.from([0n, 50n, 83n, 4n, 0n]) },
    speed: { type: 'float32', dims: [1], data: Float32Array.of(1) },
  } as const
  const [one, other] = [await plain.run(feeds), await exposed.run(feeds)]
  expect(other.f0!.data).toEqual(one.f0!.data)
  const lengths = Array.from(other['/Cast_32_output_0']!.data as BigInt64Array, Number)
  expect(lengths).toHaveLength(5)
  // Two frames a unit.
  expect(2 * lengths.reduce((sum, length) => sum + length, 0)).toBe(one.f0!.data.length)
  await Promise.all([plain.release(), exposed.release()])
})

test('a name that no node has is refused when the graph is loaded', async () => {
  const card = cards.find(({ id }) => id === 'hibari')!
  const model = exposeOutput(await embeddedFile(card, 'hibari.onnx'), 'no such value')
  await expect(createSession(model, { threads: 1 })).rejects.toThrow()
})
