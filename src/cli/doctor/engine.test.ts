import { expect, setDefaultTimeout, test } from 'bun:test'
import { EngineClient } from '../../engine/client.ts'
import { onnxRuntimeVersion } from '../../embedded/onnx-runtime.ts'
import { testEngineCommand, type TestEngine } from '../../testing/engine-child.ts'
import { checkInference } from './engine.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

async function found(engine: Partial<TestEngine>) {
  const limits = { readyMs: 10_000, stallMs: 10_000, loadMs: 10_000, log: () => {} }
  const command = testEngineCommand(engine)
  const client = new EngineClient({ task: 'text-to-speech', command, env: {}, ...limits })
  const finding = await checkInference(client)
  await client.close()
  return finding
}
const computes = `ONNX Runtime ${onnxRuntimeVersion} computes exactly, in an engine process on`

test.each([
  ['a card', { device: 'cuda:1' }, 'ok', `${computes} cuda:1`],
  ['the CPU', {}, 'ok', `${computes} cpu`],
  ['the CPU for want of a card', { deviceReason: 'no driver' }, 'ok', `${computes} cpu, because no driver`],
  [
    'the CPU beside a card',
    { deviceReason: 'cuda:0: CUDA failure 2: out of memory' },
    'warning',
    `${computes} cpu, because cuda:0: CUDA failure 2: out of memory`,
  ],
])('inference on %s', async (_, engine, state, message) => {
  expect(await found(engine)).toMatchObject({ state, message })
})

test('an engine that cannot start cannot compute', async () => {
  expect(await found({ start: 'crash' })).toMatchObject({ state: 'failed' })
})
