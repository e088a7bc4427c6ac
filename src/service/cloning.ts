/**
 * One clone, from its admission to its settlement, in the background: its turn, the model's work, a preview spoken with
 * the new voice, the files, and finally the database. Files are written before the database says `ready`; the loser of
 * the compare-and-set there (cancelled, or the voice deleted) removes them again.
 */
import type { Card } from '../domain/card.ts'
import { type ErrorCode, MynaError } from '../domain/error.ts'
import type { Operation, OperationError, Outcome } from '../domain/operation.ts'
import type { CheckedClip } from './clip.ts'
import { type PersistParts, untilWritten } from './retry-until-written.ts'
import type { Ledger, Meter, SpeechEngine, VoiceEngine, VoiceFiles, Voices } from './ports.ts'
import type { Sound } from './ports/sound.ts'
import type { Place } from './queue.ts'
import { previewHz, speakSample } from './sample.ts'

export interface CloningParts extends PersistParts {
  ledger: Ledger
  files: VoiceFiles
  engine: SpeechEngine & VoiceEngine
  /** Waits while speech needs the processors. @throws the signal's reason */
  roomForOthers(signal: AbortSignal): Promise<void>
  sound: Sound
  meter: Meter
  voices: Voices
  /** Called after a voice was made again. */
  remade: (voiceId: string) => Promise<void>
}

export interface CloningWork {
  operation: Operation
  voiceId: string
  card: Card
  /** BCP-47. */
  language: string | null
  clip: Uint8Array
  reference: CheckedClip['reference']
  place: Place
  /** The voice is there already, with the files of an earlier making: they stay until the new ones are whole. */
  isRemake: boolean
}

/** No client waits for a clone with an open connection, so it may queue longer than speech. */
const queueWaitMs = 300_000
const workMs = 300_000

interface Failure {
  outcome: 'failed' | 'not_accepted' | 'cancelled'
  error: OperationError
}

/** Engine failures that the owner reads in the engine's words: another clip, model or moment may help. */
const isTold: ReadonlySet<ErrorCode> = new Set(['clip_refused', 'model_unavailable', 'engine_overloaded'])

export class Cloning {
  readonly operation: Operation
  readonly #parts: CloningParts
  readonly #work: CloningWork
  readonly #abort = new AbortController()
  readonly #settled = Promise.withResolvers<Outcome>()
  #started = false
  #stopped: 'cancelled' | 'shut down' | 'too long' | null = null
  #unwritten = false

  constructor(parts: CloningParts, work: CloningWork) {
    this.#parts = parts
    this.#work = work
    this.operation = work.operation
  }

  get id(): string {
    return this.operation.id
  }

  /** Resolves once the settlement is written and what it left is cleared away; never rejects. */
  get settled(): Promise<Outcome> {
    return this.#settled.promise
  }

  /** It was admitted. */
  readonly isRecorded = true

  /** It has ended, but the database could not record it yet. */
  get unwritten(): boolean {
    return this.#unwritten
  }

  /** A cancel was requested, or the voice is gone. */
  cancel(): void {
    this.#stop('cancelled')
  }

  shutDown(): void {
    this.#stop('shut down')
  }

  /** Does all of it. Never rejects. */
  async run(): Promise<void> {
    const cancelDeadline = this.#parts.timer.after(queueWaitMs + workMs, () => this.#stop('too long'))
    const failure = await this.#make().then(
      () => null,
      (error: unknown) => this.#judge(error),
    )
    cancelDeadline()
    this.#work.place.leave()
    // Before the database records the ending, so that a client that reads it finds no leftovers.
    const { isRemake } = this.#work
    if (failure !== null && !isRemake) await this.#removeFiles()
    const won = await this.#settle(failure)
    if (!won && (await this.#leavesFiles(failure))) await this.#removeFiles()
    if (won && failure === null && isRemake) await this.#remade()
    // Only deleting the voice settles a clone elsewhere.
    const outcome = won ? (failure?.outcome ?? 'completed') : 'cancelled'
    this.#count(outcome)
    this.#settled.resolve(outcome)
  }

  async #make(): Promise<void> {
    const { ledger, files, engine, sound } = this.#parts
    const { operation, voiceId, card, language, clip, reference, place } = this.#work
    const { signal } = this.#abort
    await place.turn(queueWaitMs, signal)
    signal.throwIfAborted()
    await ledger.markStarted(operation.id)
    this.#started = true
    signal.throwIfAborted()
    await this.#parts.roomForOthers(signal)
    const voiceState = await engine.clone(card.id, reference, signal)
    const preview = await speakSample({ card, voiceId, voiceState, language }, engine, signal)
    signal.throwIfAborted()
    await files.put(voiceId, {
      clip,
      'reference.wav': sound.wav(reference.pcm, reference.sampleRateHz),
      state: voiceState,
      'preview.wav': sound.wav(preview, previewHz),
    })
    signal.throwIfAborted()
  }

