/**
 * The ledger behind the ports `Ledger` and `TranscriptionBooks`: which transaction each verb is. What happens inside
 * them is in `admit`, `clone`, `settle` and `transcriptions`; what it means is in the domain.
 */
import type { ListeningEnding } from '../../domain/listening.ts'
import type { Operation, OperationError, OperationType, Settlement } from '../../domain/operation.ts'
import type { Fidelity } from '../../domain/voice.ts'
import type { Clock } from '../../domain/time.ts'
import type { CloneAdmission, Ledger, RemakeAdmission, SpeechAdmission } from '../../service/ports.ts'
import type { CancelAsks, OperationQuery, UsageQuery, UsageRow } from '../../service/ports/records.ts'
import type { TranscriptionBooks, TranscriptionStart } from '../../service/ports/transcription.ts'
import type { Database, Sql } from '../database.ts'
import { admitOperation, refuseHeldKey } from './admit.ts'
import { admitClone, admitRemake, completeRemake, endClone } from './clone.ts'
import { isSettledBy, type SettledBy, settleLeftovers, settleOperation } from './settle.ts'
import { findOperation, recentOperations } from '../operation-query.ts'
import { beginTranscription, endLeftTranscriptions, endTranscription, noteHeard } from '../transcriptions.ts'
import { Turns } from '../turns.ts'
import { sumUsage } from '../usage.ts'

/** Records that one transaction of the sweep removes: a few milliseconds, after which others get their turn. */
const sweepBatch = 500

export interface LedgerOptions {
  clock: Clock
  /** This run of the server, where several share the database. */
  box?: Box | null
}

export interface Box {
  readonly boxId: string
  /** @throws MynaError `database_unavailable` when it may take no new work */
  requireHeld(): void
}

export class SqlLedger implements Ledger, TranscriptionBooks, CancelAsks {
  readonly #database: Database
  readonly #clock: Clock
  readonly #box: Box | null
  /** Parts of several reports in one turn of the event loop would add up to a long one. */
  readonly #reports = new Turns()

  constructor(database: Database, { clock, box = null }: LedgerOptions) {
    this.#database = database
    this.#clock = clock
    this.#box = box
  }

