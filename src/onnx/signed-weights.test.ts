/** With the built-in recogniser's graphs: bytes, two branches, and weights around them. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import type { Card } from '../domain/card.ts'
import { Random } from '../domain/random.ts'
import { embeddedFile } from '../embedded/models.ts'
import { createSession } from './back-end.ts'
import { multipliesBytesExactly } from './exact-bytes.ts'
import { type OrtNode, readOrtGraph } from './ort-format.ts'
import type { Session, Tensor, Tensors } from './session.ts'
import { signWeights } from './signed-weights.ts'

// The real graphs, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const card = cards.find(({ id }) => id === 'moonshine-tiny-en') as Card
const encoder = () => embeddedFile(card, 'encoder_model.ort')
const decoder = () => embeddedFile(card, 'decoder_model_merged.ort')
const isExact = await multipliesBytesExactly()

const random = new Random(11)
const noise = (dims: number[], scale = 1): Tensor => {
  const length = dims.reduce((product, each) => product * each, 1)
  return { type: 'float32', dims, data: Float32Array.from({ length }, () => scale * (2 * random.next() - 1)) }
}
const integers = (dims: number[], value: bigint): Tensor => ({
  type: 'int64',
  dims,
  data: new BigInt64Array(dims.reduce((product, each) => product * each, 1)).fill(value),
})

async function resultsOf(file: Uint8Array, all: readonly Tensors[]): Promise<Record<string, Tensor>[]> {
  const session: Session = await createSession(file, { threads: 2, onCpu: true })
  try {
    const results = []
    for (const feeds of all) results.push(await session.run(feeds))
    return results
  } finally {
    await session.release()
  }
}

const sound = (seconds: number): Tensors => ({
  input_values: noise([1, 16_000 * seconds], 0.1),
  attention_mask: integers([1, 16_000 * seconds], 1n),
})

/** The first step, which hears the sound, and a later one, which takes the other branch. */
function steps(): Tensors[] {
  const heard = { encoder_hidden_states: noise([1, 50, 288]), encoder_attention_mask: integers([1, 1], 1n) }
  return [false, true].map((isLater) => {
    const states = Array.from({ length: 6 }, (_, layer) =>
      ['decoder', 'encoder'].flatMap((part) =>
        ['key', 'value'].map((kind): [string, Tensor] => {
          const length = !isLater ? 0 : part === 'decoder' ? 9 : 50
          return [`past_key_values.${layer}.${part}.${kind}`, noise([1, 8, length, 36])]
        }),
      ),
    )
    const branch: Tensor = { type: 'bool', dims: [1], data: Uint8Array.of(Number(isLater)) }
    return {
      ...heard,
      ...Object.fromEntries(states.flat()),
      input_ids: integers([1, 1], 77n),
      use_cache_branch: branch,
    }
  })
}

// Another processor would add wrongly, which is why nothing is signed there.
test.skipIf(!isExact)('signed weights give the same numbers to the bit', async () => {
  for (const [read, feeds, weights] of [
    [encoder, [sound(1), sound(4)], 72],
    [decoder, steps(), 122],
  ] as const) {
    const expected = await resultsOf(await read(), feeds)
    const file = await read()
    expect(signWeights(file)).toBe(weights)
    expect(await resultsOf(file, feeds)).toEqual(expected)
  }
})

/** The same graph, but the zero point of one product is left out: it names an empty text instead. */
function withoutZeroPoint(whole: Uint8Array): Uint8Array {
  const isProduct = ({ operator }: OrtNode) => operator === 'DynamicQuantizeMatMul'
  const nameAt = Buffer.from(whole).indexOf(readOrtGraph(whole)!.nodes.find(isProduct)!.inputs[3]!) - 4
  const file = whole.slice()
  const view = new DataView(file.buffer)
  const emptyAt = file.findIndex(
    (_, at) => at > nameAt && at % 4 === 0 && file.subarray(at, at + 5).every((one) => !one),
  )
  for (let at = 0; at < nameAt; at += 4) {
    if (at + view.getUint32(at, true) !== nameAt) continue
    view.setUint32(at, emptyAt - at, true)
    if (readOrtGraph(file)?.nodes.some((node) => isProduct(node) && node.inputs[3] === '')) return file
    view.setUint32(at, nameAt - at, true)
  }
  throw new Error('no product names it')
}

test('weights without a zero point of their own stay as they are, and so do their numbers', async () => {
  const file = withoutZeroPoint(await encoder())
  const feeds = [sound(1)]
  const expected = isExact ? await resultsOf(file.slice(), feeds) : null
  expect(signWeights(file)).toBe(70)
  if (expected !== null) expect(await resultsOf(file, feeds)).toEqual(expected)
})

test('signing twice changes nothing more', async () => {
  const file = await encoder()
  signWeights(file)
  const once = file.slice()
  expect(signWeights(file)).toBe(0)
  expect(Buffer.from(file).equals(once)).toBe(true)
})

test('another file, and one that is cut or damaged anywhere, is never an error here', async () => {
  const whole = await encoder()
  const seed = Math.floor(Date.now() % 1e9)
  const chance = new Random(seed)
  for (const file of [new Uint8Array(), new TextEncoder().encode('1234ORTM'), new Uint8Array(100).fill(255)]) {
    expect(signWeights(file)).toBe(0)
  }
  for (let round = 0; round < 40; round++) {
    const length = round % 2 === 0 ? Math.floor(chance.next() * whole.length) : whole.length
    const file = whole.slice(0, length)
    for (let times = 0; times < 300; times++) file[Math.floor(chance.next() * Math.min(length, 400_000))] = 255
    try {
      signWeights(file)
    } catch (error) {
      throw new Error(`seed ${seed}, round ${round}`, { cause: error })
    }
  }
  expect(readOrtGraph(whole)?.nodes.length).toBeGreaterThan(100)
})
