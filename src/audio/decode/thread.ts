/**
 * A Worker that decodes one file at a time, as its server sees it: questions in order, each with one answer within a
 * deadline that counts from the answer before. Whatever ends it (its file, the caller, the deadline, memory) ends every
 * question.
 */
import { closeSync } from 'node:fs'
import { MynaError } from '../../domain/error.ts'
import type { Timer } from '../../domain/time.ts'
import type { Refused } from './refusal.ts'
import type { StreamAnswer, StreamCall } from './stream-worker.ts'

type Answer = Exclude<StreamAnswer, Refused>

/** The slowest codec takes a thirtieth of a block's time on an idle processor. */
const answerMs = 30_000

export class DecodeThread {
  readonly #worker: Worker
  readonly #timer: Timer
  readonly #asked: PromiseWithResolvers<Answer>[] = []
  readonly #gone = Promise.withResolvers<void>()
  #reason: Error | null = null
  #closeFile: () => void = () => {}
  #stopDeadline: () => void = () => {}

  constructor(timer: Timer) {
    this.#timer = timer
    this.#worker = new Worker(new URL('./stream-worker.ts', import.meta.url).href)
    this.#worker.onmessage = ({ data }: MessageEvent<StreamAnswer>) => this.#hear(data)
    this.#worker.onerror = (event: ErrorEvent) => this.end(new Error('The decoder failed.', { cause: event.message }))
    this.#worker.addEventListener('close', () => {
      this.leave()
      this.end(new Error('The decoder ended unexpectedly.'))
      this.#gone.resolve()
    })
  }

  /** Resolves once the thread has ended; never rejects. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  /** It takes no more questions, though it may not be gone yet. */
  get isEnded(): boolean {
    return this.#reason !== null
  }

  /**
   * Gives it a file to read from.
   * @param descriptor closed by `leave`, or once the thread is gone, because until then it may be reading
   * @param onLeft called once, when it is closed
   */
  take(descriptor: number, onLeft: () => void): void {
    this.#closeFile = () => {
      closeSync(descriptor)
      onLeft()
    }
  }

  /** Closes the file, which has been read to its end. Harmless more than once. */
  leave(): void {
    const close = this.#closeFile
    this.#closeFile = () => {}
    close()
  }

  /** @throws MynaError `invalid_audio`, `audio_too_long`; the reason for which the thread was ended */
  ask(call: StreamCall): Promise<Answer> {
    const asked = Promise.withResolvers<Answer>()
    // A prefetched answer may never be read.
    asked.promise.catch(() => {})
    if (this.#reason !== null) {
      asked.reject(this.#reason)
      return asked.promise
    }
    this.#asked.push(asked)
    if (this.#asked.length === 1) this.#restartDeadline()
    this.#worker.postMessage(call)
    return asked.promise
  }

  /** Harmless more than once: the first reason stays. */
  end(reason: Error): void {
    if (this.#reason !== null) return
    this.#reason = reason
    this.#stopDeadline()
    for (const { reject } of this.#asked.splice(0)) reject(reason)
    this.#worker.terminate()
  }

  #hear(answer: StreamAnswer): void {
    if (this.#reason !== null) return
    if ('refused' in answer) return this.end(refusalOf(answer))
    this.#asked.shift()?.resolve(answer)
    this.#restartDeadline()
  }

  #restartDeadline(): void {
    this.#stopDeadline()
    const overdue = () => this.end(invalidAudio('Decoding the file takes too long.'))
    this.#stopDeadline = this.#asked.length === 0 ? () => {} : this.#timer.after(answerMs, overdue)
  }
}

export const invalidAudio = (message: string, cause?: unknown): MynaError =>
  new MynaError('invalid_audio', message, { param: 'file', cause })

function refusalOf({ refused: { code, message, extras, cause } }: Refused): MynaError {
  if (code === 'clip_undecodable') return invalidAudio(message, cause)
  return new MynaError('audio_too_long', message.replace('clip', 'audio'), { param: 'file', extras, cause })
}
