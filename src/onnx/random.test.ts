/** Both back ends over small random graphs of every type. Their answers must agree to the last bit. */
import { expect, test } from 'bun:test'
import { Seeded } from '../testing/seeded.ts'
import { onnxModel, type GraphSpec, type NodeSpec, type TensorSpec } from '../testing/tiny-onnx.ts'
import { arrays } from './tensor-checks.ts'
import { createFfiSession } from './ffi/session.ts'
import { createNodeSession } from '../testing/reference-session.ts'
import type { CreateSession, Tensor, Tensors } from './session.ts'

const types = ['float32', 'float16', 'int32', 'int64', 'uint8', 'bool'] as const
type Type = (typeof types)[number]

/** What ONNX Runtime can do on the CPU with each type, apart from moving its numbers around. */
const arithmetic: Readonly<Record<Type, readonly string[]>> = {
  float32: ['Add', 'Mul', 'Sub'],
  float16: ['Add', 'Mul'],
  int32: ['Add', 'Mul'],
  int64: ['Add', 'Sub'],
  uint8: [],
  bool: ['And', 'Xor'],
}

interface Value {
  name: string
  type: Type
  dims: readonly number[]
}

/** A graph of up to ten nodes over values of random types and shapes, including empty ones and scalars. */
class RandomGraph {
  readonly inputs: Value[] = []
  readonly #values: Value[] = []
  readonly #nodes: NodeSpec[] = []
  readonly #random: Seeded

  constructor(random: Seeded) {
    this.#random = random
    for (let i = random.whole(1, 4); i > 0; i--) this.#input()
    for (let i = random.whole(1, 10); i > 0; i--) this.#node()
  }

  get outputs(): Value[] {
    return this.#values.filter(({ name }) => name.startsWith('v'))
  }

  /** Lengths are declared in each of the ways that a graph allows. */
  get spec(): GraphSpec {
    return {
      name: 'random',
      nodes: this.#nodes,
      inputs: this.inputs.map(this.#port),
      outputs: this.outputs.map(this.#port),
    }
  }

  readonly #port = ({ name, type, dims }: Value): TensorSpec => ({
    name,
    type,
    dims: dims.map((length, at) => this.#random.pick([length, `${name}_${at}`, ''])),
  })

  #input(): void {
    const rank = this.#random.whole(0, 3)
    const dims = Array.from({ length: rank }, () => this.#random.pick([0, 1, 1, 2, 3, 17]))
    const value = { name: `x${this.inputs.length}`, type: this.#random.pick(types), dims }
    this.inputs.push(value)
    this.#values.push(value)
  }

  #node(): void {
    const from = this.#random.pick(this.#values)
    const { type, dims } = from
    const kind = this.#random.pick(['move', 'cast', 'join', 'turn', 'compute', 'compute'])
    if (kind === 'join' && dims.length > 0) {
      const axis = this.#random.whole(0, dims.length - 1)
      const joined = dims.map((length, at) => (at === axis ? 2 * length : length))
      return this.#add('Concat', [from, from], { type, dims: joined }, { axis: BigInt(axis) })
    }
    if (kind === 'turn') {
      const perm = dims.map((_, at) => BigInt(at)).reverse()
      return this.#add('Transpose', [from], { type, dims: dims.toReversed() }, perm.length > 0 ? { perm } : {})
    }
    if (kind === 'cast') {
      const to = this.#random.pick(['float32', 'int32', 'int64', 'bool'] as const)
      const numbers = { float32: 1n, int32: 6n, int64: 7n, bool: 9n }
      return this.#add('Cast', [from], { type: to, dims }, { to: numbers[to] })
    }
    const op = arithmetic[type].length > 0 && kind === 'compute' ? this.#random.pick(arithmetic[type]) : 'Identity'
    this.#add(op, op === 'Identity' ? [from] : [from, from], from)
  }

  #add(op: string, from: readonly Value[], to: Omit<Value, 'name'>, attributes: NodeSpec['attributes'] = {}): void {
    const name = `v${this.#nodes.length}`
    this.#nodes.push({ op, inputs: from.map((value) => value.name), outputs: [name], attributes })
    this.#values.push({ name, type: to.type, dims: to.dims })
  }
}

