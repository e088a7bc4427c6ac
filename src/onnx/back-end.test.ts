import { expect, test } from 'bun:test'
import { selfTestOutputs } from '../engine/protocol.ts'
import { bias, selfTestFile, selfTestGraphs, weights } from '../testing/selftest-graph.ts'
import { selfTestInput } from './selftest.ts'
import { backEnd, runSelfTest } from './back-end.ts'
import { createFfiSession } from './ffi/session.ts'

test.each(Object.entries(selfTestGraphs))('%s is what the writer makes', async (name, bytes) => {
  const committed = await Bun.file(selfTestFile(name)).bytes()
  expect(Buffer.from(committed).toString('hex')).toBe(Buffer.from(bytes).toString('hex'))
})

test('computes what the server expects, x W + b', async () => {
  const { outputs, onnxRuntime } = await runSelfTest()
  const product = (column: number) =>
    selfTestInput.reduce((sum, x, row) => sum + x * (weights[row]?.[column] ?? Number.NaN), 0)
  expect(outputs).toEqual(bias.map((b, column) => product(column) + b))
  expect(outputs).toEqual([...selfTestOutputs])
  expect(onnxRuntime).toMatch(/^\d+\.\d+\.\d+/)
})

test('without a card, graphs run through the C API on the CPU, which is opened once', async () => {
  expect(await backEnd()).toMatchObject({ create: createFfiSession, isOnCard: false })
  expect(await backEnd()).toBe(await backEnd())
})
