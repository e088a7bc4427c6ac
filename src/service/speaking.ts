/**
 * One speech stream, from the queue to its settlement. It is pulled: a chunk counts as delivered when the next one is
 * asked for, and `end` is the one place where what happened (what was sent, client gone, cancelled, error) becomes an
 * outcome and a charge. After `next` has returned `null` or thrown, the settlement is written.
 */
import { MynaError } from '../domain/error.ts'
import { type Operation, type OperationError, type Settlement, settleSpeech } from '../domain/operation.ts'
import type { AudioFormat, SpokenWord } from '../domain/speech.ts'
import type { Clock, Timer } from '../domain/time.ts'
import { untilWritten } from './retry-until-written.ts'
import type { Encoder, Encoders, Ledger, Meter, SpeechEngine, SpeechFrame, SpeechOrder } from './ports.ts'
import type { SpeechPlace } from './speech-queue.ts'

export interface SpeakingParts {
  ledger: Ledger
  engine: SpeechEngine
  encoders: Encoders
  meter: Meter
  clock: Clock
  timer: Timer
  /** Told of a failure that the client sees only in general words. */
  report: (message: string, cause: unknown) => void
}

export interface SpeakingLimits {
  unreadMs: number
}

/** What was admitted. */
export interface Admitted {
  operation: Operation
  order: SpeechOrder
  format: AudioFormat
  /** Whose turn it is. */
  place: SpeechPlace
  /** For the client; null: none. */
  warning: string | null
}

/** What stops waiting calls when the stream has ended for another reason than its own. */
class Ended extends Error {}

/** One for all streams: to make an error takes a walk through the stack. */
const over = new Ended()

/** How long a reader waits for a settlement that cannot be written; then its stream is cut. */
const unwrittenWaitMs = 10_000

export class Speaking {
  readonly operation: Operation
  readonly format: AudioFormat
  readonly sampleRateHz: number
  readonly warning: string | null
  readonly #parts: SpeakingParts
  readonly #limits: SpeakingLimits
  readonly #order: SpeechOrder
  readonly #place: SpeechPlace
  readonly #abort = new AbortController()
  readonly #settled = Promise.withResolvers<Settlement>()
  readonly #beganMs: number
  #frames: AsyncIterator<SpeechFrame> | null = null
  /** The first frame, asked for before there was an encoder: the engine works while that is opened. */
  #asked: Promise<IteratorResult<SpeechFrame>> | null = null
  #encoder: Encoder | null = null
  #first: Uint8Array | null = null
  /** As its first frame says. */
  #firstMs: number | undefined
  #flushed = false
  #ended: Settlement | null = null
  #unwritten = false
  /** The reader was kept waiting as long as it may be, once for all. */
  #waitedInVain = false
  #cancelUnread: (() => void) | null = null
  /** The facts that the settlement is made of. */
  readonly #facts: { audioSent: boolean; cancelRequested: boolean; clientGone: boolean }
  #failure: OperationError | null = null
  /** Accepted by the response stream, and given to it but not known to be accepted. */
  readonly #accepted = { pcmBytes: 0, coveredChars: 0 }
  readonly #given = { pcmBytes: 0, coveredChars: 0 }
  readonly #words: SpokenWord[] = []

  constructor(parts: SpeakingParts, limits: SpeakingLimits, { operation, order, format, place, warning }: Admitted) {
    this.#parts = parts
    this.#limits = limits
    this.operation = operation
    this.#order = order
    this.format = format
    this.sampleRateHz = order.sampleRateHz
    this.#place = place
    this.warning = warning
    this.#beganMs = parts.clock.monotonicMs()
    this.#facts = { audioSent: false, cancelRequested: false, clientGone: false }
  }

  get id(): string {
    return this.operation.id
  }

  /** Resolves once the settlement is written; never rejects. */
  get settled(): Promise<Settlement> {
    return this.#settled.promise
  }

  /** It was admitted. */
  readonly isRecorded = true

  /** It has ended, but the database could not record it yet. */
  get unwritten(): boolean {
    return this.#unwritten
  }

