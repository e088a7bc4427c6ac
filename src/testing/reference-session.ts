/**
 * Graphs through onnxruntime-node's own JavaScript: the reference for our sessions over the C API. A loop's states pass
 * through JavaScript at each step.
 */
import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node'
import type { Held, Loop, LoopOptions, Port, Session, SessionOptions, Tensor, Tensors } from '../onnx/session.ts'
import { arrays, checkFeeds, checkLoop, copiesOf, isKnownType } from '../onnx/tensor-checks.ts'

/** @throws Error when this ONNX Runtime cannot run the graph */
export async function createNodeSession(model: string | Uint8Array, options: SessionOptions): Promise<Session> {
  const ort = await import('onnxruntime-node')
  // Failures become an error with the same message.
  ort.env.logLevel = 'fatal'
  const settings: InferenceSession.SessionOptions = {
    intraOpNumThreads: options.threads,
    executionProviders: ['cpu'],
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }
  const session = await (typeof model === 'string'
    ? ort.InferenceSession.create(model, settings)
    : ort.InferenceSession.create(model, settings))
  let released = false
  const loops = new Set<Loop>()
  const inputs = session.inputMetadata.map(toPort)
  const outputs = session.outputMetadata.map(toPort)
  const run = async (feeds: Tensors) => {
    if (released) throw new Error('the session was released')
    checkFeeds(feeds, session.inputNames)
    const given = Object.entries(feeds).map(([name, tensor]) => [name, toOrt(ort.Tensor, tensor)])
    const results = await session.run(Object.fromEntries(given) as Record<string, OrtTensor>)
    return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, fromOrt(name, tensor)]))
  }
  return {
    inputs,
    outputs,
    run,
    async runHolding(feeds, holds) {
      const results = Object.entries(await run(feeds))
      const held = results.filter(([name]) => holds(name)).map(([name, one]) => [name, { ...one, release: () => {} }])
      const read = Object.fromEntries(results.filter(([name]) => !holds(name)))
      return { read, held: Object.fromEntries(held) as Record<string, Held> }
    },
    loop(loopOptions) {
      if (released) throw new Error('the session was released')
      checkLoop(loopOptions, inputs, outputs)
      const loop = new RunLoop(run, loopOptions, (released) => loops.delete(released))
      loops.add(loop)
      return loop
    },
    async release() {
      if (released) return
      released = true
      for (const loop of loops) loop.release()
      await session.release()
    },
  }
}

class RunLoop implements Loop {
  readonly #run: (feeds: Tensors) => Promise<Record<string, Tensor>>
  readonly #links: Readonly<Record<string, string>>
  readonly #constants: Tensors
  readonly #onRelease: (loop: Loop) => void
  /** null: the loop was released. */
  #states: Tensors | null
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    run: (feeds: Tensors) => Promise<Record<string, Tensor>>,
    { links, start, constants = {} }: LoopOptions,
    onRelease: (loop: Loop) => void,
  ) {
    this.#run = run
    this.#links = links
    this.#constants = constants
    this.#onRelease = onRelease
    this.#states = start
  }

  /** One after the other, because a step needs the states of the step before it. */
  step(feeds: Tensors): Promise<Record<string, Tensor>> {
    const step = this.#last.then(() => this.#stepNow(feeds))
    this.#last = step.catch(() => {})
    return step
  }

  async #stepNow(feeds: Tensors): Promise<Record<string, Tensor>> {
    const outputs = await this.#run({ ...this.#constants, ...this.#current, ...feeds })
    const next: Record<string, Tensor> = {}
    for (const [input, output] of Object.entries(this.#links)) {
      next[input] = outputs[output]!
      delete outputs[output]
    }
    if (this.#states !== null) this.#states = next
    return outputs
  }

  async states(): Promise<Record<string, Tensor>> {
    return copiesOf(this.#current)
  }

  release(): void {
    this.#states = null
    this.#onRelease(this)
  }

  get #current(): Tensors {
    if (this.#states === null) throw new Error('the loop was released')
    return this.#states
  }
}

const toPort = (metadata: InferenceSession.ValueMetadata): Port =>
  metadata.isTensor
    ? { name: metadata.name, type: metadata.type, dims: metadata.shape }
    : { name: metadata.name, type: 'no tensor', dims: [] }

/**
 * Where the runtime has a Float16Array, `Tensor` converts the bits to one, and the native part sees it as empty. So it
 * gets the same fields without the class.
 */
function toOrt(OrtTensors: typeof OrtTensor, { type, dims, data }: Tensor): OrtTensor {
  if (type !== 'float16') return new OrtTensors(type, data, dims)
  return { type, dims, data, location: 'cpu' } as unknown as OrtTensor
}

function fromOrt(name: string, { type, dims, data }: OrtTensor): Tensor {
  if (!isKnownType(type)) throw new Error(`output ${name}: tensors of ${type} are not supported`)
  if (!ArrayBuffer.isView(data)) throw new Error(`output ${name}: ${type} came as ${data.constructor.name}`)
  return { type, dims: [...dims], data: new arrays[type](data.buffer as ArrayBuffer, data.byteOffset, data.length) }
}
