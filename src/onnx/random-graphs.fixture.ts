/**
 * Small random graphs of every type, and what a back end answers to them. Both back ends of `random.test.ts` go through
 * this, each in a process of its own: two releases of ONNX Runtime do not load into one.
 */
import { Seeded } from '../testing/seeded.ts'
import { onnxModel, type GraphSpec, type NodeSpec, type TensorSpec } from '../testing/tiny-onnx.ts'
import type { CreateSession, Port, Tensor, Tensors } from './session.ts'
import { arrays } from './tensor-checks.ts'

export const seeds: readonly number[] = Array.from({ length: 100 }, (_, at) => at + 1)

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

export interface RunTrace {
  inputs: readonly Port[]
  outputs: readonly Port[]
  /** Of three runs: tensors by name, or the words of a refusal. */
  answers: unknown[]
}

/** Runs the graph of this seed. */
export async function traceRuns(create: CreateSession, seed: number): Promise<RunTrace> {
  const random = new Seeded(seed)
  const graph = new RandomGraph(random)
  const session = await create(onnxModel(graph.spec), { threads: 1 })
  const answers: unknown[] = []
  for (let run = 0; run < 3; run++) {
    const feeds = tensors(random, graph.inputs)
    if (run === 1 && seed % 10 === 0) Bun.gc(true)
    answers.push(await answered(session.run(feeds)))
  }
  await session.release()
  return { inputs: session.inputs, outputs: session.outputs, answers }
}

export interface LoopTrace {
  /** How many states are handed on. */
  links: number
  /** The states, and after each step its answer and the states. */
  seen: unknown[]
}

/** The graph of this seed as a loop: some of its outputs are handed on to inputs of the same shape. */
export async function traceLoop(create: CreateSession, seed: number): Promise<LoopTrace> {
  const random = new Seeded(seed)
  const graph = new RandomGraph(random)
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
  const session = await create(onnxModel(graph.spec), { threads: 1 })
  const loop = session.loop({ links, start, constants })
  const seen: unknown[] = [await loop.states()]
  for (const feeds of steps) {
    seen.push(await answered(loop.step(feeds)), await loop.states())
    if (random.chance(0.02)) Bun.gc(true)
  }
  await session.release()
  return { links: Object.keys(links).length, seen }
}
