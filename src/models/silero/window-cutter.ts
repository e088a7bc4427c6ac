/**
 * Cuts speech into windows that a recognizer can take, as it arrives. Everything that the detector calls speech is in
 * exactly one window; windows do not overlap; silence is in none, except around speech and in short pauses within it.
 *
 * A window ends at a long pause; at any real pause once it is long enough; and, if there is no pause for as long as a
 * window may be, at the deepest pause that there is.
 */
import { BurstFinder, isSpeech, type Span } from './bursts.ts'
import { Tape } from './recent-samples.ts'

export interface CutOptions {
  /** Longest window, padding included. */
  maxWindowMs: number
}

export interface SpeechWindow {
  startMs: number
  /** A copy: mono, 16 kHz. */
  pcm: Float32Array
}

/** The soft ends of speech extend past what the detector is sure of: this keeps 99% of what readers say. */
const paddingMs = 300
/** Sentences are parted by pauses like this. */
const pauseMs = 600
/** Nothing is joined across a longer one: silence costs a recogniser as much as speech, and tempts it to invent. */
const maxPauseMs = 1500
/** A third of it is to hold some places where to cut. */
const minMaxWindowMs = 3000
/**
 * Share of the longest window: one of this length ends at the next real pause. Recognizers are more accurate, and some
 * cheaper, on longer windows: a first window that ended after a third, to answer sooner, cost words on both sides of
 * the cut.
 */
const enough = 2 / 3
/** Around a place where a cut may be, what is listened to. */
const aroundMs = 96
/** Being softer by this much counts as much as being certainly not speech. */
const certainDb = 40
const silentPower = 1e-8

export class SpeechCutter {
  readonly #maxWindowMs: number
  readonly #enoughMs: number
  readonly #finder: BurstFinder
  readonly #tape: Tape
  /** The window being filled: speech and, between it, pauses. The last one may still grow. */
  #bursts: Span[] = []
  #startMs = 0
  /** End of the last window. */
  #cutMs = 0
  /** By its start, the current burst if it is already in `#bursts`. */
  #growing: number | null = null

  /** @param windowMs what the detector is given at once @throws RangeError when windows would be too short to cut */
  constructor(options: CutOptions, windowMs: number) {
    if (options.maxWindowMs < minMaxWindowMs) throw new RangeError(`no windows of ${options.maxWindowMs} ms`)
    this.#maxWindowMs = options.maxWindowMs
    this.#enoughMs = enough * options.maxWindowMs
    this.#finder = new BurstFinder(windowMs)
    // A pause, and what may yet become speech after it, can follow a window that is full.
    this.#tape = new Tape(options.maxWindowMs + 2 * maxPauseMs, windowMs)
  }

  /** The end of the audio so far. */
  get endMs(): number {
    return this.#tape.endMs
  }

