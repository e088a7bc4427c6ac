/**
 * Decides who may speak now: as many streams as the machine can serve without a gap for any of them, by how fast its
 * models have been (`speeds.ts`). Others wait, and nothing is charged meanwhile; beyond a number of them a request is
 * refused with how long the work of all will take. Overload costs those who come, not those who are being heard.
 */
import { type Load, peakUse, workMs } from '../domain/capacity.ts'
import { MynaError } from '../domain/error.ts'
import { PlayClock } from '../domain/play-clock.ts'
import type { AudioFormat } from '../domain/speech.ts'
import type { Clock, Timer } from '../domain/time.ts'
import { type Speed, unknownSpeed } from './speeds.ts'

/** What is to be spoken. */
export interface SpeechAsk {
  accountId: string
  model: string
  /** By estimate. */
  soundMs: number
  /** What it is encoded in; absent: nothing is encoded. */
  format?: AudioFormat
}

export interface SpeechPlace {
  /** Resolves when it is this place's turn. @throws MynaError `engine_overloaded` after maxMs; the signal's reason */
  turn(maxMs: number, signal: AbortSignal): Promise<void>
  /**
   * Whether its client may have the first of its sound: where the machine is slow, as much is ready before that as its
   * listener will be short of later.
   * @param readyMs sound that is ready @param firstMs machine time until the first of it; absent: not measured
   */
  mayPlay(readyMs: number, firstMs?: number): boolean
  /** Its client was given sound. @param askedMs since when that was waited for: before, the client itself was busy */
  gave(soundMs: number, askedMs: number): void
  /** Gives the place back, at whatever stage; a second call does nothing. */
  leave(): void
}

export interface SpeechQueueOptions {
  /** Streams at once at most, whatever the machine can do. */
  streamsMax: number
  waitingMax: number
  /** Engines that share the work. */
  engines: number
  speedOf(model: string, format: AudioFormat | undefined): Speed
  /** Sound that may be ready before the first of it leaves; 15 s unless given. */
  mostLeadMs?: number
  clock: Pick<Clock, 'monotonicMs'>
  timer: Timer
}

/** For operators. */
export interface SpeechFacts {
  running: number
  waiting: number
  /** The largest share of what this machine can do that those who run need at any time; from 0.8 on others wait. */
  use: number
  /** How often, and for how long, a listener had nothing to play because nothing was ready. */
  gaps: { count: number; ms: number }
  /** Requests refused because too many waited, or waited too long. */
  shed: number
}

/** Of what the machine can do: the rest is for errors of the estimates. */
const mostUse = 0.8
/** The last part is for accounts of which nothing runs, so that no account can take all. */
const mostUseOfBusyAccount = 0.6
/**
 * Other programs begin from one second to the next. Before one more is let in, those who are heard have enough sound to
 * get through this long on this share of the machine; no request is let in while it is so slow. In the simulation
 * (`speech-machine.test.ts`), no listener of a short text runs dry in ten seconds at a quarter, nor at half for good.
 * Its price: 2 % fewer streams at four times capacity, and of 64 that come at once the middle one hears its first
 * sound after 2.4 s instead of 0.8.
 */
const suddenMs = 7000
const suddenShare = 0.25
/**
 * A model is never counted as slower than this. If even one stream cannot keep up with a listener, two may as well run
 * at once.
 */
const slowest = 2.5
const againMs = 100
/**
 * A gap means that too much was promised, for example because other programs are busy: promise less from now on, at
 * most one step a second.
 */
const afterGap = 0.75
const leastTrust = 0.25
const trustPerSecond = 0.02
const audibleGapMs = 100
/** Sound that is ready before the first of it leaves, where estimates are believed least. */
const mostDoubtMs = 2000
const usualMostLeadMs = 15_000
/** The first sound is held back no longer than this. */
const longestLeadMs = 10_000
/** What a stream gets of the machine, where others need all of it. */
const leastShare = 0.25
/** Before a listener has as much, how much it is short of cannot matter. */
const leastHeardMs = 100
/** What took less is a pause that the text begins with, and says nothing of the speech after it. */
const leastFirstMs = 1
/** Other work waits while a listener has less sound left than this, and for no longer than that. */
const pressedMs = 1000
const longestHoldMs = 1000
const retryMs = { least: 2000, most: 300_000 }

interface Entry extends SpeechAsk {
  clock: PlayClock
  /** Sound that is held back until its listener may have the first of it, and since when. */
  ready: { ms: number; sinceMs: number } | null
  state: 'waiting' | 'running' | 'left'
  wake: (() => void) | null
}

