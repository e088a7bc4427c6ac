/**
 * What must happen to transcriptions according to the contract (docs/api.md 3, 8), given what the clients and the
 * engine did: which are admitted, how each ends, how much audio was processed, and what the database records while it
 * runs. It has its own arithmetic and imports no code that it judges.
 */
import type { ManualClock } from '../manual-clock.ts'
import type { KnownAccount, KnownKey, Marks, Settings } from './facts.ts'

/** Length of every part of a clip. */
export const partMs = 100
/** Progress is written to the database at most this often. */
const noteEveryMs = 5000

/** The number of parts in the clip; in place of part `failAt` (from 0) the engine fails. */
export interface Clip {
  parts: number
  failAt: number | null
}

export interface ListeningEnd {
  outcome: 'completed' | 'stream_failed' | 'failed'
  /** The state in the database; null: it was completed. */
  code: string | null
  heardMs: number
}

export interface FollowedListening {
  readonly id: string
  readonly key: KnownKey
  readonly clip: Clip
  stage: 'waiting' | 'running'
  /** Whether it was written to the database, before the engine received it; and whether it was seen there. */
  begun: boolean
  wasSeen: boolean
  notedMs: number
  noteDueMs: number
  /** Parts that the engine was allowed to transcribe, parts it transcribed, and parts that the client asked for. */
  permits: number
  heard: number
  calls: number
  engineGone: boolean
  waitDue: Due | null
  unreadDue: Due | null
  ending: ListeningEnd | null
  clientLeft: boolean
  /** Its ending need not be written to the database any more. */
  isSettled: boolean
  wasLate: boolean
}

interface Due {
  atMs: number
  order: number
}

/** The database's rows: those that run, and those that have ended. */
export interface ListeningRows {
  running: ReadonlyMap<string, { heard_ms: number }>
  ended: ReadonlyMap<string, { error_code: string | null }>
}

export class ListeningModel {
  readonly all: FollowedListening[] = []
  readonly #settings: Settings
  readonly #clock: ManualClock
  draining = false
  marks: Marks = 'foreseen'
  /** After the step that is being judged. */
  rows: ListeningRows = { running: new Map(), ended: new Map() }
  #order = 0

  constructor(settings: Settings, clock: ManualClock) {
    this.#settings = settings
    this.#clock = clock
  }

  get live(): FollowedListening[] {
    return this.all.filter(({ ending }) => ending === null)
  }

  get unsettled(): FollowedListening[] {
    return this.all.filter(({ isSettled }) => !isSettled)
  }

  /** Ended, but the database could not be written yet. */
  get unwritten(): FollowedListening[] {
    return this.unsettled.filter(({ ending }) => ending !== null)
  }

  /** The possible refusals of a request now, by `error.code`; `admitted` if admission is possible. */
  verdict({ account }: KnownKey): string {
    const { listenConcurrency, listenStreams, listenWaiting } = this.#settings
    if (this.draining) return 'server_shutting_down'
    if (this.unwritten.length > 0) return 'storage_full'
    if (this.underWay(account) >= listenConcurrency) return 'concurrency_limit_exceeded'
    return this.live.length >= listenStreams + listenWaiting ? 'engine_overloaded' : 'admitted'
  }

  underWay(account: KnownAccount): number {
    return this.unsettled.filter(({ key }) => key.account === account).length
  }

  admit(id: string, key: KnownKey, clip: Clip): FollowedListening {
    const listening: FollowedListening = {
      id,
      key,
      clip,
      stage: 'waiting',
      begun: false,
      wasSeen: false,
      notedMs: 0,
      noteDueMs: 0,
      permits: 0,
      heard: 0,
      calls: 0,
      engineGone: false,
      waitDue: this.#due(this.#settings.queueWaitMs),
      unreadDue: null,
      ending: null,
      clientLeft: false,
      isSettled: false,
      wasLate: false,
    }
    this.all.push(listening)
    this.#promote()
    return listening
  }

  permit(listening: FollowedListening): void {
    listening.permits++
    this.#proceed(listening)
  }

  /** The client asks for the next part, which means that it has taken the one before. */
  take(listening: FollowedListening): void {
    listening.unreadDue = null
    listening.calls++
    // Parts that were transcribed before a reader came are handed over now.
    if (listening.calls === 1 && listening.ending === null) this.#note(listening)
    this.#proceed(listening)
  }

  leave(listening: FollowedListening): void {
    listening.clientLeft = true
    this.#end(listening, 'stream_failed', 'client_disconnected')
  }

