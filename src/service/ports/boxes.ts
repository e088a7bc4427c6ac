/**
 * The port to a database that several servers share; each running server is a box. A box holds a lease, and while it
 * holds, no other box touches its work.
 */
import type { EngineState } from './engines.ts'

/** What a box reports about itself to people and other boxes. */
export interface BoxReport {
  version: string
  /** Its address; null: not listening yet. */
  url: string | null
  readiness: string
  /** Speech streams in the engine, and those waiting for it. */
  queue: { running: number; waiting: number }
  engines: readonly { task: string; device: string; state: EngineState; activeStreams: number }[]
  /** Ids of the models that are installed there. */
  models: readonly string[]
}

export interface BoxStatus {
  id: string
  /** Name of the machine, for people. */
  name: string
  isThisOne: boolean
  startedAtMs: number
  /** By the database's clock; negative: it ran out this long ago. */
  leaseLeftMs: number
  /** null: it has not said anything yet. */
  report: BoxReport | null
}

/** Notifications between boxes. They are not kept: a box that was away reads the tables. */
export type BoxNews =
  | { kind: 'cancel'; operationId: string }
  | { kind: 'voice removed'; voiceId: string }
  | { kind: 'requests'; counts: Readonly<Record<string, number>> }

/** Work pending in this box's name. */
export interface OwnPending {
  id: string
  ageMs: number
  cancelRequested: boolean
}

export interface Boxes {
  readonly id: string
  /** Takes the lease, or holds it for another while. @throws MynaError `database_unavailable` */
  renew(report: BoxReport | null): Promise<void>
  /** Settles what boxes left whose lease has run out, each once. @returns how many this box has settled */
  settleLost(): Promise<{ operations: number; transcriptions: number }>
  ownPending(): Promise<OwnPending[]>
  /** Settles one that is pending in this box's name and that nothing here works on, as a crash would have left it. */
  settleOrphan(id: string): Promise<void>
  /** Notifies the box that works on it, even if it cannot be reached now. */
  askToCancel(operationId: string): Promise<void>
  /** Notifies every other box; lost if that fails. Never throws. */
  tell(news: BoxNews): Promise<void>
  /** @param onNews not called for own news @param onListening whenever news may have been missed */
  listen(onNews: (news: BoxNews) => void, onListening: () => void): Promise<() => Promise<void>>
  list(): Promise<BoxStatus[]>
  /** Ends the lease: any box may take the remaining work. */
  leave(): Promise<void>
}