  #stop(why: 'cancelled' | 'shut down' | 'too long'): void {
    this.#stopped ??= why
    this.#abort.abort(new Error(why))
  }

  /** The reason why it was stopped wins over whatever the stop made fail. */
  #judge(error: unknown): Failure {
    if (this.#stopped === 'cancelled') {
      return { outcome: 'cancelled', error: { code: 'cancelled', message: 'The clone was cancelled.' } }
    }
    this.#parts.report(`clone ${this.operation.id} failed`, error)
    if (!this.#started) {
      const message =
        this.#stopped === 'shut down' ? 'The server was shut down before the work began.' : 'The work was not started.'
      return { outcome: 'not_accepted', error: { code: 'not_started', message } }
    }
    if (this.#stopped === null && error instanceof MynaError && isTold.has(error.code)) {
      return { outcome: 'failed', error: { code: error.code, message: error.message } }
    }
    return { outcome: 'failed', error: { code: 'engine_failed', message: this.#whatFailed(error) } }
  }

  #whatFailed(error: unknown): string {
    if (this.#stopped === 'shut down') return 'The server was shut down during the work.'
    if (this.#stopped === 'too long') return 'The engine took too long to make the voice.'
    const full = error instanceof MynaError && error.code === 'storage_full'
    return full ? 'The server could not store the voice.' : 'The engine failed while it made the voice.'
  }

  async #settle(failure: Failure | null): Promise<boolean> {
    const { ledger } = this.#parts
    const { id } = this.operation
    const { isRemake, card } = this.#work
    const complete = () =>
      isRemake ? ledger.completeRemake(id, card.cloning ?? 'approximate') : ledger.completeClone(id)
    const write = () => (failure === null ? complete() : ledger.failClone(id, failure.outcome, failure.error))
    const won = await untilWritten(`settlement of ${id}`, write, this.#parts, () => (this.#unwritten = true))
    this.#unwritten = false
    return won
  }

  /** What it wrote belongs to none, unless a voice that was there before is there still. */
  async #leavesFiles(failure: Failure | null): Promise<boolean> {
    const { isRemake, voiceId } = this.#work
    if (!isRemake) return failure === null
    return (await this.#parts.voices.find(voiceId)) === null
  }

  /** Pictures and formats of the old preview. */
  async #remade(): Promise<void> {
    try {
      await this.#parts.remade(this.#work.voiceId)
    } catch (error) {
      this.#parts.report(`old previews of ${this.#work.voiceId} could not be removed`, error)
    }
  }

  /** Files that cannot be removed now are removed at the next start. */
  async #removeFiles(): Promise<void> {
    try {
      await this.#parts.files.remove(this.#work.voiceId)
    } catch (error) {
      this.#parts.report(`files of ${this.#work.voiceId} could not be removed`, error)
    }
  }

  #count(outcome: Outcome): void {
    const { meter } = this.#parts
    const chargedMicros = outcome === 'completed' ? this.operation.priceMicros : 0
    const settlement = { outcome, chargedMicros, completionBytes: null, error: null, usedChars: 0, audioMs: 0 }
    meter.settled('clone', outcome, settlement, null)
    meter.cloned(outcome)
  }
}
