/**
 * What must happen according to the contract (docs/api.md 2.3, 6.2 to 6.4, 8), given what the clients and the engine
 * did: who is admitted, how each operation ends and what it costs. It has its own arithmetic, its own table of
 * idempotency keys and its own retention, and imports no code that it judges.
 */
import { createHash } from 'node:crypto'
import type { ManualClock } from '../manual-clock.ts'
import { CloneModel } from './clone-model.ts'
import { ListeningModel } from './listening-model.ts'
import type { KnownAccount, KnownKey, Marks, OperationRow, Settings } from './facts.ts'

/** A request's fields. Two with the same name are the same request. */
export interface Body {
  name: string
  text: string
  chars: number
  format: 'pcm' | 'wav'
  rateHz: number
  voice: string
}

/** The engine's output: how many frames of how many samples; in place of frame `failAt` (0 to `frames`) it fails. */
export interface Sound {
  frames: number
  samples: number
  failAt: number | null
}

export interface Ask {
  client: number
  key: KnownKey
  idempotencyKey: string | null
  body: Body
}

export interface Ending {
  outcome: 'completed' | 'stream_failed' | 'cancelled' | 'failed'
  chargedMicros: number
  /** `error.code` of the record, and of the client's answer unless the client cancelled or disconnected. */
  code: string | null
  usedChars: number
  audioMs: number
  completionBytes: number | null
}

/** The model's view of an operation. */
export interface Followed {
  readonly id: string
  readonly ask: Ask
  readonly sound: Sound
  readonly priceMicros: number
  readonly createdMs: number
  /** Frames that the engine was allowed to make, frames it made, and chunks that the client asked for. */
  permits: number
  produced: number
  calls: number
  engineGone: boolean
  unreadDue: Due | null
  ending: Ending | null
  /** Monotonic. */
  endedMs: number | null
  clientLeft: boolean
  /** Wall time at which the ending was written to the database; null: it still says pending. */
  settledMs: number | null
  /** The disk was full when it ended. */
  wasLate: boolean
  removed: boolean
}

interface Due {
  atMs: number
  order: number
}

