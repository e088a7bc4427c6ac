import { afterAll, expect, test } from 'bun:test'
import { type GraphSpec, onnxModel } from '../../testing/tiny-onnx.ts'
import { createSession } from '../../onnx/back-end.ts'
import type { Tensor } from '../../onnx/session.ts'
import { TdtDecoder } from './tdt.ts'

const never = new AbortController().signal
/** Tokens `a` and `b` and the blank, then five durations. */
const [a, b, blank] = [0, 1, 2] as const
const vocabulary = 3
const count = vocabulary + 5

/**
 * A frame holds the logits themselves. The last written token adds to them: `b` makes every frame advance by one. So
 * does the state, which counts the written tokens: each one makes the blank more likely.
 */
const zeros = (): number[] => Array.from({ length: count }, () => 0)
const byLastToken = [zeros(), zeros(), zeros()]
byLastToken[b]![vocabulary + 1] = 100
const byState = new Float32Array(count)
byState[blank] = 1

const state = (name: string) => ({ name, type: 'float32', dims: [2, 1, 1] }) as const
const graph: GraphSpec = {
  name: 'joint',
  nodes: [
    { op: 'Gather', inputs: ['by_last', 'targets'], outputs: ['last'] },
    { op: 'Transpose', inputs: ['encoder_outputs'], outputs: ['frame'], attributes: { perm: [0n, 2n, 1n] } },
    { op: 'ReduceSum', inputs: ['input_states_1', 'all'], outputs: ['written'], attributes: { keepdims: 0n } },
    { op: 'Mul', inputs: ['written', 'by_state'], outputs: ['tired'] },
    { op: 'Add', inputs: ['last', 'frame'], outputs: ['sum'] },
    { op: 'Add', inputs: ['sum', 'tired'], outputs: ['outputs'] },
    { op: 'Add', inputs: ['input_states_1', 'half'], outputs: ['output_states_1'] },
    { op: 'Identity', inputs: ['input_states_2'], outputs: ['output_states_2'] },
  ],
  inputs: [
    { name: 'encoder_outputs', type: 'float32', dims: [1, count, 1] },
    { name: 'targets', type: 'int32', dims: [1, 1] },
    { name: 'target_length', type: 'int32', dims: [1] },
    state('input_states_1'),
    state('input_states_2'),
  ],
  outputs: [
    { name: 'outputs', type: 'float32', dims: [1, 1, count] },
    state('output_states_1'),
    state('output_states_2'),
  ],
  constants: [
    { name: 'by_last', type: 'float32', dims: [3, count], data: Float32Array.from(byLastToken.flat()) },
    { name: 'by_state', type: 'float32', dims: [count], data: byState },
    { name: 'half', type: 'float32', dims: [1], data: Float32Array.of(0.5) },
    { name: 'all', type: 'int64', dims: [3], data: BigInt64Array.of(0n, 1n, 2n) },
  ],
}
const session = await createSession(onnxModel(graph), { threads: 1 })
afterAll(() => session.release())

/** A frame that favours this token by this much, and this duration. */
function frame(token: number, by: number, duration: number): number[] {
  const logits = zeros()
  logits[token] = by
  logits[vocabulary + duration] = 10
  return logits
}

function encoded(frames: readonly number[][]): { outputs: Tensor; frames: number } {
  const data = Float32Array.from({ length: count * frames.length }, (_, i) => {
    return frames[i % frames.length]![Math.floor(i / frames.length)]!
  })
  return { outputs: { type: 'float32', dims: [1, count, frames.length], data }, frames: frames.length }
}

async function written(frames: readonly number[][], maxTokensPerFrame = 10, heard = frames.length) {
  const decoder = new TdtDecoder(session, { vocabulary, maxTokensPerFrame })
  const emissions = await decoder.decode({ ...encoded(frames), frames: heard }, never)
  return emissions.map(({ token, frame: at, frames: takes }) => [token, at, takes])
}

const silent = (duration: number) => frame(blank, 9, duration)

test('a duration skips frames, after a token and after a blank', async () => {
  const frames = [frame(a, 9, 2), silent(1), silent(3), silent(1), silent(1), frame(a, 9, 4)]
  expect(await written(frames)).toEqual([
    [a, 0, 2],
    [a, 5, 4],
  ])
  expect(await written([silent(2), frame(a, 9, 1), silent(1)])).toEqual([])
})

test('a blank without a duration advances by one', async () => {
  expect(await written([silent(0), frame(a, 9, 1)])).toEqual([[a, 1, 1]])
})

test('a frame may give several tokens, each of which changes the state, until the blank wins', async () => {
  // The blank gains 1 with each token and wins after three. The blank itself does not change the state.
  expect(await written([frame(a, 2.5, 0), frame(a, 2.5, 0), frame(a, 3.5, 0)])).toEqual([
    [a, 0, 0],
    [a, 0, 0],
    [a, 0, 0],
    [a, 2, 0],
  ])
})

test('a frame that never ends is left after the limit, and the next one has the same limit', async () => {
  const endless = frame(a, 100, 0)
  const tokens = await written([endless, endless], 4)
  expect(tokens.map(([, at]) => at)).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
  expect(await written([endless])).toHaveLength(10)
})

test('a token that moves to the next frame resets the count', async () => {
  // After b the duration is always one, although b's own frame would stay.
  const tokens = await written([frame(b, 50, 0), frame(b, 50, 0), frame(b, 50, 0)], 2)
  expect(tokens).toEqual([
    [b, 0, 0],
    [b, 0, 1],
    [b, 1, 1],
    [b, 2, 1],
  ])
})

test('sound beyond the window is not transcribed', async () => {
  expect(await written([frame(a, 9, 1), frame(a, 9, 1), frame(a, 9, 1)], 10, 1)).toEqual([[a, 0, 1]])
  expect(await written([frame(a, 9, 1)], 10, 0)).toEqual([])
})

test('reports its confidence', async () => {
  const decoder = new TdtDecoder(session, { vocabulary, maxTokensPerFrame: 10 })
  const [only] = await decoder.decode(encoded([frame(a, 2, 1)]), never)
  expect(Math.exp(only!.logprob)).toBeCloseTo(Math.exp(2) / (Math.exp(2) + 2), 6)
})

test('reports a vocabulary of the wrong size', async () => {
  const decoder = new TdtDecoder(session, { vocabulary: 2, maxTokensPerFrame: 10 })
  const failure = await decoder.decode(encoded([silent(1)]), never).catch(String)
  expect(failure).toBe('Error: decoder_joint-model.onnx gives 8 numbers, but vocab.txt requires 7')
})

test('an abort ends it between two steps', async () => {
  const abort = new AbortController()
  const decoder = new TdtDecoder(session, { vocabulary, maxTokensPerFrame: 10 })
  const waiting = decoder.decode(encoded(Array.from({ length: 100_000 }, () => silent(1))), abort.signal).catch(String)
  setImmediate(() => abort.abort(new Error('enough')))
  expect(await waiting).toBe('Error: enough')
})
