/**
 * Unwanted work stops at once, in the whole program: a model whose every chunk takes longer than this test, through
 * HTTP, and the engine that works on it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { modelFolder } from '../../models/kokoro/kokoro.fixture.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { meanOf, products } from '../../testing/long-graph.ts'
import { withCards } from '../../testing/models-child.ts'
import { cpuTicks } from '../../testing/process.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { kokoroCard, smallCards } from '../../testing/small-models.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const dataDir = join(temporaryFolder(), 'data')
const command = withCards(smallCards)
const size = 600
/** 860,000,000,000 operations for each chunk: half a minute on a core that does thirty in a nanosecond. */
const nodes = 2000
let program: Program
let key: string
beforeAll(async () => {
  const { filesDir, remove } = await modelFolder(slowVoice())
  const imported = await runCommand(['models', 'import', kokoroCard.id, filesDir], {
    program: command,
    env: { MYNA_DATA: dataDir },
  })
  remove()
  if (imported.code !== 0) throw new Error(imported.stderr)
  program = await startProgram(dataDir, { MYNA_ENGINE_STALL_MS: '600000' }, [], command)
  key = program.key
})
afterAll(() => program?.end())

/** Of Kokoro's shape: the sound is the product of many matrices, starting with the style. */
function slowVoice(): Uint8Array {
  return onnxModel({
    name: 'slow',
    nodes: [
      { op: 'ReduceMean', inputs: ['style'], outputs: ['level'], attributes: { keepdims: 0n } },
      { op: 'Add', inputs: ['mean', 'level'], outputs: ['x'] },
      ...products('x', 'y', nodes),
      { op: 'Reshape', inputs: ['y', 'all'], outputs: ['waveform'] },
      { op: 'Identity', inputs: ['speed'], outputs: ['pace'] },
      { op: 'Identity', inputs: ['input_ids'], outputs: ['ids'] },
    ],
    inputs: [
      { name: 'input_ids', type: 'int64', dims: [1, 'length'] },
      { name: 'style', type: 'float32', dims: [1, 256] },
      { name: 'speed', type: 'float32', dims: [1] },
    ],
    outputs: [
      { name: 'waveform', type: 'float32', dims: [size * size] },
      { name: 'pace', type: 'float32', dims: [1] },
      { name: 'ids', type: 'int64', dims: [1, 'length'] },
    ],
    constants: [meanOf(size), { name: 'all', type: 'int64', dims: [1], data: BigInt64Array.of(-1n) }],
  })
}

const speak = (init: RequestInit) => {
  const body = JSON.stringify({ model: kokoroCard.id, voice: 'a', input: 'Good evening.', response_format: 'pcm' })
  return program.fetch('/v1/audio/speech', key, { method: 'POST', body, ...init })
}

/** A request, once the engine has been computing it for a while. @param ticks of 10 ms */
async function atWork(init: RequestInit = {}, ticks = 100): Promise<{ answer: Promise<unknown>; engine: number }> {
  const { pid } = await program.engine()
  if (pid === null) throw new Error('there is no engine')
  const answer = speak(init).then((got) => got.json(), String)
  await until('it is loaded', async () =>
    (await program.engine()).models.some(({ activeStreams }) => activeStreams > 0),
  )
  const before = cpuTicks(pid)
  await until('the engine computes', () => cpuTicks(pid) - before > ticks, 40_000)
  return { answer, engine: pid }
}

/** No work is running any more, in the same engine as before. */
async function freed(engine: number): Promise<void> {
  await until('the engine is free', async () => {
    const { activeStreams, models } = await program.engine()
    return activeStreams === 0 && models.every((model) => model.activeStreams === 0)
  })
  expect((await program.engine()).pid).toBe(engine)
  const spoken = await program.speak(key, {
    voice: 'alloy',
    model: 'hibari',
    input: 'Here I am.',
    response_format: 'pcm',
  })
  expect([spoken.status, (await spoken.arrayBuffer()).byteLength > 0]).toEqual([200, true])
}

test('a client that disconnects ends the run', async () => {
  const leaving = new AbortController()
  const { answer, engine } = await atWork({ signal: leaving.signal })
  leaving.abort()
  await freed(engine)
  expect(await answer).toContain('Abort')
})

test('a cancellation ends it too', async () => {
  const headers = { 'idempotency-key': 'cancelled' }
  const { answer, engine } = await atWork({ headers })
  const { error } = (await (await speak({ headers })).json()) as { error: { code: string; operation_id: string } }
  expect(error).toMatchObject({ code: 'duplicate_request', state: 'pending' })
  await program.fetch(`/v1/operations/${error.operation_id}/cancel`, key, { method: 'POST' })
  await freed(engine)
  expect(await answer).toMatchObject({ error: { code: 'operation_cancelled' } })
})
