/** What the rewritten graphs compute, beside the same files as published: small models of random weights. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import { Random } from '../../domain/random.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { distance } from './branches.ts'
import { encoderPositions, readConfig } from './config.ts'
import { WhisperGraphs } from './graphs.ts'
import { type SmallModel, writeSmallModel } from './model.fixture.ts'
import { openSessions } from './sessions.ts'

const opened: { release(): Promise<void> }[] = []
afterAll(async () => {
  for (const one of opened) await one.release()
})

const prompt = [3, 1, 4, 1, 5]
const ids = [9, 2, 6, 5]

/** Logits of a prompt, then of each token after it. */
async function logitsOf(folder: string, weights: Card['weights']): Promise<Float32Array[]> {
  const config = await readConfig(folder)
  const graphs = await WhisperGraphs.load(folder, config, 1, weights)
  opened.push(graphs)
  const random = new Random(1)
  const sound = Float32Array.from({ length: encoderPositions * config.width }, () => 2 * random.next() - 1)
  const begun = await graphs.first(prompt, graphs.encoded(sound))
  const steps = begun.follow()
  const found = [begun.logits]
  for (const id of ids) found.push((await steps.step([id])).slice())
  steps.release()
  return found
}

test.each([
  ['optimum', 'fp32'],
  ['uint8', 'int8'],
] as const)('a decoder as %s exports it says the same in blocks of eight bits', async (kind, weights) => {
  const folder = await writeSmallModel(temporaryFolder(), { kind } satisfies SmallModel)
  const published = await logitsOf(folder, null)
  const rewritten = await logitsOf(folder, weights)
  const differences = rewritten.map((logits, at) => distance(logits, published[at]!))
  // A width of 16 leaves half a block, so rounding shows; wrong states differ by 0.5 and more (branches.ts).
  expect(Math.max(...differences)).toBeLessThan(0.3)
  // Otherwise the published graph was compared with itself.
  expect(Math.max(...differences)).toBeGreaterThan(0)
})

test.each([
  ['optimum', 'fp32'],
  ['uint8', 'int8'],
  ['optimum', null],
] as const)('a decoder as %s exports it gives the logits of the wanted tokens alone: %s', async (kind, weights) => {
  const folder = await writeSmallModel(temporaryFolder(), { kind } satisfies SmallModel)
  const config = await readConfig(folder)
  const graphs = await WhisperGraphs.load(folder, config, 1, weights)
  opened.push(graphs)
  const sound = graphs.encoded(new Float32Array(encoderPositions * config.width).fill(0.1))
  const { logits: all } = await graphs.first(prompt, sound)
  const { logits } = await graphs.first(prompt, sound, undefined, [1, 4])
  const row = (at: number) => all.subarray(at * config.vocabulary, (at + 1) * config.vocabulary)
  expect(logits.length).toBe(2 * config.vocabulary)
  expect(distance(logits.subarray(0, config.vocabulary), row(1))).toBeLessThan(1e-5)
  expect(distance(logits.subarray(config.vocabulary), row(4))).toBeLessThan(1e-5)
})

test('a decoder with two branches becomes two, and each asks only for what it needs', async () => {
  const folder = await writeSmallModel(temporaryFolder(), { kind: 'optimum' })
  const { encoder, first, next } = await openSessions(folder, await readConfig(folder), 1, 'fp32')
  opened.push(encoder, first, next)
  expect(first.inputs.map(({ name }) => name).sort()).toEqual([
    'embedded',
    'encoder_hidden_states',
    'input_ids',
    'wanted',
  ])
  expect(next.inputs.map(({ name }) => name)).not.toContain('use_cache_branch')
  expect(next.outputs.every(({ name }) => name === 'logits' || /^present\.\d+\.decoder/.test(name))).toBe(true)
})

test('what is not rewritten is run as it is', async () => {
  const folder = await writeSmallModel(temporaryFolder(), { kind: 'optimum' })
  for (const weights of ['fp16', null] as const) {
    const { encoder, first, next } = await openSessions(folder, await readConfig(folder), 1, weights)
    opened.push(encoder, first)
    expect(first).toBe(next)
  }
})

test('a file that is no model is refused in the words of ONNX Runtime', async () => {
  const folder = await writeSmallModel(temporaryFolder(), { kind: 'optimum' })
  await Bun.write(join(folder, 'decoder_model_merged.onnx'), 'This is a text, and no protobuf.')
  await expect(openSessions(folder, await readConfig(folder), 1, 'fp32')).rejects.toThrow('decoder_model_merged.onnx')
})
