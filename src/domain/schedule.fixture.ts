/**
 * A machine in virtual time that computes the steps of streams in the order of a `Schedule`, and a record of the
 * result: how long each stream waited, how long it ran dry, and what each account received. It knows nothing of how the
 * schedule decides.
 */
import { peakUse } from './capacity.ts'
import { PlayClock } from './play-clock.ts'
import type { Random } from './random.ts'
import { Schedule } from './schedule.ts'

export interface StreamPlan {
  account: string
  atMs: number
  /** Length of the audio that each step makes. */
  soundsMs: number[]
  /** How much sound the whole machine makes in a given time. */
  speed: number
  /** Disconnects after this many steps. */
  leavesAfter?: number
  /** After this step its reader takes nothing for this long. */
  pause?: { after: number; ms: number }
}

export interface Stream {
  plan: StreamPlan
  /** As the server counts. */
  clock: PlayClock
  /** As its listener hears it, for whom no time passes while it takes nothing. */
  heard: PlayClock
  pausedMs: number
  done: number
  /** The estimate before the stream began. */
  estimateMs: number
  askedMs: number
  /** The longest wait of one of its steps. */
  longestWaitMs: number
  firstMs: number | null
  endMs: number | null
  state: 'coming' | 'queued' | 'live' | 'over'
}

interface Step {
  stream: Stream
  leftMs: number
  soundMs: number
}

export interface WorldOptions {
  slots: number
  random: Random
  /** Streams are admitted while no larger share of the machine is needed; null: all are admitted. */
  mostUse: number | null
  /** Whether last steps are claimed as such; yes unless given. */
  knowsLast?: boolean
}

export class World {
  readonly streams: Stream[]
  nowMs = 0
  steps = 0
  /** Machine time per account. */
  readonly servedMs = new Map<string, number>()
  /** Times at which a slot was free while a step waited. There must be none. */
  idle = 0
  readonly #schedule: Schedule
  readonly #options: WorldOptions
  readonly #running = new Map<number, Step>()
  readonly #asking = new Map<number, Stream>()
  /** Sorted so that the next one is the last entry. */
  readonly #wakes: { atMs: number; run: () => void }[] = []
  #lastId = 0
  #live = new Set<Stream>()
  #queued: Stream[] = []
  #looksAgain = false

  constructor(plans: readonly StreamPlan[], options: WorldOptions) {
    this.#options = options
    this.#schedule = new Schedule({ slots: options.slots })
    const { random } = options
    this.streams = plans.map((plan) => ({
      plan,
      clock: new PlayClock(),
      heard: new PlayClock(),
      pausedMs: 0,
      done: 0,
      estimateMs: sum(plan.soundsMs) * (0.8 + 0.45 * random.next()),
      askedMs: 0,
      longestWaitMs: 0,
      firstMs: null,
      endMs: null,
      state: 'coming',
    }))
    for (const stream of this.streams) this.#at(stream.plan.atMs, () => this.#come(stream))
  }