  /** Waits for the first audio. @throws MynaError with the operation's id */
  async start(gone: AbortSignal): Promise<void> {
    const left = () => this.clientGone()
    gone.addEventListener('abort', left)
    if (gone.aborted) left()
    void this.settled.then(() => gone.removeEventListener('abort', left))
    try {
      this.#throwIfEnded()
      this.#frames = this.#parts.engine.speak(this.#order, this.#abort.signal)[Symbol.asyncIterator]()
      this.#asked = this.#frames.next()
      // It is awaited later, or never.
      this.#asked.catch(() => {})
      this.#encoder = await this.#parts.encoders.open(this.format, this.sampleRateHz)
      this.#throwIfEnded()
      const first = await this.#lead()
      if (first === null) throw new MynaError('generation_failed', 'The engine made no audio.')
      await this.#unlessEnded(() => this.#parts.ledger.markFirstAudio(this.operation.id))
      this.#facts.audioSent = true
      this.#place.gave(this.#givenMs, this.#parts.clock.monotonicMs())
      this.#first = first
      this.#parts.meter.firstByte((this.#parts.clock.monotonicMs() - this.#beganMs) / 1000)
      this.#watchReader()
    } catch (error) {
      await this.#fail(error)
      throw this.#refusal(error)
    }
  }

