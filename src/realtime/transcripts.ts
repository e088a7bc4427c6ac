/**
 * Turns on their way to text, one after another in the order of the conversation: guesses during speech, and the
 * transcription once the turn is over, which is a row in the account's usage like any other. A failed turn is reported
 * as failed, and the session continues.
 */
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { oneBlock } from '../service/live-sound.ts'
import type { TranscriptionWish } from './config.ts'
import { TranscriptDeltas } from './deltas.ts'
import { samplesPerMs } from './input.ts'
import type { Opening, RealtimeParts } from './parts.ts'

export interface TranscriptNews {
  delta(itemId: string, delta: string): void
  completed(itemId: string, transcript: string, language: string | null, seconds: number): void
  failed(itemId: string, error: MynaError): void
}

export class Turn {
  readonly deltas = new TranscriptDeltas()
  #isGuessing = false
  /** End of the last guess within the session's audio. */
  guessedAt: number
  readonly over = new AbortController()

  constructor(
    readonly itemId: string,
    /** Its start within the session's audio. */
    readonly start: number,
  ) {
    this.guessedAt = start
  }

  get isGuessing(): boolean {
    return this.#isGuessing
  }

  /** A failing guess does not matter. */
  async guess(work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    this.#isGuessing = true
    try {
      const text = await work(this.over.signal)
      return this.over.signal.aborted ? '' : this.deltas.guess(text)
    } catch {
      return ''
    } finally {
      this.#isGuessing = false
    }
  }
}

export class Transcripts {
  readonly #parts: RealtimeParts
  readonly #access: Opening['access']
  readonly #news: TranscriptNews
  readonly #gone: AbortSignal
  #last: Promise<void> = Promise.resolve()
  /** Turns that are over but not transcribed yet. */
  #waitingSamples = 0

  constructor(parts: RealtimeParts, access: Opening['access'], news: TranscriptNews, gone: AbortSignal) {
    this.#parts = parts
    this.#access = access
    this.#news = news
    this.#gone = gone
  }

  get waitingSamples(): number {
    return this.#waitingSamples
  }

  /** @returns why nothing can be transcribed as the client wishes; null: it can */
  faultOf(wish: TranscriptionWish): MynaError | null {
    try {
      this.#parts.transcriptions.requireListener(requestOf(wish))
      return null
    } catch (error) {
      if (error instanceof MynaError) return error
      throw error
    }
  }

  /** Whether there is room for one more guess at this turn. */
  canGuess(turn: Turn): boolean {
    return !turn.isGuessing && this.#parts.transcriptions.canGuess
  }

  /** A guess at a turn that has not ended. @param pcm all of it until now */
  async guess(turn: Turn, pcm: Int16Array, wish: TranscriptionWish): Promise<void> {
    const { transcriptions } = this.#parts
    const delta = await turn.guess(async (signal) =>
      transcriptions.guess(await this.#access(), requestOf(wish), pcm, signal),
    )
    if (delta !== '' && !this.#gone.aborted) this.#news.delta(turn.itemId, delta)
  }

  /** The turn is over. @param pcm all of it */
  add(turn: Turn, pcm: Int16Array, wish: TranscriptionWish): void {
    turn.over.abort(new Error('the turn is over'))
    this.#waitingSamples += pcm.length
    this.#last = this.#last.then(() => this.#transcribe(turn, pcm, wish))
  }

  async #transcribe(turn: Turn, pcm: Int16Array, wish: TranscriptionWish): Promise<void> {
    try {
      if (!this.#gone.aborted) await this.#hear(turn, pcm, wish)
    } catch (error) {
      if (this.#gone.aborted) return
      if (!(error instanceof MynaError)) this.#parts.report('a realtime turn failed', error)
      const known = error instanceof MynaError ? error : new MynaError('generation_failed', 'Transcription failed.')
      this.#news.failed(turn.itemId, known)
    } finally {
      this.#waitingSamples -= pcm.length
    }
  }

  async #hear({ itemId, deltas }: Turn, pcm: Int16Array, wish: TranscriptionWish): Promise<void> {
    const { transcriptions, clock, random, log } = this.#parts
    const caller = await this.#access()
    const id = newId('req', clock.nowMs(), random)
    const transcribing = await transcriptions.listen(caller, id, requestOf(wish), oneBlock(pcm), this.#gone)
    let text = ''
    for (let part = await transcribing.next(); part !== null; part = await transcribing.next()) {
      for (const segment of part.segments) text += segment.text
      const delta = deltas.settle(text)
      if (delta !== '') this.#news.delta(itemId, delta)
    }
    log({ event: 'realtime turn', id, account: caller.account.id, item: itemId })
    const seconds = Math.round(pcm.length / samplesPerMs) / 1000
    this.#news.completed(itemId, text.trim().toWellFormed(), transcribing.language, seconds)
  }
}

const requestOf = (wish: TranscriptionWish) =>
  ({ ...wish, task: 'transcribe', wordTimes: false, words: false, temperature: 0 }) as const
