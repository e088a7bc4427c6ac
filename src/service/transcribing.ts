/**
 * One transcription, from the queue to its row in the usage. It is pulled: the decoder and the engine work only as far
 * as the reader has asked. Whatever ends it (the end of the clip, the client, a failure of ours, a shutdown) ends both
 * at once and counts what was transcribed until then. It is recorded in the database before the engine is asked, and
 * its progress every few seconds, so a crash loses a few seconds of it at most.
 */
import { endListening } from '../domain/listening.ts'
import { MynaError } from '../domain/error.ts'
import type { Clock, Timer } from '../domain/time.ts'
import type { Running } from './running-work.ts'
import { untilWritten } from './retry-until-written.ts'
import type {
  ClipStream,
  OpenSound,
  TranscriptionBooks,
  TranscriptionEngine,
  TranscriptionMeter,
  TranscriptionOrder,
  TranscriptPart,
} from './ports/transcription.ts'
import type { Place } from './queue.ts'

export interface TranscribingParts {
  engine: TranscriptionEngine
  /** Waits while speech needs the processors. @throws the signal's reason */
  roomForOthers(signal: AbortSignal): Promise<void>
  books: TranscriptionBooks
  meter: TranscriptionMeter
  clock: Clock
  timer: Timer
  /** Called with a failure that the client sees only in general words. */
  report: (message: string, cause: unknown) => void
  log: { info(message: string, fields: Record<string, unknown>): void }
}

export interface TranscribingLimits {
  maxSeconds: number
  queueWaitMs: number
  unreadMs: number
}

export interface TranscribingWork {
  /** Of the request. */
  id: string
  accountId: string
  keyId: string
  /** Transcriptions that the account may have at once. */
  maxPending: number
  order: TranscriptionOrder
  /** Opens what is to be listened to. */
  open: OpenSound
  place: Place
}

const sampleRateHz = 16_000
const samplesPerMs = sampleRateHz / 1000
const leastMs = 100
/** Progress is recorded no more often than this: each time waits for the disk. */
const noteEveryMs = 5000

export class Transcribing implements Running {
  readonly #parts: TranscribingParts
  readonly #limits: TranscribingLimits
  readonly #work: TranscribingWork
  readonly #abort = new AbortController()
  readonly #settled = Promise.withResolvers<void>()
  /** Resolves after the first attempt to record it: a full disk keeps no caller waiting. */
  readonly #asked = Promise.withResolvers<void>()
  #heard: AsyncIterator<TranscriptPart> | null = null
  #first: IteratorResult<TranscriptPart> | null = null
  /** null: its turn has not come. */
  #beganMs: number | null = null
  /** Whether the database has a record of it; known after the first attempt. */
  #inBooks: Promise<boolean> | null = null
  #isRecorded = false
  #noteDueMs = 0
  #decodedSamples = 0
  #heardMs = 0
  #declaredMs: number | null = null
  #clip: ClipStream | null = null
  #language: string | null = null
  #ended = false
  /** Why it ended before the end of the clip. */
  #reason: MynaError | null = null
  #unwritten = false
  #cancelUnread: () => void = () => {}

  constructor(parts: TranscribingParts, limits: TranscribingLimits, work: TranscribingWork) {
    this.#parts = parts
    this.#limits = limits
    this.#work = work
    this.#language = work.order.language
  }

  get id(): string {
    return this.#work.id
  }

  /** Resolves once its use is written; never rejects. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  /** Not while it waits for its turn, or for its first sound. */
  get isRecorded(): boolean {
    return this.#isRecorded
  }

  get unwritten(): boolean {
    return this.#unwritten
  }

  get order(): TranscriptionOrder {
    return this.#work.order
  }

  /** ISO 639, as ordered or detected; null: no speech from which to detect it. */
  get language(): string | null {
    return this.#language
  }

  /** How much of the clip was transcribed. */
  get heardMs(): number {
    return this.#heardMs
  }

