/**
 * What the service asks of a database that several servers share: each of them is a box, for as long as it runs. A box
 * holds a lease; while that holds, nobody else touches what it works on.
 */
import type { EngineState } from './ports.ts'

/** What a box says of itself to people and to the other boxes. */
export interface BoxReport {
  version: string
  /** Where it listens; null: not yet. */
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
  /** Of the machine, for people. */
  name: string
  isThisOne: boolean
  startedAtMs: number
  /** By the database's clock; negative: it ran out so long ago. */
  leaseLeftMs: number
  /** null: it has not said anything yet. */
  report: BoxReport | null
}

/** What boxes say to each other. Nobody keeps it: who was away asks the tables. */
export type BoxNews =
  | { kind: 'cancel'; operationId: string }
  | { kind: 'voice removed'; voiceId: string }
  | { kind: 'requests'; counts: Readonly<Record<string, number>> }

/** What is pending in this box's name. */
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
  /** Has the box that works on it told, also when it cannot be reached now. */
  askToCancel(operationId: string): Promise<void>
  /** Tells every other box; lost when it cannot be told. Never throws. */
  tell(news: BoxNews): Promise<void>
  /** @param onNews not called for own news @param onListening whenever news may have been missed */
  listen(onNews: (news: BoxNews) => void, onListening: () => void): Promise<() => Promise<void>>
  list(): Promise<BoxStatus[]>
  /** The lease ends: what is left is anybody's. */
  leave(): Promise<void>
}
