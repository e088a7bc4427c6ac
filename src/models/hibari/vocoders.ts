/**
 * The threads that vocoders run in, and which of them a chunk goes to: the one with the least left to render. A thread
 * that dies fails the chunks in it, and another takes its place at the next chunk.
 */
import { type Joints, noJoints } from './joints.ts'
import { bins, hopSamples, type Parameters } from './parameters.ts'
import type { Shape } from './shape.ts'
import type { FromVocoder, ToVocoder } from './vocoder-worker.ts'

export interface Block {
  /** Mono, in [-1, 1], at 24 kHz. */
  pcm: Float32Array
  /** Share of the chunk that is spoken once this has been played; 1: this is the last block. */
  share: number
  /** This many frames of the chunk were left out before its first block. */
  skippedFrames: number
  /** Resolves once all blocks of the chunk are rendered, or are no longer wanted. */
  rendered: Promise<void>
}

export interface ChunkOrder {
  parameters: Parameters
  joints: Joints
  /** 0.5 to 2. */
  speed: number
  /** Shape of another voice; null: the graph's own. */
  shape: Shape | null
  /** Nothing of its stream was played yet. */
  isFirst: boolean
  /** Time until its listener runs dry. */
  slackMs: number
}

/** Two blocks: a voice and a hiss. */
const warmFrames = 16

function hum(frames: number): Parameters {
  const rows = (value: number) => new Float32Array(bins * frames).fill(value)
  return {
    frames,
    harmonicLog: rows(-3),
    harmonicTurn: rows(0),
    restLog: rows(-3),
    restPhase: rows(0),
    f0: new Float32Array(frames).fill(200),
  }
}

interface Rendering {
  frames: number
  blocks: Block[]
  failure: Error | null
  rendered: PromiseWithResolvers<void>
  /** Ends the wait for the next block. */
  wake: () => void
}

interface Thread {
  worker: Worker
  renderings: Map<number, Rendering>
}

export class Vocoders {
  readonly #most: number
  readonly #threads = new Set<Thread>()
  #lastId = 0
  #isEnded = false

  /** @param most threads, 1 or more. The first starts now, the others when there is work for them. */
  constructor(most: number) {
    this.#most = most
    this.#start()
  }

  /** Threads that are alive. */
  get size(): number {
    return this.#threads.size
  }

  /**
   * The chunk's speech in blocks, as they become ready. Rendering runs ahead of the reader. The buffers of the
   * parameters move to a thread, so the caller can no longer use them.
   * @throws Error in words for the log; the signal's reason once it aborts
   */
  async *speak(order: ChunkOrder, signal: AbortSignal): AsyncGenerator<Block> {
    const { parameters } = order
    const thread = this.#freest()
    const id = ++this.#lastId
    const rendered = Promise.withResolvers<void>()
    const rendering: Rendering = { frames: parameters.frames, blocks: [], failure: null, rendered, wake: () => {} }
    thread.renderings.set(id, rendering)
    const { harmonicLog, harmonicTurn, restLog, restPhase, f0 } = parameters
    const buffers = [harmonicLog, harmonicTurn, restLog, restPhase, f0].map(({ buffer }) => buffer as ArrayBuffer)
    thread.worker.postMessage({ type: 'speak', id, ...order } satisfies ToVocoder, buffers)
    const onAbort = () => rendering.wake()
    signal.addEventListener('abort', onAbort)
    try {
      for (;;) {
        signal.throwIfAborted()
        const block = rendering.blocks.shift()
        if (block !== undefined) {
          yield block
          if (block.share === 1) return
        } else if (rendering.failure !== null) throw rendering.failure
        else await new Promise<void>((resolve) => (rendering.wake = resolve))
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      rendered.resolve()
      if (thread.renderings.delete(id)) thread.worker.postMessage({ type: 'drop', id } satisfies ToVocoder)
    }
  }

  /** Has the first thread compile what it runs, which takes several times as long as a block does later. */
  async warm(): Promise<void> {
    const order = { parameters: hum(warmFrames), joints: noJoints, speed: 1, shape: null, isFirst: true, slackMs: 0 }
    await Array.fromAsync(this.speak(order, new AbortController().signal))
  }

  /** Ends all threads, also in the middle of a chunk. */
  end(): void {
    this.#isEnded = true
    for (const thread of this.#threads) this.#lose(thread, 'the voice is unloaded')
  }

  #freest(): Thread {
    if (this.#isEnded) throw new Error('the voice is unloaded')
    const load = ({ renderings }: Thread) => [...renderings.values()].reduce((sum, { frames }) => sum + frames, 0)
    const freest = [...this.#threads].toSorted((a, b) => load(a) - load(b))[0]
    if (freest !== undefined && (freest.renderings.size === 0 || this.#threads.size >= this.#most)) return freest
    return this.#start()
  }

  #start(): Thread {
    const worker = new Worker(new URL('./vocoder-worker.ts', import.meta.url).href)
    const thread: Thread = { worker, renderings: new Map() }
    this.#threads.add(thread)
    worker.onmessage = ({ data }: MessageEvent<FromVocoder>) => hear(thread, data)
    worker.onerror = (event) => this.#lose(thread, event.message)
    worker.addEventListener('close', () => this.#lose(thread, 'its thread ended'))
    return thread
  }

  #lose(thread: Thread, why: string): void {
    if (!this.#threads.delete(thread)) return
    for (const rendering of thread.renderings.values()) fail(rendering, why)
    thread.renderings.clear()
    thread.worker.terminate()
  }
}

function hear(thread: Thread, message: FromVocoder): void {
  const rendering = thread.renderings.get(message.id)
  if (rendering === undefined) return
  if (message.type === 'failed') {
    thread.renderings.delete(message.id)
    return fail(rendering, message.message)
  }
  rendering.frames = Math.max(0, rendering.frames - message.pcm.length / hopSamples)
  const { pcm, share, skippedFrames } = message
  rendering.blocks.push({ pcm, share, skippedFrames, rendered: rendering.rendered.promise })
  if (message.share === 1) {
    thread.renderings.delete(message.id)
    rendering.rendered.resolve()
  }
  rendering.wake()
}

function fail(rendering: Rendering, why: string): void {
  rendering.failure = new Error(`the vocoder failed: ${why}`)
  rendering.rendered.resolve()
  rendering.wake()
}