  /** Of the clip: once it is through, as it was decoded; before, as its file says, or null. */
  get durationMs(): number | null {
    return this.#ended && this.#reason === null ? this.#decodedMs : this.#declaredMs
  }

  /** How much of the clip could not be decoded; 0 before its end. */
  get skippedMs(): number {
    return this.#clip?.skippedMs() ?? 0
  }

  /**
   * Waits for the turn and the first part. Afterwards the upload is needed no more.
   * @throws MynaError `engine_overloaded`, `invalid_audio`, `audio_too_short`, `audio_too_long`, `engine_unavailable`,
   * `model_unavailable`, `generation_failed`, `unsupported_value`, `server_shutting_down`, `request_timeout`
   */
  async start(gone: AbortSignal): Promise<void> {
    const left = () => this.clientGone()
    gone.addEventListener('abort', left)
    if (gone.aborted) left()
    void this.settled.then(() => gone.removeEventListener('abort', left))
    const { signal } = this.#abort
    try {
      await this.#work.place.turn(this.#limits.queueWaitMs, signal)
      this.#beganMs = this.#parts.clock.monotonicMs()
      // A model that is not in memory is loaded while the clip is opened.
      this.#parts.engine.prepare(this.order.model)
      const { maxSeconds } = this.#limits
      const clip = await this.#work.open({ sampleRateHz, maxSeconds }, signal)
      this.#declaredMs = clip.durationMs
      this.#clip = clip
      const pcm = await longEnough(this.#counted(clip.pcm))
      await this.#begin()
      signal.throwIfAborted()
      this.#heard = this.#parts.engine.transcribe(this.order, pcm, signal)[Symbol.asyncIterator]()
      this.#first = await this.#heard.next()
      this.#note(this.#first)
      this.#watchReader()
    } catch (error) {
      throw await this.#fail(error)
    }
  }

  /**
   * What was heard next, as soon as it was.
   * @returns null at the end of the clip; its use is counted then
   * @throws MynaError that ended it
   */
  async next(): Promise<TranscriptPart | null> {
    this.#cancelUnread()
    try {
      this.#abort.signal.throwIfAborted()
      const step = this.#first ?? (await this.#heard?.next())
      this.#first = null
      if (step === undefined) throw new Error('a transcription was read before it had started')
      this.#note(step)
      if (step.done === true) {
        this.#tellSkipped()
        this.#end('completed')
        await this.#asked.promise
        return null
      }
      this.#watchReader()
      return step.value
    } catch (error) {
      throw await this.#fail(error)
    }
  }

  cancel(): void {
    this.clientGone()
  }

  /** The client disconnected or stopped reading. */
  clientGone(): void {
    const reason = new MynaError('request_timeout', 'The client disconnected before the transcript was complete.')
    this.#break(reason, 'client_gone')
  }

  shutDown(): void {
    const reason = new MynaError('server_shutting_down', 'The server was shut down.', { retryAfterMs: 5000 })
    this.#break(reason, reason.code)
  }

  /** Commits that the engine is about to listen, unless it has ended; whatever ends it meanwhile waits for that. */
  async #begin(): Promise<void> {
    this.#abort.signal.throwIfAborted()
    const { books, clock } = this.#parts
    const { id, accountId, keyId, order, maxPending } = this.#work
    this.#noteDueMs = clock.monotonicMs() + noteEveryMs
    const begun = books.beginTranscription({
      id,
      accountId,
      keyId,
      model: order.model,
      maxPending,
    })
    this.#inBooks = begun.then(
      () => (this.#isRecorded = true),
      () => false,
    )
    await begun
  }

  get #decodedMs(): number {
    return Math.round(this.#decodedSamples / samplesPerMs)
  }

