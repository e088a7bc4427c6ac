/**
 * Cuts a session's audio into turns where the detector finds that speech begins and ends. Where the client says when an
 * item ends, they are its parts: silence between them is dropped, so that a microphone may stay open, and nothing else.
 */
import type { MynaError } from '../domain/error.ts'
import type { TurnSettings } from './config.ts'
import { heardRateHz, samplesPerMs } from './input.ts'
import { type RealtimeParts, turnMaxSeconds } from './parts.ts'
import type { Tape } from './tape.ts'
import { type Item, Turn } from './transcripts.ts'
import { TurnDetector } from './turn-detector.ts'
import { Watch } from './watch.ts'

export interface TurnNews {
  began(turn: Turn): void
  /** @param end where in the session's sound */
  ended(turn: Turn, end: number): void
  /** Enough has been said since the last guess. @returns whether a guess is made now */
  goesOn(turn: Turn, end: number): boolean
  failed(error: MynaError): void
  /** The item of the turn that begins. */
  newItem(): Item
}

export interface TurnWishes {
  settings: TurnSettings
  /** Where in the session's sound it begins to listen. */
  from: number
  /** Whether sound that the detector could not hear is kept: then it may belong to a turn. */
  keepsUnheard: boolean
}

/** Sound between two guesses: it takes two that agree to send a word, and something new shall come every second. */
const guessEverySamples = 0.5 * heardRateHz
/** From here on a turn ends at any pause: recognizers take half a minute at once, and guesses take ever longer. */
const longTurnSeconds = 25
/** How much silence is kept, so that a client may ask for a longer prefix meanwhile. */
const spareMs = 1000

export class TurnCutter {
  readonly #tape: Tape
  readonly #news: TurnNews
  readonly #watch: Watch
  readonly #keepsUnheard: boolean
  #detector: TurnDetector
  #turn: Turn | null = null
  /** No turn begins before. */
  #cut: number

  constructor(parts: RealtimeParts, { settings, from, keepsUnheard }: TurnWishes, tape: Tape, news: TurnNews) {
    this.#tape = tape
    this.#news = news
    this.#keepsUnheard = keepsUnheard
    this.#cut = from
    this.#detector = new TurnDetector(settings, from)
    this.#watch = new Watch(parts, {
      heard: (probabilities) => this.#heard(probabilities),
      interrupted: () => this.#interrupted(),
      failed: (error) => news.failed(error),
    })
    this.#watch.write(tape.between(from, tape.end))
  }

  set settings(settings: TurnSettings) {
    this.#detector.settings = settings
  }

  /** How far the detector has come in the session's audio. */
  get at(): number {
    return this.#detector.at
  }

  /** Samples that the detector has not taken yet. */
  get unheardSamples(): number {
    return this.#watch.heldSamples
  }

  write(pcm: Int16Array): void {
    this.#watch.write(pcm)
  }

  close(): void {
    this.#watch.close()
    this.#turn?.over.abort(new Error('the session does not listen any more'))
  }

  /** Drops what was said so far. */
  forget(): void {
    this.#turn?.over.abort(new Error('the turn was dropped'))
    this.#turn = null
    this.#cut = this.#tape.end
    this.#detector.forget()
  }

  /**
   * Ends the current turn at the detector's position, in the middle of speech: what follows is another turn, whose
   * beginning is not announced. @returns null: there is no speech
   */
  cut(): Turn | null {
    const turn = this.#turn
    if (turn === null) return null
    this.#cut = this.at
    this.#turn = new Turn(this.#news.newItem(), this.at)
    return turn
  }

  /** Ends the current turn with all that has arrived, heard or not. Without one, what is still here is a turn. */
  take(): Turn {
    const turn = this.#turn ?? new Turn(this.#news.newItem(), Math.max(this.#cut, this.#tape.begin))
    this.#turn = null
    this.#cut = this.#tape.end
    this.#detector.forget()
    return turn
  }

  #heard(probabilities: Float32Array): void {
    for (const probability of probabilities) {
      const turnSamples = this.#turn === null ? 0 : this.at - this.#turn.start
      this.#detector.isHurried = turnSamples > longTurnSeconds * heardRateHz
      const found = this.#detector.push(probability)
      if (found === 'ended') this.#end()
      else if (found !== null) this.#begin(found.began)
      else if (turnSamples >= turnMaxSeconds * heardRateHz) this.#cutLong()
    }
    const turn = this.#turn
    if (turn === null) {
      const keptMs = this.#detector.settings.prefixMs + spareMs
      return this.#tape.dropBefore(this.at - keptMs * samplesPerMs)
    }
    if (this.at - turn.guessedAt < guessEverySamples) return
    if (this.#news.goesOn(turn, this.at)) turn.guessedAt = this.at
  }

  #begin(voiceAt: number): void {
    // Audio that was cleared before the detector reached it.
    if (voiceAt < this.#cut) return this.#detector.forget()
    const prefix = this.#detector.settings.prefixMs * samplesPerMs
    const start = Math.max(this.#cut, this.#tape.begin, voiceAt - prefix)
    this.#turn = new Turn(this.#news.newItem(), start)
    this.#news.began(this.#turn)
  }

  #end(): void {
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    this.#cut = this.at
    this.#news.ended(turn, this.at)
  }

  /** Speech without a pause: clients expect a beginning and an end for each item. */
  #cutLong(): void {
    const turn = this.cut()
    if (turn === null || this.#turn === null) return
    this.#news.ended(turn, this.at)
    this.#news.began(this.#turn)
  }

  /** The engine has failed in the middle: what was said until then is a turn, and it listens on from now. */
  #interrupted(): void {
    if (this.#keepsUnheard) {
      this.#turn ??= new Turn(this.#news.newItem(), Math.max(this.#cut, this.#tape.begin))
    } else {
      this.#end()
      this.#cut = this.#tape.end
    }
    this.#detector = new TurnDetector(this.#detector.settings, this.#tape.end)
  }
}
