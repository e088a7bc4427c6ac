import { expect, test } from 'bun:test'
import { selfTestOutputs } from '../engine/protocol.ts'
import { bias, selfTestBytes, selfTestFile, weights } from '../testing/selftest-graph.ts'
import { runSelfTest, selfTestInput } from './selftest.ts'

test('the committed graph is what the writer makes', async () => {
  const committed = await Bun.file(selfTestFile).bytes()
  expect(Buffer.from(committed).toString('hex')).toBe(Buffer.from(selfTestBytes()).toString('hex'))
})

test('it computes what the server expects, which is x W + b', async () => {
  const { outputs, onnxRuntime } = await runSelfTest()
  const product = (column: number) =>
    selfTestInput.reduce((sum, x, row) => sum + x * (weights[row]?.[column] ?? Number.NaN), 0)
  expect(outputs).toEqual(bias.map((b, column) => product(column) + b))
  expect(outputs).toEqual([...selfTestOutputs])
  expect(onnxRuntime).toMatch(/^\d+\.\d+\.\d+/)
})
