/**
 * Long audio for the server (the port `StreamDecoder`): each file in a Worker of its own that decodes a few blocks
 * ahead of its reader and no more, so that hours of audio take no memory. The caller bounds how many there are at once.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import type { Timer } from '../../domain/time.ts'
import { garbageRefusal, lookedAtBytes } from './garbage.ts'
import { DecodeThread, invalidAudio } from './thread.ts'
import { residentBytesNow, watchMemory } from './memory-watch.ts'

export interface OpenedClip {
  /** As detected. */
  container: string
  codec: string
  /** As its file states; null: it does not. */
  durationMs: number | null
  /** Mono, in blocks of a second. Once. */
  pcm: AsyncIterable<Int16Array>
  /** How much of it was replaced by silence because it is damaged or missing; 0 before the end. */
  skippedMs(): number
}

const blocksAhead = 3
/** How much this process may grow while a file is being decoded, whatever else it does. */
const spareBytes = 1024 ** 3

export class StreamingDecoder {
  readonly #timer: Timer
  readonly #residentBytes: () => number
  readonly #threads = new Set<DecodeThread>()
  #closed = false

  /** @param residentBytes of this process */
  constructor({ timer, residentBytes = residentBytesNow }: { timer: Timer; residentBytes?: () => number }) {
    this.#timer = timer
    this.#residentBytes = residentBytes
  }

  /** Threads that have not ended yet. */
  get threads(): number {
    return this.#threads.size
  }

  /**
   * Opens audio of any supported container, found by its bytes. The file may be removed once this has resolved.
   * @throws MynaError `invalid_audio`; the signal's reason; Error when the decoder is closed. What it gives throws the
   * same, and `audio_too_long` past the limit. The end of the iteration, or the signal, ends the thread.
   */
  async open(
    path: string,
    { sampleRateHz, maxSeconds }: { sampleRateHz: number; maxSeconds: number },
    signal: AbortSignal,
  ): Promise<OpenedClip> {
    signal.throwIfAborted()
    if (this.#closed) throw closedError()
    const descriptor = openSync(path, 'r')
    const garbage = garbageRefusal(headOf(descriptor))
    if (garbage !== null) {
      closeSync(descriptor)
      throw invalidAudio(garbage.message)
    }
    const thread = this.#start(descriptor, signal)
    const answer = await thread.ask({ name: 'open', descriptor, sampleRateHz, maxSeconds })
    if (!('opened' in answer)) throw new Error('the decoder gave an unexpected answer')
    let skippedMs = 0
    const pcm = blocksOf(thread, (ms) => (skippedMs = ms))
    return { ...answer.opened, pcm, skippedMs: () => skippedMs }
  }

  /** Ends what runs. */
  close(): void {
    this.#closed = true
    for (const thread of this.#threads) thread.end(closedError())
  }

  #start(descriptor: number, signal: AbortSignal): DecodeThread {
    const thread = new DecodeThread(descriptor, this.#timer)
    this.#threads.add(thread)
    const limitBytes = this.#residentBytes() + spareBytes
    const stopWatch = watchMemory(this.#timer, this.#residentBytes, limitBytes, () =>
      thread.end(invalidAudio('Decoding the file takes too much memory.')),
    )
    const abort = () => thread.end(signal.reason)
    signal.addEventListener('abort', abort)
    void thread.gone.then(() => {
      stopWatch()
      signal.removeEventListener('abort', abort)
      this.#threads.delete(thread)
    })
    return thread
  }
}

function headOf(descriptor: number): Uint8Array {
  const bytes = new Uint8Array(lookedAtBytes)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0))
}

async function* blocksOf(thread: DecodeThread, onEnd: (skippedMs: number) => void): AsyncGenerator<Int16Array> {
  const ask = () => thread.ask({ name: 'block' })
  const asked = Array.from({ length: blocksAhead }, ask)
  try {
    for (;;) {
      const answer = await asked.shift()
      if (answer === undefined || !('block' in answer)) throw new Error('the decoder gave an unexpected answer')
      if (answer.block === null) return onEnd(answer.skippedMs)
      asked.push(ask())
      yield answer.block
    }
  } finally {
    thread.end(new Error('The file is no longer being decoded.'))
  }
}

const closedError = (): Error => new Error('The decoder is closed.')
