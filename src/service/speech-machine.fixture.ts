/**
 * A server and its engine in virtual time: the real queue, the real measured speeds and the real schedule, on a machine
 * whose speed changes when a plan says so. Listeners keep their own account of what they play, which shares no code
 * with what is tested: the arrival of each piece is noted, and gaps are added up afterwards.
 */
import type { Clock, Timer } from '../domain/time.ts'
import { PlayClock } from '../domain/play-clock.ts'
import type { Random } from '../domain/random.ts'
import { Schedule } from '../domain/schedule.ts'
import { Speeds } from './speeds.ts'
import { type SpeechPlace, SpeechQueue } from './speech-queue.ts'

export interface ListenerPlan {
  account: string
  atMs: number
  /** Of each step. */
  soundsMs: readonly number[]
  /** What the server believes it will be. */
  estimateMs: number
  /** Sound that it buffers, and takes no more than that; Infinity: it takes all at once. */
  bufferMs: number
}

export interface MachinePlan {
  slots: number
  random: Random
  /** Seconds of sound that the whole machine makes in a second, at full speed. */
  speed: number
  /** The share of it that is there at a time, which changes at these times only. */
  shares: readonly { atMs: number; share: number }[]
  queueWaitMs: number
}

export interface Listener {
  plan: ListenerPlan
  /** When it came, and how much it was. */
  heard: { atMs: number; soundMs: number }[]
  admittedMs: number | null
  outcome: 'coming' | 'waiting' | 'playing' | 'whole' | 'refused'
}

interface Stream {
  listener: Listener
  place: SpeechPlace
  /** As the engine counts. */
  clock: PlayClock
  done: number
  /** Computed, and not sent to its listener yet. */
  readyMs: number
  isPlaying: boolean
  askedMs: number
}

interface Step {
  stream: Stream
  soundMs: number
  leftMs: number
  allMs: number
  firstMs: number | null
}

/** The first part of a step brings its share of the sound; the rest comes at its end. */
const broughtShare = 0.5

export class SpeechMachine implements Timer, Clock {
  readonly listeners: Listener[]
  readonly queue: SpeechQueue
  readonly #plan: MachinePlan
  readonly #speeds = new Speeds()
  readonly #schedule: Schedule
  readonly #wakes: { atMs: number; run: () => void }[] = []
  readonly #asking = new Map<number, Stream>()
  readonly #running = new Map<number, Step>()
  #atMs = 0
  #lastId = 0

