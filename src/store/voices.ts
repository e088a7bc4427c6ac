/**
 * Cloned voices behind the port `Voices`. They are made and ended by the ledger, together with the operation that pays
 * for them; here they are found, changed and removed.
 */
import type { Clock } from '../domain/time.ts'
import type { Voice } from '../domain/voice.ts'
import type { VoiceChange, VoiceQuery, Voices } from '../service/ports.ts'
import type { Database, Parameters, Sql } from './database.ts'
import { fold } from './fold.ts'
import { lockAccount } from './ledger/admit.ts'
import { cloneOn, endClone } from './ledger/clone.ts'
import type { LedgerOptions } from './ledger/ledger.ts'
import { requireFreeAliases, setAliases } from './voice-aliases.ts'
import { conditionsOf, orderOf, parametersOf } from './voice-query.ts'
import { describedColumns, selectVoices, voiceOf } from './voice-rows.ts'
import type { VoiceRow } from './voice-rows.ts'

export class SqlVoices implements Voices {
  readonly #database: Database
  readonly #clock: Clock
  readonly #boxId: string | null

  constructor(database: Database, { clock, box = null }: LedgerOptions) {
    this.#database = database
    this.#clock = clock
    this.#boxId = box?.boxId ?? null
  }

  async find(id: string): Promise<Voice | null> {
    return this.#one(this.#database, 'WHERE id = $id', { id })
  }

  async findByAlias(accountId: string, alias: string): Promise<Voice | null> {
    return this.#one(
      this.#database,
      `WHERE id = (SELECT voice_id FROM voice_aliases
           WHERE account_id = $accountId AND folded_alias = $foldedAlias)`,
      { accountId, foldedAlias: fold(alias) },
    )
  }

  /** Own ones in every status: ready ones before processing ones before failed ones. */
  findByName(accountId: string | null, name: string): Promise<Voice[]> {
    const whose = accountId === null ? "public = 1 AND status = 'ready'" : 'account_id = $accountId'
    return this.#some(
      this.#database,
      `WHERE folded_name = $foldedName AND ${whose}
         ORDER BY CASE status WHEN 'ready' THEN 0 WHEN 'processing' THEN 1 ELSE 2 END, created_at_ms, id LIMIT 2`,
      { foldedName: fold(name), ...(accountId === null ? {} : { accountId }) },
    )
  }

  list(query: VoiceQuery): Promise<Voice[]> {
    return this.#some(
      this.#database,
      `${conditionsOf(query, this.#database.dialect)} ${orderOf(query)}`,
      parametersOf(query),
    )
  }

  /** All that fit, wherever the page begins and ends. */
  async count(query: VoiceQuery): Promise<number> {
    const whole = { ...query, after: null }
    const row = await this.#database.get<{ n: number }>(
      `SELECT count(*) AS n FROM voices ${conditionsOf(whole, this.#database.dialect)}`,
      parametersOf(whole),
    )
    return row?.n ?? 0
  }

  update(id: string, ownerId: string, change: VoiceChange): Promise<Voice | null> {
    return this.#database.transaction(async (sql) => {
      await lockAccount(sql, ownerId)
      const voice = await this.#own(sql, id, ownerId)
      if (voice === null) return null
      await sql.run(
        `UPDATE voices SET name = $name, folded_name = $foldedName, search_text = $searchText, language = $language,
           description = $description, labels = $labels, public = $isPublic, updated_at_ms = $nowMs WHERE id = $id`,
        {
          ...describedColumns({ ...voice, ...change }),
          isPublic: (change.isPublic ?? voice.isPublic) ? 1 : 0,
          id,
          nowMs: this.#clock.nowMs(),
        },
      )
      if (change.aliases !== undefined) {
        await requireFreeAliases(sql, ownerId, change.aliases, id)
        await setAliases(sql, ownerId, change.aliases, id)
      }
      return this.#own(sql, id, ownerId)
    })
  }

  remove(id: string, ownerId: string): Promise<{ cancelledOperationId: string | null } | null> {
    let removed: { cancelledOperationId: string | null } | null = null
    return this.#database.transaction(async (sql, again) => {
      await lockAccount(sql, ownerId)
      const voice = await this.#own(sql, id, ownerId)
      // Gone already, and it is the run before that removed it.
      if (voice === null) return again ? removed : null
      const error = { code: 'voice_deleted', message: 'The voice was deleted before it was ready.' }
      const operationId = await cloneOn(sql, id)
      const by = { nowMs: this.#clock.nowMs(), by: this.#boxId === null ? null : `${this.#boxId} removed ${id}` }
      const cancelled = operationId !== null && (await endClone(sql, operationId, 'cancelled', error, by))
      // Its aliases go with it, and agents lose it, by the foreign keys.
      await sql.run('DELETE FROM voices WHERE id = $id', { id })
      removed = { cancelledOperationId: cancelled ? operationId : null }
      return removed
    })
  }

  /** Counted from when it failed, or was last changed. */
  async purgeFailed(beforeMs: number): Promise<string[]> {
    const rows = await this.#database.all<{ id: string }>(
      "DELETE FROM voices WHERE status = 'failed' AND updated_at_ms < $beforeMs RETURNING id",
      { beforeMs },
    )
    return rows.map((row) => row.id)
  }

  /** Voices that may have files: a failed one has none, unless a crash left them. */
  async ids(): Promise<string[]> {
    const rows = await this.#database.all<{ id: string }>("SELECT id FROM voices WHERE status <> 'failed'")
    return rows.map((row) => row.id)
  }

  #own(sql: Sql, id: string, ownerId: string): Promise<Voice | null> {
    return this.#one(sql, 'WHERE id = $id AND account_id = $ownerId', { id, ownerId })
  }

  async #one(sql: Sql, where: string, parameters: Parameters): Promise<Voice | null> {
    return (await this.#some(sql, where, parameters))[0] ?? null
  }

  async #some(sql: Sql, where: string, parameters: Parameters): Promise<Voice[]> {
    const nowMs = this.#clock.nowMs()
    const rows = await sql.all<VoiceRow>(`${selectVoices(sql.dialect)} ${where}`, { ...parameters, nowMs })
    return rows.map(voiceOf)
  }
}