  async checkKey(accountId: string, type: OperationType, keyHash: string, fingerprint: string | null): Promise<void> {
    const claim = { accountId, type, keyHash, fingerprint }
    await refuseHeldKey(this.#database, claim, this.#clock.nowMs())
  }

  async admitSpeech(admission: SpeechAdmission): Promise<Operation> {
    const order = { ...admission, type: 'speech' as const, isFree: false, boxId: this.#entered() }
    return this.#database.transaction((sql, again) => admitOperation(sql, order, this.#clock.nowMs(), again))
  }

  async admitClone(admission: CloneAdmission): Promise<Operation> {
    const order = { ...admission, boxId: this.#entered() }
    return this.#database.transaction((sql, again) => admitClone(sql, order, this.#clock.nowMs(), again))
  }

  async admitRemake(admission: RemakeAdmission): Promise<Operation> {
    const order = { ...admission, boxId: this.#entered() }
    return this.#database.transaction((sql, again) => admitRemake(sql, order, this.#clock.nowMs(), again))
  }

  completeRemake(operationId: string, fidelity: Fidelity): Promise<boolean> {
    return this.#end(operationId, (sql, worker) => completeRemake(sql, operationId, fidelity, worker))
  }

  completeClone(operationId: string): Promise<boolean> {
    return this.#end(operationId, (sql, worker) => endClone(sql, operationId, 'completed', null, worker))
  }

  failClone(
    operationId: string,
    outcome: 'failed' | 'not_accepted' | 'cancelled',
    error: OperationError,
  ): Promise<boolean> {
    return this.#end(operationId, (sql, worker) => endClone(sql, operationId, outcome, error, worker))
  }

  /** A second mark, and one on an operation that is terminal, changes nothing. */
  async markStarted(operationId: string): Promise<void> {
    await this.#database.run(
      'UPDATE operations SET started_at_ms = $nowMs WHERE id = $id AND outcome IS NULL AND started_at_ms IS NULL',
      { id: operationId, nowMs: this.#clock.nowMs() },
    )
  }

  /** Likewise. An operation must have been marked as started. */
  async markFirstAudio(operationId: string): Promise<void> {
    await this.#database.run(
      `UPDATE operations SET first_audio_at_ms = $nowMs
       WHERE id = $id AND outcome IS NULL AND first_audio_at_ms IS NULL`,
      { id: operationId, nowMs: this.#clock.nowMs() },
    )
  }

  settle(operationId: string, settlement: Settlement): Promise<boolean> {
    return this.#end(operationId, (sql, worker) => settleOperation(sql, operationId, settlement, worker))
  }

  async beginTranscription(start: TranscriptionStart): Promise<void> {
    const order = { ...start, boxId: this.#entered() }
    return this.#database.transaction((sql, again) => beginTranscription(sql, order, this.#clock.nowMs(), again))
  }

  noteHeard(id: string, heardMs: number): Promise<void> {
    return noteHeard(this.#database, id, heardMs)
  }

  endTranscription(id: string, ending: ListeningEnding): Promise<boolean> {
    return this.#database.transaction((sql, again) => endTranscription(sql, id, ending, this.#clock.nowMs(), again))
  }

  endCrashedTranscriptions(beforeId?: string): Promise<number> {
    return this.#database.transaction((sql) => endLeftTranscriptions(sql, this.#clock.nowMs(), beforeId))
  }

  async askToCancel(operationId: string): Promise<void> {
    await this.#database.run(
      `UPDATE operations SET cancel_requested_at_ms = $nowMs
       WHERE id = $operationId AND outcome IS NULL AND cancel_requested_at_ms IS NULL`,
      { operationId, nowMs: this.#clock.nowMs() },
    )
  }

  async askedToCancel(): Promise<string[]> {
    const asked = 'SELECT id FROM operations WHERE outcome IS NULL AND cancel_requested_at_ms IS NOT NULL'
    return (await this.#database.all<{ id: string }>(asked)).map(({ id }) => id)
  }

  find(accountId: string | null, operationId: string): Promise<Operation | null> {
    return findOperation(this.#database, accountId, operationId, this.#clock.nowMs())
  }

  recent(query: OperationQuery): Promise<Operation[]> {
    return recentOperations(this.#database, query, this.#clock.nowMs())
  }

  settleCrashed(beforeId?: string): Promise<number> {
    return this.#database.transaction((sql) => settleLeftovers(sql, this.#clock.nowMs(), beforeId))
  }

  async sweep(): Promise<number> {
    for (let swept = 0; ;) {
      const removed = await this.#database.run(
        `DELETE FROM operations
         WHERE id IN (SELECT id FROM operations WHERE expires_at_ms <= $nowMs LIMIT $limit)`,
        { nowMs: this.#clock.nowMs(), limit: sweepBatch },
      )
      swept += removed
      if (removed < sweepBatch) return swept
      // An awaited promise that is settled already lets no I/O in between.
      await Bun.sleep(0)
    }
  }

  async pendingCount(): Promise<number> {
    const row = await this.#database.get<{ pending: number }>(
      'SELECT count(*) AS pending FROM operations WHERE outcome IS NULL',
    )
    return row?.pending ?? 0
  }

  /** @returns in whose name new work is written @throws MynaError `database_unavailable` */
  #entered(): string | null {
    this.#box?.requireHeld()
    return this.#box?.boxId ?? null
  }

  /**
   * One settlement. What another has settled meanwhile, as the deletion of a voice does, leaves nothing to write: that
   * is read, because a full disk refuses the transaction before it begins.
   */
  async #end(operationId: string, write: (sql: Sql, worker: SettledBy) => Promise<boolean>): Promise<boolean> {
    const worker = this.#worker()
    try {
      return await this.#database.transaction((sql) => write(sql, worker))
    } catch (error) {
      const pending = 'SELECT 1 AS found FROM operations WHERE id = $operationId AND outcome IS NULL'
      const isOver = this.#database.get(pending, { operationId }).then((row) => row === null)
      if (!(await isOver.catch(() => false))) throw error
      return isSettledBy(this.#database, operationId, worker.by)
    }
  }

  /** For an operation's one settlement by the box that worked on it. */
  #worker(): SettledBy {
    return { nowMs: this.#clock.nowMs(), by: this.#box === null ? null : `${this.#box.boxId} worked` }
  }

  usage(query: UsageQuery): Promise<UsageRow[]> {
    const sum = () => sumUsage(this.#database, query)
    return this.#database.dialect.isOnLoop ? this.#reports.take(sum) : sum()
  }
}