  async *#counted(pcm: AsyncIterable<Int16Array>): AsyncGenerator<Int16Array> {
    for await (const block of pcm) {
      this.#decodedSamples += block.length
      await this.#parts.roomForOthers(this.#abort.signal)
      yield block
    }
  }

  #note(step: IteratorResult<TranscriptPart>): void {
    if (step.done === true) return
    this.#heardMs = Math.max(this.#heardMs, step.value.heardMs)
    this.#language = step.value.language ?? this.#language
    const { books, clock } = this.#parts
    if (this.#ended || clock.monotonicMs() < this.#noteDueMs) return
    this.#noteDueMs = clock.monotonicMs() + noteEveryMs
    // If the database refuses a note, the next one makes up for it, or the ending, which is retried until it is
    // written.
    books.noteHeard(this.id, this.#heardMs).catch(() => {})
  }

  #tellSkipped(): void {
    const { skippedMs } = this
    if (this.#clip === null || skippedMs === 0) return
    const { container, codec } = this.#clip
    const fields = { request: this.id, container, codec, skipped_ms: skippedMs, decoded_ms: this.#decodedMs }
    this.#parts.log.info('a recording is damaged; what cannot be decoded was skipped', fields)
  }

  #watchReader(): void {
    if (!this.#ended) this.#cancelUnread = this.#parts.timer.after(this.#limits.unreadMs, () => this.clientGone())
  }

  /** Ends because of an error, unless it has ended already. @returns the error for the caller */
  async #fail(error: unknown): Promise<MynaError> {
    const known = error instanceof MynaError
    const reason = known ? error : new MynaError('generation_failed', 'Transcription failed.', { cause: error })
    if (!this.#ended && isOurs(reason)) this.#parts.report(`transcription ${this.id} failed`, error)
    this.#break(reason, reason.code)
    await this.#asked.promise
    return this.#reason ?? reason
  }

  #break(reason: MynaError, result: string): void {
    if (this.#ended) return
    this.#reason = reason
    this.#end(result)
  }

  /** The one end: the first call decides. */
  #end(result: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#cancelUnread()
    this.#abort.abort(this.#reason ?? new Error('the transcription has ended'))
    // When no caller is waiting for it, only this ends the engine's iteration.
    this.#heard?.return?.().catch(() => {})
    this.#work.place.leave()
    void this.#count(result)
  }

  async #count(result: string): Promise<void> {
    const heardMs = result === 'completed' ? this.#decodedMs : this.#heardMs
    const nowMs = this.#parts.clock.monotonicMs()
    const wallMs = nowMs - (this.#beganMs ?? nowMs)
    if ((await this.#inBooks) === true) {
      const write = () => this.#parts.books.endTranscription(this.id, endListening(result, heardMs))
      await untilWritten(`the usage of transcription ${this.id}`, write, this.#parts, () => {
        this.#unwritten = true
        this.#asked.resolve()
      })
    }
    this.#unwritten = false
    this.#parts.meter.transcribed(result, heardMs, wallMs)
    this.#asked.resolve()
    this.#settled.resolve()
  }
}

/** The clip again, once there is enough of it to listen to. @throws MynaError `audio_too_short` */
async function longEnough(pcm: AsyncGenerator<Int16Array>): Promise<AsyncIterable<Int16Array>> {
  const lead: Int16Array[] = []
  for (let samples = 0; samples < leastMs * samplesPerMs;) {
    const { done, value } = await pcm.next()
    if (done === true) throw tooShort(samples / samplesPerMs)
    lead.push(value)
    samples += value.length
  }
  return (async function* () {
    try {
      yield* lead
      yield* pcm
    } finally {
      await pcm.return(undefined)
    }
  })()
}

function tooShort(ms: number): MynaError {
  const message = `The audio lasts ${(ms / 1000).toFixed(2)} s; at least ${leastMs / 1000} s is needed.`
  return new MynaError('audio_too_short', message, { param: 'file' })
}

/** The log need not repeat what the client's error already says in full. */
const isOurs = ({ code }: MynaError): boolean =>
  ['generation_failed', 'engine_unavailable', 'model_unavailable', 'engine_overloaded'].includes(code)