  /** Every window that is still to come begins here or later. */
  get heardMs(): number {
    if (this.#bursts.length > 0) return this.#startMs
    return Math.max(this.#cutMs, this.#silentUntilMs() - paddingMs)
  }

  /** @param window of the detector's length; only the last one may be shorter */
  push(window: Float32Array, probability: number): SpeechWindow[] {
    this.#tape.append(window, probability)
    const ended = this.#finder.push(probability)
    this.#follow(ended)
    const windows = this.#cutAll()
    if (this.#isComplete()) windows.push(this.#close())
    this.#tape.dropBefore(this.heardMs)
    return windows
  }

  /** The rest once the audio has ended. */
  end(): SpeechWindow[] {
    const { open } = this.#finder
    if (open !== null) this.#follow({ startMs: open.startMs, endMs: this.#tape.endMs })
    const windows = this.#cutAll()
    return this.#bursts.length === 0 ? windows : [...windows, this.#close()]
  }

  /** Takes up a burst as soon as it is long enough to be speech, and follows it as it grows. */
  #follow(ended: Span | null): void {
    const burst = ended ?? this.#finder.open
    if (burst === null) return
    const endMs = Math.min(burst.endMs, this.#tape.endMs)
    const last = this.#bursts.at(-1)
    if (this.#growing === burst.startMs && last !== undefined) last.endMs = endMs
    else if (isSpeech({ startMs: burst.startMs, endMs })) {
      if (last === undefined) this.#startMs = Math.max(this.#cutMs, burst.startMs - paddingMs)
      this.#bursts.push({ startMs: burst.startMs, endMs })
      this.#growing = burst.startMs
    }
    if (ended !== null) this.#growing = null
  }

  #cutAll(): SpeechWindow[] {
    const windows: SpeechWindow[] = []
    while (this.#isTooLong()) windows.push(this.#cut())
    return windows
  }

  #isTooLong(): boolean {
    const last = this.#bursts.at(-1)
    return last !== undefined && last.endMs + paddingMs - this.#startMs > this.#maxWindowMs
  }

  #isComplete(): boolean {
    const last = this.#bursts.at(-1)
    if (last === undefined || this.#growing !== null) return false
    const silentMs = this.#silentUntilMs() - last.endMs
    return silentMs >= maxPauseMs || (silentMs >= pauseMs && last.endMs - this.#startMs >= this.#enoughMs)
  }

  /** Where the next speech may begin. */
  #silentUntilMs(): number {
    return this.#finder.open?.startMs ?? this.#tape.endMs
  }

  /** Ends the window after its last burst. */
  #close(): SpeechWindow {
    const { endMs } = this.#bursts.at(-1)!
    return this.#take(Math.min(endMs + paddingMs, this.#tape.endMs), [])
  }

  /** Ends a window that is too long at its longest pause in its last third or, without one, within speech. */
  #cut(): SpeechWindow {
    const fromMs = this.#startMs + (2 / 3) * this.#maxWindowMs
    const pauses = this.#bursts.slice(1).map(({ startMs }, index) => {
      const { endMs } = this.#bursts[index]!
      return { index, startMs: endMs, endMs: startMs }
    })
    const late = pauses.filter(({ endMs }) => endMs > fromMs)
    const longest = late.toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))[0]
    if (longest === undefined) return this.#cutSpeech(fromMs)
    const silenceMs = Math.min(paddingMs, (longest.endMs - longest.startMs) / 2)
    return this.#take(longest.startMs + silenceMs, this.#bursts.slice(longest.index + 1))
  }

  /** Without a pause: where it is least like speech, and softest. */
  #cutSpeech(fromMs: number): SpeechWindow {
    const last = this.#bursts.at(-1)!
    const toMs = this.#startMs + this.#maxWindowMs - paddingMs
    const atMs = softest(this.#tape, fromMs, toMs)
    const before = { startMs: last.startMs, endMs: atMs }
    const after = { startMs: atMs, endMs: last.endMs }
    this.#bursts = [...this.#bursts.slice(0, -1), before, after]
    return this.#take(atMs, [after])
  }

  /** @param rest bursts of the next window */
  #take(endMs: number, rest: Span[]): SpeechWindow {
    const window = { startMs: this.#startMs, pcm: this.#tape.between(this.#startMs, endMs) }
    this.#cutMs = endMs
    this.#bursts = rest
    if (rest.length > 0) this.#startMs = Math.max(endMs, rest[0]!.startMs - paddingMs)
    return window
  }
}

/** The quietest boundary between two windows of the detector, within a range of time. */
function softest(tape: Tape, fromMs: number, toMs: number): number {
  const { windowMs } = tape
  const around = Math.round(aroundMs / windowMs) * windowMs
  let best = { atMs: toMs, score: Infinity }
  for (let atMs = Math.ceil(fromMs / windowMs) * windowMs; atMs <= toMs; atMs += windowMs) {
    const heard = tape.heardBetween(atMs - around, atMs + around)
    const mean = (of: 'probability' | 'power') => heard.reduce((sum, one) => sum + one[of], 0) / heard.length
    const levelDb = 10 * Math.log10(mean('power') + silentPower)
    const score = mean('probability') + levelDb / certainDb
    if (score < best.score) best = { atMs, score }
  }
  return best.atMs
}
