/**
 * Long audio for the server (the port `StreamDecoder`): Workers that decode one file at a time, a few blocks ahead of
 * its reader and no more, so that hours of audio take no memory. The caller bounds how many files there are at once.
 * To start and end a Worker costs about 120 ms of processor time; to decode 12 s of FLAC costs 16. So a Worker whose
 * file was whole waits for the next.
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
/** How long a thread without a file is kept, with about 15 MB of memory. */
const idleMs = 60_000

export class StreamingDecoder {
  readonly #timer: Timer
  readonly #residentBytes: () => number
  readonly #threads = new Set<DecodeThread>()
  #idle: { thread: DecodeThread; stopWaiting: () => void } | null = null
  #files = 0
  #closed = false

  /** @param residentBytes of this process */
  constructor({ timer, residentBytes = residentBytesNow }: { timer: Timer; residentBytes?: () => number }) {
    this.#timer = timer
    this.#residentBytes = residentBytes
  }

  /** Files that a thread may still be reading. */
  get files(): number {
    return this.#files
  }

  /** Threads that have not ended yet, with a file or without. */
  get threads(): number {
    return this.#threads.size
  }

  /**
   * Opens audio of any supported container, found by its bytes. The file may be removed once this has resolved.
   * @throws MynaError `invalid_audio`; the signal's reason; Error when the decoder is closed. What it gives throws the
   * same, and `audio_too_long` past the limit. Its end, an early end of the iteration and the signal close the file.
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
    const thread = this.#threadFor(descriptor, signal)
    const answer = await thread.ask({ name: 'open', descriptor, sampleRateHz, maxSeconds })
    if (!('opened' in answer)) throw new Error('the decoder gave an unexpected answer')
    let skippedMs = 0
    const pcm = blocksOf(thread, (ms) => {
      skippedMs = ms ?? 0
      if (ms === 0) this.#keep(thread)
      else thread.end(noLongerDecoded())
    })
    return { ...answer.opened, pcm, skippedMs: () => skippedMs }
  }

  /** Ends what runs. */
  close(): void {
    this.#closed = true
    this.#takeIdle()
    for (const thread of this.#threads) thread.end(closedError())
  }

  #threadFor(descriptor: number, signal: AbortSignal): DecodeThread {
    const thread = this.#takeIdle() ?? this.#start()
    const limitBytes = this.#residentBytes() + spareBytes
    const stopWatch = watchMemory(this.#timer, this.#residentBytes, limitBytes, () =>
      thread.end(invalidAudio('Decoding the file takes too much memory.')),
    )
    const abort = () => thread.end(signal.reason)
    signal.addEventListener('abort', abort)
    this.#files++
    thread.take(descriptor, () => {
      this.#files--
      stopWatch()
      signal.removeEventListener('abort', abort)
    })
    return thread
  }

  #start(): DecodeThread {
    const thread = new DecodeThread(this.#timer)
    this.#threads.add(thread)
    void thread.gone.then(() => this.#threads.delete(thread))
    return thread
  }

  /** Its file was whole: it waits for the next one, unless another thread does already. */
  #keep(thread: DecodeThread): void {
    if (this.#idle !== null || thread.isEnded) return thread.end(noLongerDecoded())
    thread.leave()
    const stopWaiting = this.#timer.after(idleMs, () => this.#takeIdle()?.end(noLongerDecoded()))
    this.#idle = { thread, stopWaiting }
  }

  /** @returns null: none waits, or it has ended by itself */
  #takeIdle(): DecodeThread | null {
    const idle = this.#idle
    this.#idle = null
    idle?.stopWaiting()
    return idle === null || idle.thread.isEnded ? null : idle.thread
  }
}

function headOf(descriptor: number): Uint8Array {
  const bytes = new Uint8Array(lookedAtBytes)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0))
}

/** @param onEnd called once, with null if the file was not read to its end */
async function* blocksOf(thread: DecodeThread, onEnd: (skippedMs: number | null) => void): AsyncGenerator<Int16Array> {
  const ask = () => thread.ask({ name: 'block' })
  const asked = Array.from({ length: blocksAhead }, ask)
  let skippedMs: number | null = null
  try {
    for (;;) {
      const answer = await asked.shift()
      if (answer === undefined || !('block' in answer)) throw new Error('the decoder gave an unexpected answer')
      if (answer.block === null) {
        // A thread is free once it has answered what was asked ahead.
        await Promise.allSettled(asked)
        skippedMs = answer.skippedMs
        return
      }
      asked.push(ask())
      yield answer.block
    }
  } finally {
    onEnd(skippedMs)
  }
}

const noLongerDecoded = (): Error => new Error('The file is no longer being decoded.')

const closedError = (): Error => new Error('The decoder is closed.')