export class SpeechQueue {
  readonly #options: SpeechQueueOptions
  readonly #running = new Set<Entry>()
  readonly #waiting = new Set<Entry>()
  readonly #gaps = { count: 0, ms: 0 }
  #shed = 0
  /** How far the estimates are believed: 1 is as they are. */
  #trust = { value: 1, atMs: 0, gapMs: -Infinity }
  #looksAgain = false

  constructor(options: SpeechQueueOptions) {
    this.#options = options
  }

  get depth(): number {
    return this.#waiting.size
  }

  get running(): number {
    return this.#running.size
  }

  get facts(): SpeechFacts {
    const use = peakUse(this.#loads(this.#running)) / this.#options.engines
    return { running: this.running, waiting: this.depth, use, gaps: { ...this.#gaps }, shed: this.#shed }
  }

  /**
   * For other work of the same processors, before each piece of it: resolves once every listener has enough sound, or
   * after a second, so that nothing waits forever.
   * @throws the signal's reason
   */
  async roomForOthers(signal: AbortSignal): Promise<void> {
    const { clock, timer } = this.#options
    const endMs = clock.monotonicMs() + longestHoldMs
    while (this.isPressed(pressedMs) && clock.monotonicMs() < endMs) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => void timer.after(againMs, resolve))
    }
    signal.throwIfAborted()
  }

  /** Whether a listener has less sound left than this, or waits for the first. */
  isPressed(leastMs: number): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    return [...this.#running].some(({ clock, soundMs }) => {
      return clock.givenMs < soundMs && clock.aheadMs(nowMs) < leastMs
    })
  }

  /** @throws MynaError `engine_overloaded` when too many wait */
  reserve(ask: SpeechAsk): SpeechPlace {
    const entry: Entry = { ...ask, clock: new PlayClock(), ready: null, state: 'waiting', wake: null }
    this.#waiting.add(entry)
    this.#serve()
    if (this.#waiting.size > this.#options.waitingMax && entry.state === 'waiting') {
      this.#leave(entry)
      throw this.#overloaded()
    }
    return {
      turn: (maxMs, signal) => this.#turn(entry, maxMs, signal),
      mayPlay: (readyMs, firstMs) => this.#mayPlay(entry, readyMs, firstMs),
      gave: (soundMs, askedMs) => this.#gave(entry, soundMs, askedMs),
      leave: () => this.#leave(entry),
    }
  }

  #turn(entry: Entry, maxMs: number, signal: AbortSignal): Promise<void> {
    if (entry.state === 'running') return Promise.resolve()
    return new Promise((resolve, reject) => {
      const stop = (error: unknown) => {
        cancel()
        signal.removeEventListener('abort', aborted)
        this.#leave(entry)
        reject(error)
      }
      const aborted = () => stop(signal.reason)
      const cancel = this.#options.timer.after(maxMs, () => stop(this.#overloaded()))
      signal.addEventListener('abort', aborted)
      entry.wake = () => {
        cancel()
        signal.removeEventListener('abort', aborted)
        resolve()
      }
      if (signal.aborted) aborted()
    })
  }

  #mayPlay(entry: Entry, readyMs: number, firstMs: number | undefined): boolean {
    const { mostLeadMs = usualMostLeadMs, clock, engines, speedOf } = this.#options
    const nowMs = clock.monotonicMs()
    entry.ready = { ms: readyMs, sinceMs: entry.ready?.sinceMs ?? nowMs }
    if (readyMs >= mostLeadMs || nowMs - entry.ready.sinceMs >= longestLeadMs) return true
    const trust = this.#trustAt(nowMs)
    if (readyMs < mostDoubtMs * (1 - trust)) return false
    const others = [...this.#running].filter((other) => other !== entry)
    const share = Math.max(leastShare, Math.min(1, engines - peakUse(this.#loads(others))))
    const lasts = (speedOf: SpeechQueueOptions['speedOf']) => {
      const own = this.#loads([entry], 0, speedOf).map((load) => ({
        ...load,
        speed: load.speed * share * mostUse * trust,
      }))
      return peakUse(own, { leastMs: leastHeardMs }) <= 1
    }
    if (lasts(speedOf)) return true
    // What has not spoken here yet is as fast as its first sound shows, at least: what follows was computed with it.
    const isUnknown = speedOf(entry.model, entry.format) === unknownSpeed
    if (!isUnknown || firstMs === undefined || firstMs < leastFirstMs) return false
    const speed = readyMs / (firstMs + nowMs - entry.ready.sinceMs)
    return lasts(() => ({ speed, stepMs: speed * firstMs }))
  }

  #gave({ clock }: Entry, soundMs: number, askedMs: number): void {
    const nowMs = this.#options.clock.monotonicMs()
    clock.hold(askedMs)
    const before = clock.gaps
    clock.give(soundMs, nowMs)
    this.#gaps.count += clock.gaps.count - before.count
    this.#gaps.ms += clock.gaps.ms - before.ms
    if (clock.gaps.ms - before.ms >= audibleGapMs) this.#trustLess(nowMs)
    if (this.#waiting.size > 0) this.#lookAgain()
  }

  #leave(entry: Entry): void {
    entry.state = 'left'
    this.#running.delete(entry)
    this.#waiting.delete(entry)
    this.#serve()
  }

  /**
   * Among those that wait, the account with the least running goes first; within an account, the order is that of
   * arrival.
   */
  #serve(): void {
    for (let next = this.#next(); next !== null && this.#fits(next); next = this.#next()) {
      this.#waiting.delete(next)
      this.#running.add(next)
      next.state = 'running'
      next.wake?.()
    }
    if (this.#waiting.size > 0) this.#lookAgain()
  }

  #next(): Entry | null {
    let best: { entry: Entry; running: number } | null = null
    for (const entry of this.#waiting) {
      const running = this.#runningOf(entry.accountId)
      if (best === null || running < best.running) best = { entry, running }
    }
    return best?.entry ?? null
  }

  #fits(entry: Entry): boolean {
    const { streamsMax, engines } = this.#options
    if (this.#running.size === 0) return true
    if (this.#running.size >= streamsMax) return false
    const isBusy = this.#runningOf(entry.accountId) > 0
    const most = isBusy ? mostUseOfBusyAccount : mostUse
    const [running, own] = [this.#loads(this.#running), this.#loads([entry])]
    const suddenly = (isBusy ? [...running, ...own] : running).map((load) => ({
      ...load,
      speed: load.speed * suddenShare,
    }))
    if (peakUse(suddenly, { untilMs: suddenMs }) > (most / mostUse) * engines) return false
    const trust = this.#trustAt(this.#options.clock.monotonicMs())
    return peakUse([...running, ...own]) <= most * trust * engines
  }

  #trustLess(nowMs: number): void {
    if (nowMs - this.#trust.gapMs < 1000) return
    const value = Math.max(leastTrust, afterGap * this.#trustAt(nowMs))
    this.#trust = { value, atMs: nowMs, gapMs: nowMs }
  }

  #trustAt(nowMs: number): number {
    return Math.min(1, this.#trust.value + (trustPerSecond * (nowMs - this.#trust.atMs)) / 1000)
  }

  #runningOf(accountId: string): number {
    let count = 0
    for (const entry of this.#running) if (entry.accountId === accountId) count++
    return count
  }

  #loads(entries: Iterable<Entry>, leastSpeed = slowest, speedOf = this.#options.speedOf): Load[] {
    const nowMs = this.#options.clock.monotonicMs()
    return Array.from(entries, ({ model, format, soundMs, clock, ready }) => {
      const { speed, stepMs } = speedOf(model, format)
      const readyMs = clock.dueMs === null ? (ready?.ms ?? 0) : 0
      const restMs = Math.max(0, soundMs - clock.givenMs - readyMs)
      // An estimate that has been passed says that there is more, and not how much.
      return {
        aheadMs: clock.aheadMs(nowMs) + readyMs,
        restMs: Math.max(stepMs, restMs),
        stepMs,
        speed: Math.max(leastSpeed, speed),
      }
    })
  }

  /** Streams get ahead of their listeners, and models get faster, without a word. */
  #lookAgain(): void {
    if (this.#looksAgain) return
    this.#looksAgain = true
    this.#options.timer.after(againMs, () => {
      this.#looksAgain = false
      this.#serve()
    })
  }

  /** Called when the work of all running and waiting streams will be done. */
  #overloaded(): MynaError {
    this.#shed++
    const allMs = workMs(this.#loads([...this.#running, ...this.#waiting])) / this.#options.engines
    const retryAfterMs = Math.min(retryMs.most, Math.max(retryMs.least, Math.ceil(allMs / 1000) * 1000))
    const message = 'The engine has as much to say as it can, and others wait. Try again later.'
    return new MynaError('engine_overloaded', message, { retryAfterMs })
  }
}