  constructor(plans: readonly ListenerPlan[], plan: MachinePlan) {
    this.#plan = plan
    this.#schedule = new Schedule({ slots: plan.slots })
    this.queue = new SpeechQueue({
      streamsMax: Infinity,
      waitingMax: 64,
      engines: 1,
      speedOf: (model) => this.#speeds.of(model),
      clock: this,
      timer: this,
    })
    this.listeners = plans.map((of) => ({ plan: of, heard: [], admittedMs: null, outcome: 'coming' }))
    for (const listener of this.listeners) this.after(listener.plan.atMs, () => void this.#come(listener))
    for (const { atMs } of plan.shares) this.after(atMs, () => {})
  }

  nowMs(): number {
    return this.#atMs
  }

  monotonicMs(): number {
    return this.#atMs
  }

  after(ms: number, run: () => void): () => void {
    const wake = { atMs: this.#atMs + ms, run }
    const place = this.#wakes.findLastIndex(({ atMs }) => atMs > wake.atMs)
    this.#wakes.splice(place + 1, 0, wake)
    return () => {
      const at = this.#wakes.indexOf(wake)
      if (at >= 0) this.#wakes.splice(at, 1)
    }
  }

  /** Until all listeners are served or refused. */
  async run(): Promise<void> {
    while (this.#next()) {
      // The queue wakes those that wait through promises.
      for (let turns = 0; turns < 4; turns++) await Promise.resolve()
      this.#serve()
    }
  }

  /** @returns false when nothing will happen any more */
  #next(): boolean {
    const [end, step] = this.#firstEnd()
    const wake = this.#wakes.at(-1)
    if (wake !== undefined && wake.atMs <= end) {
      this.#wakes.pop()
      this.#pass(wake.atMs)
      wake.run()
      return true
    }
    if (step === null) return false
    this.#pass(end)
    this.#advance(step)
    return true
  }

  /** The next time at which a step brings its first sound, or ends. */
  #firstEnd(): [number, number | null] {
    let [least, id]: [number, number | null] = [Infinity, null]
    for (const [each, step] of this.#running) {
      const left = untilNext(step)
      if (left < least) [least, id] = [left, each]
    }
    return [id === null ? Infinity : this.#atMs + least / this.#rate, id]
  }

  /** Work that each running step gets in a time. */
  get #rate(): number {
    const { shares, slots } = this.#plan
    const share = shares.findLast(({ atMs }) => atMs <= this.#atMs)?.share ?? 1
    return share / Math.max(slots, this.#running.size)
  }

  #pass(toMs: number): void {
    const done = (toMs - this.#atMs) * this.#rate
    for (const step of this.#running.values()) step.leftMs -= done
    this.#atMs = toMs
  }

  #serve(): void {
    const { random, speed } = this.#plan
    for (let id = this.#schedule.start(this.#atMs); id !== null; id = this.#schedule.start(this.#atMs)) {
      const stream = this.#asking.get(id)!
      this.#asking.delete(id)
      const soundMs = stream.listener.plan.soundsMs[stream.done]!
      const allMs = ((0.7 + 0.6 * random.next()) * soundMs) / speed
      this.#running.set(id, { stream, soundMs, leftMs: allMs, allMs, firstMs: null })
    }
  }

  #advance(id: number): void {
    const step = this.#running.get(id)!
    const { stream, soundMs } = step
    if (step.firstMs === null) {
      step.firstMs = this.#schedule.bring(id, this.#atMs)
      return this.#bring(stream, broughtShare * soundMs)
    }
    this.#running.delete(id)
    const { machineMs } = this.#schedule.end(id, this.#atMs)
    this.#speeds.note('voice', { steps: 1, soundMs, machineMs, firstMs: step.firstMs })
    stream.done++
    const isLast = stream.done === stream.listener.plan.soundsMs.length
    this.#bring(stream, (1 - broughtShare) * soundMs, isLast)
    if (!isLast) this.#askSoon(stream)
  }

  /** Sound for the server, which passes it to the listener, or holds it back at first. */
  #bring(stream: Stream, soundMs: number, isLast = false): void {
    const { listener, place, clock } = stream
    clock.give(soundMs, this.#atMs)
    stream.readyMs += soundMs
    if (stream.isPlaying || isLast || place.mayPlay(stream.readyMs)) {
      const askedMs = stream.isPlaying ? stream.askedMs : this.#atMs
      stream.isPlaying = true
      listener.heard.push({ atMs: this.#atMs, soundMs: stream.readyMs })
      place.gave(stream.readyMs, askedMs)
      stream.readyMs = 0
      stream.askedMs = this.#atMs
    }
    if (!isLast) return
    listener.outcome = 'whole'
    place.leave()
  }

  /** Once its listener takes more: the sound that it has is less than its buffer. */
  #askSoon(stream: Stream): void {
    const { bufferMs } = stream.listener.plan
    const overMs = aheadMs(stream.listener, this.#atMs) - bufferMs
    if (!(overMs > 0)) return this.#ask(stream)
    this.after(overMs, () => {
      stream.clock.resume(this.#atMs)
      stream.askedMs = this.#atMs
      this.#ask(stream)
    })
  }

  #ask(stream: Stream): void {
    const id = ++this.#lastId
    this.#asking.set(id, stream)
    const { dueMs } = stream.clock
    const { account, soundsMs } = stream.listener.plan
    const claim = { account, isFirst: dueMs === null, dueMs, isLast: stream.done === soundsMs.length - 1 }
    this.#schedule.ask(id, claim, this.#atMs)
  }

  async #come(listener: Listener): Promise<void> {
    const { account, estimateMs } = listener.plan
    listener.outcome = 'waiting'
    try {
      const place = this.queue.reserve({ accountId: account, model: 'voice', soundMs: estimateMs })
      await place.turn(this.#plan.queueWaitMs, new AbortController().signal)
      listener.outcome = 'playing'
      listener.admittedMs = this.#atMs
      const clock = new PlayClock()
      const begun = { done: 0, readyMs: 0, isPlaying: false, askedMs: this.#atMs }
      this.#ask({ listener, place, clock, ...begun })
    } catch {
      listener.outcome = 'refused'
    }
  }
}

const untilNext = ({ leftMs, allMs, firstMs }: Step): number =>
  firstMs === null ? leftMs - (1 - broughtShare) * allMs : leftMs

/** What a listener has and has not played. */
function aheadMs({ heard }: Listener, nowMs: number): number {
  let emptyMs = 0
  for (const { atMs, soundMs } of heard) emptyMs = Math.max(emptyMs, atMs) + soundMs
  return Math.max(0, emptyMs - nowMs)
}

/**
 * How long the listener had nothing to play between its first sound and its last.
 * @param bufferMs a player waits for as much before it begins
 */
export function silenceMs({ heard }: Listener, bufferMs: number): number {
  const [first] = heard
  if (first === undefined) return 0
  let emptyMs = first.atMs + bufferMs
  let silentMs = 0
  for (const { atMs, soundMs } of heard) {
    silentMs += Math.max(0, atMs - emptyMs)
    emptyMs = Math.max(emptyMs, atMs) + soundMs
  }
  return silentMs
}
