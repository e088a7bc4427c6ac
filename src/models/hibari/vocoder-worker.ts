/**
 * A thread of vocoders. Two thirds of the work of speaking is done here, off the engine's loop and on all cores. Chunks
 * of many streams are rendered together, some frames of one and then of another (`vocoder-turns.ts`). A chunk that has
 * begun is rendered to its end, for its sound is a tenth of the size of its parameters.
 */
import type { Joints } from './joints.ts'
import type { Parameters } from './parameters.ts'
import { Rendered } from './rendered.ts'
import type { Shape } from './shape.ts'
import { blockFrames, nextChunk, type Waiting } from './vocoder-turns.ts'

export type ToVocoder =
  | {
      type: 'speak'
      id: number
      parameters: Parameters
      joints: Joints
      /** How fast the chunk is spoken; 1: the voice's own pace. */
      speed: number
      /** Shape of another voice; null: the graph's own. */
      shape: Shape | null
      /** Nothing of its stream was played yet. */
      isFirst: boolean
      /** Time until its listener runs dry. */
      slackMs: number
    }
  | { type: 'drop'; id: number }

export type FromVocoder =
  | {
      type: 'block'
      id: number
      /** Mono, in [-1, 1], at 24 kHz. */
      pcm: Float32Array<ArrayBuffer>
      /** Share of the chunk that is spoken once this has been played; 1: this is the last block. */
      share: number
      /** This many frames of the chunk were left out before its first block. */
      skippedFrames: number
    }
  | { type: 'failed'; id: number; message: string }

declare const self: Worker

interface Chunk extends Waiting {
  id: number
  rendered: Rendered
}

const chunks: Chunk[] = []
let isScheduled = false

self.onmessage = ({ data }: MessageEvent<ToVocoder>) => {
  if (data.type === 'speak') {
    const { id, parameters, joints, speed, shape, isFirst, slackMs } = data
    const rendered = new Rendered(parameters, joints, speed, shape)
    const { leftFrames } = rendered
    chunks.push({ id, isFirst, dueMs: performance.now() + slackMs, leftFrames, rendered })
  } else remove(data.id)
  schedule()
}

/** Messages are read between two blocks. A timer would wait for a millisecond at each, a third of a block's time. */
function schedule(): void {
  if (isScheduled || chunks.length === 0) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    step()
    schedule()
  })
}

function step(): void {
  const chunk = nextChunk(chunks, performance.now())
  if (chunk === null) return
  try {
    const { pcm, share, durationMs, skippedFrames } = chunk.rendered.next(blockFrames(chunk, chunks.length))
    chunk.isFirst = false
    chunk.dueMs += durationMs
    chunk.leftFrames = chunk.rendered.leftFrames
    if (share === 1) remove(chunk.id)
    const block = { type: 'block', id: chunk.id, pcm, share, skippedFrames } satisfies FromVocoder
    self.postMessage(block, [pcm.buffer])
  } catch (error) {
    remove(chunk.id)
    const message = error instanceof Error ? error.message : String(error)
    self.postMessage({ type: 'failed', id: chunk.id, message } satisfies FromVocoder)
  }
}

function remove(id: number): void {
  const at = chunks.findIndex((chunk) => chunk.id === id)
  if (at !== -1) chunks.splice(at, 1)
}
