import { afterAll, beforeAll, expect, test } from 'bun:test'
import { temporaryFolder } from '../../testing/folder.ts'
import { distance } from './branches.ts'
import { encoderPositions, readConfig, type WhisperConfig } from './config.ts'
import { windowFrames } from './features.ts'
import { WhisperGraphs } from './graphs.ts'
import { writeSmallModel } from './model.fixture.ts'
import { Random } from '../../domain/random.ts'

let config: WhisperConfig
let full: WhisperGraphs
let half: WhisperGraphs
beforeAll(async () => {
  const folders = [await writeSmallModel(temporaryFolder()), await writeSmallModel(temporaryFolder(), { kind: 'fp16' })]
  config = await readConfig(folders[0]!)
  full = await WhisperGraphs.load(folders[0]!, config, 1)
  half = await WhisperGraphs.load(folders[1]!, config, 1)
})
afterAll(async () => {
  await full.release()
  await half.release()
})

function noise(length: number): Float32Array {
  const random = new Random(2)
  return Float32Array.from({ length }, () => 2 * random.next() - 1)
}

const ids = [701, 702, 802, 5, 70, 500]

/** The logits after each token: the prompt's in one pass, the others step by step. */
async function follow(graphs: WhisperGraphs): Promise<Float32Array[]> {
  const first = await graphs.first(ids.slice(0, 3), graphs.encoded(noise(encoderPositions * config.width)))
  const rows = [0, 1, 2].map((row) => first.logits.slice(row * config.vocabulary, (row + 1) * config.vocabulary))
  const steps = first.follow()
  for (const id of ids.slice(3)) rows.push((await steps.step([id])).slice())
  steps.release()
  return rows
}

test('states in half precision give nearly the same result as full precision', async () => {
  const [exact, rounded] = [await follow(full), await follow(half)]
  expect(exact.length).toBe(ids.length)
  for (const [at, row] of exact.entries()) expect(distance(rounded[at]!, row)).toBeWithin(0.00001, 0.03)
})

test('the same beginning can be continued more than once', async () => {
  const first = await full.first(ids, await full.encode(noise(config.bands * windowFrames)))
  const one = first.follow()
  await one.step([3])
  const [other, again] = [first.follow(), await one.step([4])]
  await other.step([3])
  expect(await other.step([4])).toEqual(again)
  one.release()
  other.release()
})

test('attentions are shares of the whole sound, for each token of each head', async () => {
  const { attentions } = await full.first(ids, await full.encode(noise(config.bands * windowFrames)))
  expect(attentions!.length).toBe(config.layers)
  for (const layer of attentions!) {
    expect(layer.length).toBe(config.heads * ids.length * encoderPositions)
    for (let row = 0; row < layer.length; row += encoderPositions) {
      const sum = layer.subarray(row, row + encoderPositions).reduce((total, share) => total + share, 0)
      expect(sum).toBeCloseTo(1, 4)
    }
  }
})
