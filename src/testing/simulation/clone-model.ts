/**
 * What must happen to clones and their voices according to the contract (docs/api.md 4.2, 6.2 to 6.4): who may clone,
 * at what price, how each clone ends, and what remains of it. Imports no code that it judges.
 */
import type { ManualClock } from '../manual-clock.ts'
import type { KnownAccount, KnownKey, Marks, OperationRow, Settings } from './facts.ts'

export type ClipKind = 'spoken' | 'short' | 'silent' | 'broken'

/** The engine's result for a clip: a voice, a refusal, a failure, or a voice that cannot speak its preview. */
export type Learning = 'voice' | 'refused' | 'broken' | 'mute'

export interface CloneAsk {
  key: KnownKey
  idempotencyKey: string | null
  clip: ClipKind
}

export interface CloneEnding {
  outcome: 'completed' | 'cancelled' | 'failed' | 'not_accepted'
  code: string | null
}

/** The model's view of a clone and its voice. */
export interface FollowedClone {
  readonly id: string
  readonly voiceId: string
  readonly ask: CloneAsk
  readonly learning: Learning
  readonly priceMicros: number
  /** Within the allowance. */
  readonly isFree: boolean
  readonly createdMs: number
  stage: 'waiting' | 'running'
  /** Monotonic. */
  waitDueMs: number
  workDueMs: number
  ending: CloneEnding | null
  /** Wall time at which the ending was written to the database; null: it still says pending. */
  settledMs: number | null
  wasLate: boolean
  /** Whether the record is deleted; and whether the voice is, by its owner or by the sweep. */
  removed: boolean
  voiceGone: boolean
  /** Until then the process may still try to write an ending that the deletion has overtaken. Monotonic. */
  lingersUntilMs: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const waitMs = 300_000
const workMs = 600_000
const retryMs = 5000

const clipRefusals = { short: 'clip_too_short', silent: 'clip_silent', broken: 'clip_undecodable' } as const
const endings: Record<Learning, CloneEnding> = {
  voice: { outcome: 'completed', code: null },
  refused: { outcome: 'failed', code: 'clip_refused' },
  broken: { outcome: 'failed', code: 'engine_failed' },
  mute: { outcome: 'failed', code: 'engine_failed' },
}
const notStarted: CloneEnding = { outcome: 'not_accepted', code: 'not_started' }

export class CloneModel {
  readonly all: FollowedClone[] = []
  readonly #settings: Settings
  readonly #clock: ManualClock
  marks: Marks = 'foreseen'
  rows: ReadonlyMap<string, OperationRow> = new Map()

  constructor(settings: Settings, clock: ManualClock) {
    this.#settings = settings
    this.#clock = clock
  }

  find(id: string): FollowedClone | undefined {
    return this.all.find((clone) => clone.id === id)
  }

  get live(): FollowedClone[] {
    return this.all.filter(({ ending }) => ending === null)
  }

  get unsettled(): FollowedClone[] {
    return this.all.filter(({ settledMs }) => settledMs === null)
  }

  get unwritten(): FollowedClone[] {
    return this.unsettled.filter(({ ending }) => ending !== null)
  }