  /** @param untilMs virtual time, or until all work is done */
  run(untilMs = Infinity): void {
    while (this.nowMs < untilMs && this.#next()) this.#serve()
  }

  #next(): boolean {
    let left: [number, Step] | undefined
    for (const one of this.#running) if (left === undefined || one[1].leftMs < left[1].leftMs) left = one
    const endMs = left === undefined ? Infinity : this.nowMs + left[1].leftMs * this.#running.size
    const wake = this.#wakes.at(-1)
    if (wake !== undefined && wake.atMs <= endMs) {
      this.#wakes.pop()
      this.#pass(wake.atMs)
      wake.run()
      return true
    }
    if (left === undefined) return false
    this.#pass(endMs)
    this.#finish(left[0])
    return true
  }

  #pass(toMs: number): void {
    const each = (toMs - this.nowMs) / Math.max(1, this.#running.size)
    for (const step of this.#running.values()) {
      step.leftMs -= each
      const { account } = step.stream.plan
      this.servedMs.set(account, (this.servedMs.get(account) ?? 0) + each)
    }
    this.nowMs = toMs
  }

  #serve(): void {
    for (let id = this.#schedule.start(this.nowMs); id !== null; id = this.#schedule.start(this.nowMs)) {
      const stream = this.#asking.get(id)!
      this.#asking.delete(id)
      stream.longestWaitMs = Math.max(stream.longestWaitMs, this.nowMs - stream.askedMs)
      const soundMs = stream.plan.soundsMs[stream.done]!
      const cost = 0.7 + 0.6 * this.#options.random.next()
      this.#running.set(id, { stream, soundMs, leftMs: (cost * soundMs) / stream.plan.speed })
      this.steps++
    }
    if (this.#running.size < this.#options.slots && this.#asking.size > 0) this.idle++
  }

  #finish(id: number): void {
    const { stream, soundMs } = this.#running.get(id)!
    this.#running.delete(id)
    this.#schedule.end(id, this.nowMs)
    stream.clock.give(soundMs, this.nowMs)
    stream.heard.give(soundMs, this.nowMs - stream.pausedMs)
    stream.firstMs ??= this.nowMs
    stream.done++
    const { plan } = stream
    if (stream.done === plan.soundsMs.length || stream.done === plan.leavesAfter) {
      stream.state = 'over'
      stream.endMs = this.nowMs
      this.#live.delete(stream)
      return this.#admit()
    }
    if (plan.pause?.after !== stream.done) return this.#ask(stream)
    const { ms } = plan.pause
    this.#at(this.nowMs + ms, () => {
      stream.clock.resume(this.nowMs)
      stream.pausedMs += ms
      this.#ask(stream)
    })
  }

  #come(stream: Stream): void {
    stream.state = 'queued'
    this.#queued.push(stream)
    this.#admit()
  }

  /** First come, first served. */
  #admit(): void {
    for (let stream = this.#queued[0]; stream !== undefined; stream = this.#queued[0]) {
      if (!this.#fits(stream)) return this.#lookAgain()
      this.#queued.shift()
      this.#live.add(stream)
      stream.state = 'live'
      this.#ask(stream)
    }
  }

  #fits(stream: Stream): boolean {
    const { mostUse } = this.#options
    if (mostUse === null || this.#live.size === 0) return true
    return peakUse([...this.#live, stream].map((one) => this.#load(one))) <= mostUse
  }

  #lookAgain(): void {
    if (this.#looksAgain) return
    this.#looksAgain = true
    this.#at(this.nowMs + 200, () => {
      this.#looksAgain = false
      this.#admit()
    })
  }

  #load({ clock, estimateMs, plan: { speed } }: Stream) {
    const latencyMs = (this.#options.slots * stepMs) / speed
    return {
      aheadMs: Math.max(0, clock.aheadMs(this.nowMs) - latencyMs),
      restMs: Math.max(stepMs, estimateMs - clock.givenMs),
      stepMs,
      speed,
    }
  }

  #ask(stream: Stream): void {
    const id = ++this.#lastId
    stream.askedMs = this.nowMs
    this.#asking.set(id, stream)
    const { clock, plan, done } = stream
    const isLast = (this.#options.knowsLast ?? true) && done > 0 && done === plan.soundsMs.length - 1
    const claim = { account: plan.account, isFirst: done === 0, dueMs: clock.dueMs, isLast }
    this.#schedule.ask(id, claim, this.nowMs)
  }

  #at(atMs: number, run: () => void): void {
    const place = this.#wakes.findLastIndex((wake) => wake.atMs > atMs)
    this.#wakes.splice(place + 1, 0, { atMs, run })
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const stepMs = 3250

/** A short first step, then steps of up to five seconds. */
export const soundsOf = (random: Random, steps: number): number[] =>
  Array.from({ length: steps }, (_, at) => (at === 0 ? 1000 + 1500 * random.next() : 1500 + 3500 * random.next()))