  /**
   * The next encoded bytes; asking for them says that the last ones were taken.
   * @returns null when everything was handed over and the operation is settled as completed
   * @throws when the stream ended in any other way; the operation is settled then too
   */
  next(): Promise<Uint8Array | null> {
    if (this.#first === null) Object.assign(this.#accepted, this.#given)
    return this.#step()
  }

  /** All bytes, for an answer that is sent once it is whole: a client that leaves before has taken nothing. */
  async all(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for (let bytes = await this.#step(); bytes !== null; bytes = await this.#step()) pieces.push(bytes)
    return Buffer.concat(pieces)
  }

  async #step(): Promise<Uint8Array | null> {
    this.#cancelUnread?.()
    try {
      this.#throwIfEnded()
      const first = this.#first
      this.#first = null
      const bytes = first ?? (await this.#produce())
      if (bytes === null) {
        Object.assign(this.#accepted, this.#given)
        await this.#end()
        if (this.#ended?.outcome !== 'completed') throw new Ended()
        return null
      }
      this.#watchReader()
      return bytes
    } catch (error) {
      await this.#fail(error)
      throw this.#refusal(error)
    }
  }

  cancel(): void {
    this.#facts.cancelRequested = true
    this.#endSoon()
  }

  /** The client disconnected or stopped reading. */
  clientGone(): void {
    this.#facts.clientGone = true
    this.#endSoon()
  }

  shutDown(): void {
    this.#failure ??= { code: 'server_shutting_down', message: 'The server was shut down.' }
    this.#endSoon()
  }

  /** Words that begin in what `next` has given since this was asked last; where the request asks for them. */
  takeWords(): readonly SpokenWord[] {
    return this.#words.splice(0)
  }

  /** The settlement, for the last event of an `SSE` stream. Only after `next` returned null. */
  get usage(): { characters: number; audioSeconds: number } {
    return { characters: this.operation.inputChars, audioSeconds: (this.#ended?.audioMs ?? 0) / 1000 }
  }

  /** The first bytes: as soon as there are any, or once there is enough sound where the machine is slow. */
  async #lead(): Promise<Uint8Array | null> {
    const pieces: Uint8Array[] = []
    do {
      const bytes = await this.#produce()
      if (bytes === null) break
      pieces.push(bytes)
    } while (!this.#place.mayPlay(this.#givenMs, this.#firstMs))
    const [first = null] = pieces
    return pieces.length > 1 ? Buffer.concat(pieces) : first
  }

  /** Of sound, to the encoder. */
  get #givenMs(): number {
    return (1000 * this.#given.pcmBytes) / 2 / this.sampleRateHz
  }

  /** Bytes of the next non-empty piece, or null after the last. */
  async #produce(): Promise<Uint8Array | null> {
    const { encoder, frames } = this.#opened()
    while (!this.#flushed) {
      const askedMs = this.#parts.clock.monotonicMs()
      const asked = this.#asked ?? frames.next()
      this.#asked = null
      const step = await asked
      this.#throwIfEnded()
      if (step.done === true) {
        this.#flushed = true
        const rest = await encoder.finish()
        this.#throwIfEnded()
        return rest.length > 0 ? rest : null
      }
      const frame = step.value
      if (this.#given.pcmBytes === 0) this.#parts.meter.engineFirstFrame(frame.engineMs / 1000)
      this.#firstMs ??= frame.firstMs
      if (frame.words !== undefined) this.#words.push(...frame.words)
      const pcmBytes = frame.pcm.byteLength
      const bytes = await encoder.encode(frame.pcm)
      this.#throwIfEnded()
      this.#given.pcmBytes += pcmBytes
      if (this.#facts.audioSent) this.#place.gave((1000 * frame.pcm.length) / this.sampleRateHz, askedMs)
      this.#given.coveredChars = Math.max(this.#given.coveredChars, frame.coveredChars)
      if (bytes.length > 0) return bytes
    }
    return null
  }

  #opened(): { encoder: Encoder; frames: AsyncIterator<SpeechFrame> } {
    if (this.#encoder === null || this.#frames === null) throw new Ended()
    return { encoder: this.#encoder, frames: this.#frames }
  }

  #watchReader(): void {
    this.#cancelUnread = this.#parts.timer.after(this.#limits.unreadMs, () => this.clientGone())
  }

  #throwIfEnded(): void {
    if (this.#ended !== null) throw new Ended()
  }

  async #unlessEnded(write: () => Promise<void>): Promise<void> {
    this.#throwIfEnded()
    await write()
    this.#throwIfEnded()
  }

  /** Ends because of an error, unless it has ended already. */
  async #fail(error: unknown): Promise<void> {
    if (this.#ended === null) {
      const known = error instanceof MynaError
      this.#failure ??= known
        ? { code: error.code, message: error.message }
        : { code: 'generation_failed', message: 'Speech generation failed.' }
      this.#parts.report(`operation ${this.operation.id} failed`, error)
    }
    await this.#end().catch(() => {})
  }

  /** For signals: no caller waits here, and the settlement has its own promise. */
  #endSoon(): void {
    this.#end().catch(() => {})
  }

  /** The error for the caller: the reason of the end, with the operation's id. */
  #refusal(error: unknown): MynaError {
    const operationId = this.operation.id
    if (this.#ended?.outcome === 'cancelled') {
      return new MynaError('operation_cancelled', 'The operation was cancelled.', { operationId })
    }
    if (this.#failure?.code === 'server_shutting_down') {
      return new MynaError('server_shutting_down', this.#failure.message, { operationId, retryAfterMs: 5000 })
    }
    if (error instanceof MynaError) {
      const { code, message, param, extras, retryAfterMs } = error
      return new MynaError(code, message, {
        ...(param === null ? {} : { param }),
        extras,
        operationId,
        cause: error,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    }
    return new MynaError('generation_failed', 'Speech generation failed.', { operationId, cause: error })
  }

  /** The one end. The first call decides from the facts at that moment; every call waits until it is written. */
  async #end(): Promise<void> {
    if (this.#ended === null) {
      this.#ended = settleSpeech(
        {
          ...this.#facts,
          ...this.#accepted,
          failure: this.#failure,
          priceMicros: this.operation.priceMicros,
          inputChars: this.operation.inputChars,
        },
        this.sampleRateHz,
      )
      this.#cancelUnread?.()
      this.#abort.abort(over)
      this.#place.leave()
      if (!this.#flushed) this.#encoder?.close()
      void this.#settle(this.#ended)
    }
    const late = Promise.withResolvers<never>()
    if (this.#waitedInVain) late.reject(new Ended())
    const cancel = this.#parts.timer.after(unwrittenWaitMs, () => {
      this.#waitedInVain = true
      late.reject(new Ended())
    })
    await Promise.race([this.#settled.promise, late.promise]).finally(cancel)
  }

  async #settle(settlement: Settlement): Promise<void> {
    const { ledger, meter, clock } = this.#parts
    const write = () => ledger.settle(this.operation.id, settlement)
    await untilWritten(`settlement of ${this.operation.id}`, write, this.#parts, () => (this.#unwritten = true))
    this.#unwritten = false
    const wallS = (clock.monotonicMs() - this.#beganMs) / 1000
    if (settlement.outcome === 'completed' && wallS > 0) meter.realtimeFactor(settlement.audioMs / 1000 / wallS)
    meter.settled('speech', settlement.outcome, settlement, this.format)
    this.#settled.resolve(settlement)
  }
}