  engineVanishes(listening: FollowedListening): void {
    listening.engineGone = true
    this.#proceed(listening)
  }

  shutDown(): void {
    // All end at once, so that none of them gets the turn of another.
    const all = this.live
    for (const listening of all) this.#finish(listening, null, 'server_shutting_down')
  }

  nextDueMs(): number | null {
    const times = this.live.flatMap(({ waitDue, unreadDue }) => [waitDue, unreadDue]).filter((due) => due !== null)
    return times.length === 0 ? null : Math.min(...times.map(({ atMs }) => atMs)) - this.#clock.monotonicMs()
  }

  /** Ends everything that is due. */
  deadlines(): void {
    const nowMs = this.#clock.monotonicMs()
    const due = this.live.flatMap((listening) => {
      const next = listening.waitDue ?? listening.unreadDue
      return next !== null && next.atMs <= nowMs ? [{ listening, next }] : []
    })
    for (const { listening, next } of due.sort((a, b) => a.next.order - b.next.order)) {
      if (listening.unreadDue === next) this.leave(listening)
      // A client that disconnected earlier in the same instant may have given it the turn.
      else if (listening.waitDue === next) this.#end(listening, null, 'engine_overloaded')
    }
  }

  /** The process died and another one started: running transcriptions have failed, up to the recorded progress. */
  crashed(): void {
    for (const listening of this.unsettled) {
      const row = this.rows.ended.get(listening.id)
      // Its ending was written before the death.
      if (listening.ending !== null && row !== undefined && row.error_code !== 'server_stopped') continue
      // Rows that were seen in the database must not be lost. Unseen rows may be missing if the death came first.
      listening.begun = listening.wasSeen || row !== undefined
      listening.isSettled = !listening.begun
      const { notedMs } = listening
      const outcome = notedMs > 0 ? 'stream_failed' : 'failed'
      listening.ending = { outcome, code: 'server_stopped', heardMs: notedMs }
    }
  }

  #due(delayMs: number): Due {
    return { atMs: this.#clock.monotonicMs() + delayMs, order: this.#order++ }
  }

  #promote(): void {
    const running = this.live.filter(({ stage }) => stage === 'running').length
    const next = this.live.find(({ stage }) => stage === 'waiting')
    if (next === undefined || running >= this.#settings.listenStreams) return
    next.stage = 'running'
    next.waitDue = null
    next.begun = this.marks === 'foreseen' || this.rows.running.has(next.id) || this.rows.ended.has(next.id)
    next.noteDueMs = this.#clock.monotonicMs() + noteEveryMs
    if (!next.begun) this.#end(next, null, 'storage_full')
    else this.#proceed(next)
    this.#promote()
  }

  /** As far as the client asked, the engine was allowed, and no failure came first. */
  #proceed(listening: FollowedListening): void {
    const { parts, failAt } = listening.clip
    if (listening.ending !== null || listening.stage !== 'running') return
    if (failAt === 0) return this.#end(listening, null, 'generation_failed')
    const asked = Math.max(1, listening.calls)
    while (listening.heard < Math.min(asked, parts)) {
      if (listening.engineGone) return this.#end(listening, null, 'engine_unavailable')
      if (listening.permits <= listening.heard) return
      if (failAt === listening.heard) return this.#end(listening, null, 'generation_failed')
      listening.heard++
      this.#note(listening)
    }
    if (asked <= parts) listening.unreadDue ??= this.#due(this.#settings.unreadMs)
    else this.#end(listening, 'completed', null)
  }

  #note(listening: FollowedListening): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < listening.noteDueMs) return
    listening.noteDueMs = nowMs + noteEveryMs
    const heardMs = listening.heard * partMs
    const isWritten = this.marks === 'foreseen' || this.rows.running.get(listening.id)?.heard_ms === heardMs
    if (isWritten) listening.notedMs = heardMs
  }

  #end(listening: FollowedListening, outcome: ListeningEnd['outcome'] | null, code: string | null): void {
    this.#finish(listening, outcome, code)
    this.#promote()
  }

  /** @param outcome null: our failure */
  #finish(listening: FollowedListening, outcome: ListeningEnd['outcome'] | null, code: string | null): void {
    if (listening.ending !== null) return
    const heardMs = listening.heard * partMs
    listening.ending = { outcome: outcome ?? (heardMs > 0 ? 'stream_failed' : 'failed'), code, heardMs }
    listening.waitDue = null
    listening.unreadDue = null
    // The database has no row of what had not begun.
    if (!listening.begun) listening.isSettled = true
  }
}