  get lingering(): boolean {
    return this.all.some(({ lingersUntilMs }) => lingersUntilMs >= this.#clock.monotonicMs())
  }

  /** The cost and the holds of the account's clones. */
  spentMicros(account: KnownAccount): number {
    return this.all.reduce((sum, clone) => (clone.ask.key.account === account ? sum + clonedMicros(clone) : sum), 0)
  }

  /** Voices that have not failed: allowance and cap count these. */
  owned(account: KnownAccount): number {
    const counts = (clone: FollowedClone) => ['processing', 'ready'].includes(statusOf(clone))
    return this.all.filter((clone) => clone.ask.key.account === account && counts(clone)).length
  }

  priceMicros(account: KnownAccount): number {
    const isFree = account.admin || this.owned(account) < this.#settings.freeClones
    return isFree ? 0 : this.#settings.cloneMicros
  }

  isVoice(id: string): boolean {
    return this.all.some(({ voiceId }) => voiceId === id)
  }

  /**
   * The reason why this account cannot speak with a clone's voice; null: it can, or the voice does not come from a
   * clone.
   */
  voiceRefusal(account: KnownAccount, voiceId: string): string | null {
    const clone = this.all.find((each) => each.voiceId === voiceId)
    if (clone === undefined) return null
    const status = clone.ask.key.account === account ? statusOf(clone) : 'gone'
    if (status === 'gone') return 'voice_not_found'
    return status === 'ready' ? null : status === 'failed' ? 'voice_unusable' : 'voice_not_ready'
  }

  /** The possible refusals, by `error.code`; `admitted` if admission is possible. @param balance null: unmetered */
  verdicts(ask: CloneAsk, balance: number | null): string[] {
    const { account } = ask.key
    const { cloneConcurrency, cloneStreams, cloneWaiting, maxVoices } = this.#settings
    const underWay = this.unsettled.filter((each) => each.ask.key.account === account).length
    if (underWay >= cloneConcurrency) return ['concurrency_limit_exceeded']
    const rest = this.lingering ? ['storage_full', 'concurrency_limit_exceeded'] : []
    if (this.#holder(ask) !== undefined) return ['duplicate_request', ...rest]
    if (this.unwritten.length > 0) return ['storage_full', ...rest]
    if (this.live.length >= cloneStreams + cloneWaiting) return ['engine_overloaded', ...rest]
    if (ask.clip !== 'spoken') return [clipRefusals[ask.clip], ...rest]
    if (this.marks !== 'foreseen') rest.push('storage_full')
    if (!account.admin && this.owned(account) >= maxVoices) return ['voice_limit_reached', ...rest]
    if (balance !== null && balance < this.priceMicros(account)) return ['insufficient_balance', ...rest]
    return ['admitted', ...rest]
  }

  isKeyHeld({ ask, settledMs, removed, ending }: FollowedClone): boolean {
    if (ask.idempotencyKey === null || removed) return false
    return settledMs === null || ending?.outcome === 'completed'
  }

  isExpired({ ask, createdMs, settledMs }: FollowedClone): boolean {
    if (settledMs === null) return false
    const endMs = ask.idempotencyKey === null ? settledMs + hourMs : createdMs + dayMs
    return endMs <= this.#clock.nowMs()
  }

  /** Failed so long ago that the sweep removes it. */
  isStale(clone: FollowedClone): boolean {
    return statusOf(clone) === 'failed' && (clone.settledMs ?? Infinity) < this.#clock.nowMs() - dayMs
  }

  admit(id: string, voiceId: string, ask: CloneAsk, learning: Learning): FollowedClone {
    const { account } = ask.key
    const nowMs = this.#clock.monotonicMs()
    const isFree = !account.admin && this.owned(account) < this.#settings.freeClones
    const clone: FollowedClone = {
      id,
      voiceId,
      ask,
      learning,
      isFree,
      priceMicros: this.priceMicros(account),
      createdMs: this.#clock.nowMs(),
      stage: 'waiting',
      waitDueMs: nowMs + waitMs,
      workDueMs: nowMs + workMs,
      ending: null,
      settledMs: null,
      wasLate: false,
      removed: false,
      voiceGone: false,
      lingersUntilMs: -1,
    }
    this.all.push(clone)
    this.#promote()
    return clone
  }

  /** The engine finishes its work. */
  learn(clone: FollowedClone): void {
    this.#end(clone, endings[clone.learning])
  }

  cancel(clone: FollowedClone): void {
    this.#end(clone, { outcome: 'cancelled', code: 'cancelled' })
  }

  /** Its owner deletes the voice. That overtakes an ending that is not in the database yet. */
  remove(clone: FollowedClone): void {
    clone.voiceGone = true
    if (clone.settledMs !== null) return
    if (clone.ending !== null) clone.lingersUntilMs = this.#clock.monotonicMs() + retryMs
    clone.ending = { outcome: 'cancelled', code: 'voice_deleted' }
    clone.wasLate = false
    this.#promote()
  }

  engineVanishes(): void {
    const running = this.live.filter(({ stage }) => stage === 'running')
    for (const clone of running) this.#end(clone, endings.broken)
  }

  shutDown(): void {
    const waiting = this.live.filter(({ stage }) => stage === 'waiting')
    for (const clone of waiting) this.#end(clone, notStarted)
    this.engineVanishes()
  }

  nextDueMs(): number | null {
    const times = this.live.map(dueMs)
    return times.length === 0 ? null : Math.min(...times) - this.#clock.monotonicMs()
  }

  deadlines(): void {
    const due = this.live.filter((clone) => dueMs(clone) <= this.#clock.monotonicMs())
    // A place that one of them frees in the same instant comes too late for the waiting ones.
    for (const clone of due) if (clone.stage === 'waiting') clone.ending = notStarted
    for (const clone of due) if (clone.stage === 'running') this.#end(clone, endings.broken)
  }

  /** Like `Model.crashed`. */
  crashed(): void {
    for (const clone of this.unsettled) {
      const row = this.rows.get(clone.id)
      const written = clone.ending !== null && row?.outcome === clone.ending.outcome
      if (written && row?.error_code !== 'server_stopped') continue
      clone.ending = { outcome: row?.started_at_ms == null ? 'not_accepted' : 'failed', code: 'server_stopped' }
    }
    for (const clone of this.all) clone.lingersUntilMs = -1
  }

  #holder({ key, idempotencyKey }: CloneAsk): FollowedClone | undefined {
    if (idempotencyKey === null) return undefined
    return this.all.find(
      (each) =>
        each.ask.key.account === key.account &&
        each.ask.idempotencyKey === idempotencyKey &&
        this.isKeyHeld(each) &&
        !this.isExpired(each),
    )
  }

  #promote(): void {
    const running = this.live.filter(({ stage }) => stage === 'running').length
    const next = this.live.find(({ stage }) => stage === 'waiting')
    if (next === undefined || running >= this.#settings.cloneStreams) return
    next.stage = 'running'
    if (this.marks === 'looked up' && this.rows.get(next.id)?.started_at_ms == null) next.ending = notStarted
    this.#promote()
  }

  #end(clone: FollowedClone, ending: CloneEnding): void {
    if (clone.ending !== null) return
    clone.ending = ending
    this.#promote()
  }
}

const dueMs = ({ stage, waitDueMs, workDueMs }: FollowedClone): number => (stage === 'waiting' ? waitDueMs : workDueMs)

/** The hold while the database says pending. A clone that did not become a voice costs nothing. */
export const clonedMicros = ({ settledMs, ending, priceMicros }: FollowedClone): number =>
  settledMs === null || ending?.outcome === 'completed' ? priceMicros : 0

/** The voice's status, according to the database. */
export function statusOf({ voiceGone, settledMs, ending }: FollowedClone): 'gone' | 'processing' | 'ready' | 'failed' {
  if (voiceGone) return 'gone'
  if (settledMs === null) return 'processing'
  return ending?.outcome === 'completed' ? 'ready' : 'failed'
}