/** Small numbers, so that no overflow happens, which the types handle differently. */
function tensorOf(random: Seeded, { type, dims }: Value): Tensor {
  const count = dims.reduce((product, length) => product * length, 1)
  const numbers = Array.from({ length: count }, () => random.whole(0, type === 'bool' ? 1 : 7))
  if (type === 'int64') return { type, dims, data: BigInt64Array.from(numbers, BigInt) }
  if (type !== 'float16') return { type, dims, data: arrays[type].from(numbers) }
  return { type, dims, data: new Uint16Array(Float16Array.from(numbers).buffer) }
}

const answered = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => `refused: ${error}`)
const tensors = (random: Seeded, values: readonly Value[]): Tensors =>
  Object.fromEntries(values.map((value) => [value.name, tensorOf(random, value)]))

const graphs = 100

test(`${graphs} random graphs: the same ports, and the same answers in every run`, async () => {
  let compared = 0
  for (let seed = 1; seed <= graphs; seed++) {
    const random = new Seeded(seed)
    const graph = new RandomGraph(random)
    const model = onnxModel(graph.spec)
    const [ffi, node] = await Promise.all(
      [createFfiSession, createNodeSession].map((create) => create(model, { threads: 1 })),
    )
    expect([seed, ffi!.inputs, ffi!.outputs]).toEqual([seed, node!.inputs, node!.outputs])
    for (let run = 0; run < 3; run++) {
      const feeds = tensors(random, graph.inputs)
      if (run === 1 && seed % 10 === 0) Bun.gc(true)
      const [ours, theirs] = await Promise.all([answered(ffi!.run(feeds)), answered(node!.run(feeds))])
      expect([seed, run, ours]).toEqual([seed, run, theirs])
      if (typeof ours === 'object') compared++
    }
    await Promise.all([ffi!.release(), node!.release()])
  }
  // Graphs that both refuse are not comparable.
  expect(compared).toBeGreaterThan(graphs * 2.9)
}, 30_000)

test(`${graphs} random graphs as loops: the same states and outputs in every step`, async () => {
  let compared = 0
  for (let seed = 1; seed <= graphs; seed++) {
    const random = new Seeded(seed)
    const graph = new RandomGraph(random)
    const model = onnxModel(graph.spec)
    const links: Record<string, string> = {}
    for (const output of graph.outputs) {
      const same = ({ name, type, dims }: Value) =>
        !(name in links) && type === output.type && Bun.deepEquals(dims, output.dims)
      const input = graph.inputs.find(same)
      if (input !== undefined && random.chance(0.7)) links[input.name] = output.name
    }
    const free = graph.inputs.filter(({ name }) => !(name in links))
    const constants = tensors(
      random,
      free.filter(() => random.chance(0.5)),
    )
    const start = tensors(
      random,
      graph.inputs.filter(({ name }) => name in links),
    )
    const steps = Array.from({ length: 4 }, () =>
      tensors(
        random,
        free.filter(({ name }) => !(name in constants)),
      ),
    )
    const trace = async (create: CreateSession) => {
      const session = await create(model, { threads: 1 })
      const loop = session.loop({ links, start, constants })
      const seen: unknown[] = [await loop.states()]
      for (const feeds of steps) {
        seen.push(await answered(loop.step(feeds)), await loop.states())
        if (random.chance(0.02)) Bun.gc(true)
      }
      await session.release()
      return seen
    }
    const [ours, theirs] = [await trace(createFfiSession), await trace(createNodeSession)]
    expect([seed, ours]).toEqual([seed, theirs])
    if (Object.keys(links).length > 0 && ours.every((each) => typeof each === 'object')) compared++
  }
  expect(compared).toBeGreaterThan(graphs / 2)
}, 30_000)