const hourMs = 3_600_000
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export class Model {
  readonly operations: Followed[] = []
  readonly clones: CloneModel
  readonly listenings: ListeningModel
  readonly #byId = new Map<string, Followed>()
  readonly #settings: Settings
  readonly #clock: ManualClock
  draining = false
  marks: Marks = 'foreseen'
  /** The database's rows after the step that is being judged. */
  rows: ReadonlyMap<string, OperationRow> = new Map()
  #order = 0

  constructor(settings: Settings, clock: ManualClock) {
    this.#settings = settings
    this.#clock = clock
    this.clones = new CloneModel(settings, clock)
    this.listenings = new ListeningModel(settings, clock)
  }

  find(id: string): Followed | undefined {
    return this.#byId.get(id)
  }

  get live(): Followed[] {
    return this.operations.filter((operation) => operation.ending === null)
  }

  get unsettled(): Followed[] {
    return this.operations.filter((operation) => operation.settledMs === null)
  }

  /** Ended, but the database could not be written yet. */
  get unwritten(): Followed[] {
    return this.operations.filter((operation) => operation.ending !== null && operation.settledMs === null)
  }

  /** Net of holds. null: unmetered. */
  balanceMicros(account: KnownAccount): number | null {
    if (!account.prepaid) return null
    const spent = this.operations.filter((operation) => operation.ask.key.account === account).map(bookedMicros)
    return spent.reduce((left, micros) => left - micros, account.creditedMicros - this.clones.spentMicros(account))
  }

  /** The possible refusals of this request now, by `error.code`; `admitted` if admission is possible. */
  verdicts(ask: Ask): string[] {
    const { concurrency, streams } = this.#settings
    if (this.draining) return ['server_shutting_down']
    if (this.underWay(ask.key.account) >= concurrency) return ['concurrency_limit_exceeded']
    const holder = this.holder(ask)
    if (holder !== null) return [holder.ask.body.name === ask.body.name ? 'duplicate_request' : 'idempotency_conflict']
    if (ask.body.voice === 'nobody') return ['voice_not_found']
    const refusal = this.clones.voiceRefusal(ask.key.account, ask.body.voice)
    if (refusal !== null) return [refusal]
    const balance = this.balanceMicros(ask.key.account)
    if (balance !== null && balance < this.#price(ask.body)) return ['insufficient_balance']
    if (this.unwritten.length > 0) return ['storage_full']
    if (this.live.length >= streams) return ['engine_overloaded']
    return this.marks === 'foreseen' ? ['admitted'] : ['admitted', 'storage_full']
  }

  underWay(account: KnownAccount): number {
    return this.operations.filter((each) => each.ask.key.account === account && each.settledMs === null).length
  }

  /** The operation that holds the request's idempotency key; null if the key is free. */
  holder(ask: Ask): Followed | null {
    if (ask.idempotencyKey === null) return null
    const holds = (each: Followed) =>
      each.ask.key.account === ask.key.account &&
      each.ask.idempotencyKey === ask.idempotencyKey &&
      this.isKeyHeld(each) &&
      !this.isExpired(each)
    return this.operations.find(holds) ?? null
  }

  /** By the state in the database: pending, completed or charged. */
  isKeyHeld({ ask, settledMs, removed, ending }: Followed): boolean {
    if (ask.idempotencyKey === null || removed) return false
    return settledMs === null || ending?.outcome === 'completed' || (ending?.chargedMicros ?? 0) > 0
  }

  isExpired({ ask, createdMs, settledMs }: Followed): boolean {
    if (settledMs === null) return false
    const endMs = ask.idempotencyKey === null ? settledMs + hourMs : createdMs + 24 * hourMs
    return endMs <= this.#clock.nowMs()
  }

  admit(id: string, ask: Ask, { sound, leftAtOnce }: { sound: Sound; leftAtOnce: boolean }): Followed {
    const operation: Followed = {
      id,
      ask,
      sound,
      priceMicros: this.#price(ask.body),
      createdMs: this.#clock.nowMs(),
      permits: 0,
      produced: 0,
      calls: 0,
      engineGone: false,
      unreadDue: null,
      ending: null,
      endedMs: null,
      clientLeft: false,
      settledMs: null,
      wasLate: false,
      removed: false,
    }
    this.operations.push(operation)
    this.#byId.set(id, operation)
    if (leftAtOnce) this.leave(operation)
    return operation
  }

  permit(operation: Followed): void {
    operation.permits++
    this.#proceed(operation)
  }

  /** The client asks for the next chunk, which means that it has taken the one before. */
  read(operation: Followed): void {
    operation.unreadDue = null
    operation.calls++
    this.#proceed(operation)
  }

  engineVanishes(operation: Followed): void {
    operation.engineGone = true
    this.#proceed(operation)
  }

  leave(operation: Followed): void {
    operation.clientLeft = true
    this.#end(operation, { outcome: 'stream_failed', code: 'client_disconnected', ...this.#partial(operation) })
  }

  cancel(operation: Followed): void {
    this.#end(operation, { outcome: 'cancelled', code: null, ...this.#partial(operation) })
  }

  /** Everything that runs ends at once, as our own fault. */
  shutDown(): void {
    const all = this.live.map((operation) => [operation, this.#ourFault(operation, 'server_shutting_down')] as const)
    for (const [operation, ending] of all) operation.ending = ending
  }

  /** Milliseconds until the next deadline; null: there is none. */
  nextDueMs(): number | null {
    const times = this.live.map(({ unreadDue }) => unreadDue).filter((due) => due !== null)
    return times.length === 0 ? null : Math.min(...times.map(({ atMs }) => atMs)) - this.#clock.monotonicMs()
  }

  /** Ends everything that is due. */
  deadlines(): void {
    const nowMs = this.#clock.monotonicMs()
    const due = this.live.flatMap((operation) => {
      const { unreadDue } = operation
      return unreadDue !== null && unreadDue.atMs <= nowMs ? [{ operation, order: unreadDue.order }] : []
    })
    for (const { operation } of due.sort((a, b) => a.order - b.order)) this.leave(operation)
  }

  /**
   * The process died and another one started. Unsettled operations are settled now, from the marks and at no cost. An
   * ending of the same step may have been written before the death, or not.
   */
  crashed(): void {
    for (const operation of this.operations) {
      if (operation.settledMs !== null) continue
      const row = this.rows.get(operation.id)
      const written = operation.ending !== null && row?.outcome === operation.ending.outcome
      if (written && row?.error_code !== 'server_stopped') continue
      const outcome = row?.first_audio_at_ms != null ? 'stream_failed' : 'failed'
      operation.ending = { ...nothing, outcome, code: 'server_stopped' }
    }
  }

  #price = ({ chars }: Body): number => chars * this.#settings.microsPerChar

  #due(delayMs: number): Due {
    return { atMs: this.#clock.monotonicMs() + delayMs, order: this.#order++ }
  }

  #isHeard(operation: Followed): boolean {
    return this.marks !== 'looked up' || this.rows.get(operation.id)?.first_audio_at_ms != null
  }

  /** As far as the client asked, the engine was allowed, and no failure came first. */
  #proceed(operation: Followed): void {
    const { frames, failAt } = operation.sound
    if (operation.ending !== null) return
    const asked = Math.max(1, operation.calls)
    while (operation.produced < Math.min(asked, frames)) {
      if (operation.engineGone) return this.#end(operation, this.#ourFault(operation, 'engine_unavailable'))
      if (operation.permits <= operation.produced) return
      if (failAt === operation.produced) return this.#end(operation, this.#ourFault(operation, 'generation_failed'))
      if (operation.produced === 0 && !this.#isHeard(operation)) {
        return this.#end(operation, this.#ourFault(operation, 'storage_full'))
      }
      operation.produced++
    }
    if (asked <= frames) operation.unreadDue ??= this.#due(this.#settings.unreadMs)
    else if (failAt === frames) this.#end(operation, this.#ourFault(operation, 'generation_failed'))
    else this.#end(operation, this.#complete(operation))
  }

  #complete({ ask, sound, priceMicros }: Followed): Ending {
    const samples = sound.frames * sound.samples
    return {
      outcome: 'completed',
      chargedMicros: priceMicros,
      code: null,
      usedChars: ask.body.chars,
      audioMs: Math.round((samples * 1000) / ask.body.rateHz),
      completionBytes: 2 * samples,
    }
  }

  #ourFault({ produced }: Followed, code: string): Ending {
    return { ...nothing, outcome: produced > 0 ? 'stream_failed' : 'failed', code }
  }

  /** The price times the share of the characters that the taken frames cover, rounded up; in whole numbers. */
  #partial({ ask, sound, calls, priceMicros }: Followed): Pick<Ending, keyof typeof nothing> {
    const { frames, samples } = sound
    const { chars, rateHz } = ask.body
    const taken = Math.min(frames, Math.max(0, calls - 1))
    const covered = quotientUp(chars * taken, frames)
    if (covered === 0) return nothing
    const audioMs = Math.round((taken * samples * 1000) / rateHz)
    return {
      chargedMicros: quotientUp(priceMicros * covered, chars),
      usedChars: covered,
      audioMs,
      completionBytes: null,
    }
  }

  #end(operation: Followed, ending: Ending): void {
    if (operation.ending !== null) return
    operation.ending = ending
    operation.endedMs = this.#clock.monotonicMs()
    operation.unreadDue = null
  }
}

const nothing = { chargedMicros: 0, usedChars: 0, audioMs: 0, completionBytes: null }

/** The hold, while the database says pending. */
export const bookedMicros = ({ settledMs, ending, priceMicros }: Followed): number =>
  settledMs === null || ending === null ? priceMicros : ending.chargedMicros

const quotientUp = (number: number, by: number): number => (number + by - 1 - ((number + by - 1) % by)) / by
