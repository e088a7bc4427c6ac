/**
 * Turns on their way to text, one after another in the order of the conversation: guesses during speech, and the
 * transcription once the turn is over, which is a row in the account's usage like any other. A failed item is reported
 * as failed, and the session continues.
 */
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { oneBlock } from '../service/live-sound.ts'
import type { TranscriptionWish } from './config.ts'
import { TranscriptDeltas } from './deltas.ts'
import { samplesPerMs } from './input.ts'
import { leastHeardMs, type Opening, type RealtimeParts } from './parts.ts'

export interface TranscriptNews {
  delta(itemId: string, delta: string): void
  completed(itemId: string, transcript: string, language: string | null, seconds: number): void
  failed(itemId: string, error: MynaError): void
}

/** What becomes one item of the conversation: one turn, or several if the client says when it ends. */
export class Item {
  text = ''
  seconds = 0
  language: string | null = null
  fault: MynaError | null = null
  /** Turns of it that are over but not transcribed yet. */
  waiting = 0
  isDropped = false

  constructor(readonly id: string) {}
}

export class Turn {
  readonly deltas = new TranscriptDeltas()
  #isGuessing = false
  /** End of the last guess within the session's audio. */
  guessedAt: number
  readonly over = new AbortController()

  constructor(
    readonly item: Item,
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
    return !turn.isGuessing && turn.item.waiting === 0 && this.#parts.transcriptions.canGuess
  }

  /** A guess at a turn that has not ended. @param pcm all of it until now */
  async guess(turn: Turn, pcm: Int16Array, wish: TranscriptionWish): Promise<void> {
    const { transcriptions } = this.#parts
    const delta = await turn.guess(async (signal) =>
      transcriptions.guess(await this.#access(), requestOf(wish), pcm, signal),
    )
    this.#say(turn.item, delta)
  }

  /** The turn is over. @param pcm all of it @param isLast whether its item is complete with it */
  add(turn: Turn, pcm: Int16Array, wish: TranscriptionWish, isLast: boolean): void {
    turn.over.abort(new Error('the turn is over'))
    this.#waitingSamples += pcm.length
    turn.item.waiting++
    this.#last = this.#last.then(async () => {
      await this.#transcribe(turn, pcm, wish)
      if (isLast && !this.#gone.aborted) this.#conclude(turn.item)
    })
  }

  #conclude({ id, fault, text, language, seconds }: Item): void {
    if (fault === null) this.#news.completed(id, text, language, seconds)
    else this.#news.failed(id, fault)
  }

  async #transcribe(turn: Turn, pcm: Int16Array, wish: TranscriptionWish): Promise<void> {
    const { item } = turn
    try {
      const isWanted = !this.#gone.aborted && !item.isDropped && item.fault === null
      // A commit may come right after a part.
      if (isWanted && pcm.length >= leastHeardMs * samplesPerMs) await this.#hear(turn, pcm, wish)
    } catch (error) {
      if (this.#gone.aborted) return
      if (!(error instanceof MynaError)) this.#parts.report('a realtime turn failed', error)
      item.fault = error instanceof MynaError ? error : new MynaError('generation_failed', 'Transcription failed.')
    } finally {
      this.#waitingSamples -= pcm.length
      item.waiting--
    }
  }

  /** After what was said of the same item before. */
  #say(item: Item, delta: string): void {
    if (delta === '' || this.#gone.aborted || item.isDropped) return
    const lead = item.text === '' || delta.startsWith(' ') ? '' : ' '
    this.#news.delta(item.id, lead + delta)
  }

  async #hear({ item, deltas }: Turn, pcm: Int16Array, wish: TranscriptionWish): Promise<void> {
    const { transcriptions, clock, random, log } = this.#parts
    const caller = await this.#access()
    const id = newId('req', clock.nowMs(), random)
    const transcribing = await transcriptions.listen(caller, id, requestOf(wish), oneBlock(pcm), this.#gone)
    let text = ''
    for (let part = await transcribing.next(); part !== null; part = await transcribing.next()) {
      for (const segment of part.segments) text += segment.text
      this.#say(item, deltas.settle(text))
    }
    log({ event: 'realtime turn', id, account: caller.account.id, item: item.id })
    item.seconds += Math.round(pcm.length / samplesPerMs) / 1000
    item.language = transcribing.language ?? item.language
    item.text = `${item.text} ${text.trim().toWellFormed()}`.trim()
  }
}

const requestOf = (wish: TranscriptionWish) =>
  ({ ...wish, task: 'transcribe', wordTimes: false, words: false, temperature: 0 }) as const
