/**
 * Decoding for the server, behind the service's port `Decoder`: each file in a Worker of its own, two at once, ended
 * after use and at the latest at its deadline or when the process grows too much under it. Starting one costs less than
 * decoding a second of audio, and no file inherits what another did to a codec.
 */
import { MynaError } from '../../domain/error.ts'
import type { Timer } from '../../domain/time.ts'
import type { DecodedFile } from './clip.ts'
import { garbageRefusal, lookedAtBytes } from './garbage.ts'
import { residentBytesNow, watchMemory } from './memory-watch.ts'
import type { DecodeAnswer, DecodeCall } from './clip-worker.ts'

export interface DecoderSettings {
  /** Files at once; further ones wait. */
  workers: number
  timer: Timer
  /** Resident memory of this process in bytes. */
  residentBytes?: () => number
}

/** The slowest codec takes a thirtieth of the audio's time on an idle processor. */
const deadlineMs = (maxSeconds: number): number => 10_000 + 200 * maxSeconds
/** Memory on top of the allowed output: twice that, while it is joined, at the highest rate. */
const spareBytes = 512 * 1024 * 1024
const bytesPerSecond = 2 * 4 * 192_000

const refuse = (code: MynaError['code'], message: string, extras: Record<string, unknown>, cause?: unknown) =>
  new MynaError(code, message, { param: 'file', extras, cause })

export class DecoderPool {
  readonly #settings: DecoderSettings
  readonly #waiting: (() => void)[] = []
  readonly #running = new Set<(reason: Error) => void>()
  #free: number
  #closed = false

  /** @throws RangeError if there would be no worker */
  constructor(settings: DecoderSettings) {
    if (!Number.isInteger(settings.workers) || settings.workers < 1)
      throw new RangeError(`A decoder pool cannot have ${settings.workers} threads.`)
    this.#settings = settings
    this.#free = settings.workers
  }

  /**
   * Audio of any supported container, found by its bytes, mixed to mono at its own rate.
   * @param bytes stay the caller's
   * @throws MynaError `clip_undecodable`, `clip_too_long`; the signal's reason; Error when the pool is closed
   */
  async decode(bytes: Uint8Array, limits: { maxSeconds: number }, signal: AbortSignal): Promise<DecodedFile> {
    const garbage = garbageRefusal(bytes.subarray(0, lookedAtBytes))
    if (garbage !== null) throw refuse(garbage.code, garbage.message, garbage.extras)
    await this.#turn(signal)
    try {
      if (this.#closed) throw closedError()
      signal.throwIfAborted()
      return await this.#run(bytes, limits.maxSeconds, signal)
    } finally {
      this.#free++
      this.#waiting.shift()?.()
    }
  }

  /** Ends what runs; it and what waits fail. */
  close(): void {
    this.#closed = true
    for (const end of this.#running) end(closedError())
    for (const proceed of this.#waiting.splice(0)) proceed()
  }

  async #turn(signal: AbortSignal): Promise<void> {
    while (this.#free === 0 && !this.#closed && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      const left = this.#waiting.indexOf(resolve)
      if (left >= 0) this.#waiting.splice(left, 1)
    }
    if (this.#closed) throw closedError()
    if (signal.aborted) {
      // It may have been woken for a free worker that it does not want any more.
      if (this.#free > 0) this.#waiting.shift()?.()
      throw signal.reason
    }
    this.#free--
  }

  async #run(bytes: Uint8Array, maxSeconds: number, signal: AbortSignal): Promise<DecodedFile> {
    const { promise, resolve, reject } = Promise.withResolvers<DecodeAnswer>()
    const worker = new Worker(new URL('./clip-worker.ts', import.meta.url).href)
    worker.onmessage = ({ data }: MessageEvent<DecodeAnswer>) => resolve(data)
    worker.onerror = (event: ErrorEvent) => reject(new Error('The decoder failed.', { cause: event.message }))
    worker.addEventListener('close', () => reject(new Error('The decoder ended unexpectedly.')))
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    this.#running.add(reject)
    const unwatch = this.#watch(maxSeconds, reject)
    try {
      const call: DecodeCall = { bytes: new Uint8Array(bytes), maxSeconds }
      worker.postMessage(call, [call.bytes.buffer])
      const answer = await promise
      if ('file' in answer) return answer.file
      const { code, message, extras, cause } = answer.refused
      throw refuse(code, message, extras, cause)
    } finally {
      unwatch()
      signal.removeEventListener('abort', abort)
      this.#running.delete(reject)
      worker.terminate()
    }
  }

  /** Refuses the file when it takes too long or too much. @returns ends the watch */
  #watch(maxSeconds: number, reject: (reason: Error) => void): () => void {
    const { timer, residentBytes = residentBytesNow } = this.#settings
    const limitBytes = residentBytes() + spareBytes + this.#settings.workers * maxSeconds * bytesPerSecond
    const stopDeadline = timer.after(deadlineMs(maxSeconds), () =>
      reject(refuse('clip_undecodable', 'Decoding the file takes too long.', {})),
    )
    const stopWatch = watchMemory(timer, residentBytes, limitBytes, () =>
      reject(refuse('clip_undecodable', 'Decoding the file takes too much memory.', {})),
    )
    return () => {
      stopDeadline()
      stopWatch()
    }
  }
}

const closedError = (): Error => new Error('The decoder pool is closed.')
