/**
 * Transcriptions in the database: running ones in a table of their own, ended ones as a row of the usage. The functions
 * here run inside one transaction of `ledger`.
 */
import { endCrashedListening, type ListeningEnding } from '../domain/listening.ts'
import type { TranscriptionStart } from '../service/ports/transcription.ts'
import { concurrencyExceeded } from '../service/concurrency.ts'
import type { Sql } from './database.ts'
import { lockAccount } from './ledger/admit.ts'

interface TranscriptionRow {
  id: string
  account_id: string
  key_id: string
  model: string
  heard_ms: number
}

export async function beginTranscription(
  sql: Sql,
  start: TranscriptionStart & { boxId: string | null },
  nowMs: number,
  again: boolean,
): Promise<void> {
  if (again && (await sql.get('SELECT id FROM transcriptions WHERE id = $id', { id: start.id })) !== null) return
  if (start.boxId !== null) await requirePlace(sql, start)
  const { id, accountId, keyId, model, boxId } = start
  await sql.run(
    `INSERT INTO transcriptions (id, account_id, key_id, model, box_id, started_at_ms)
     VALUES ($id, $accountId, $keyId, $model, $boxId, $nowMs)`,
    { id, accountId, keyId, model, boxId, nowMs },
  )
}

/** As for operations: the account's row is locked while it is counted. */
async function requirePlace(sql: Sql, { accountId, maxPending = Infinity }: TranscriptionStart): Promise<void> {
  await lockAccount(sql, accountId)
  const running = 'SELECT count(*) AS n FROM transcriptions WHERE account_id = $accountId'
  const count = (await sql.get<{ n: number }>(running, { accountId }))?.n ?? 0
  if (count >= maxPending) throw concurrencyExceeded(count, 'transcriptions')
}

/** Less than was noted before changes nothing. */
export async function noteHeard(sql: Sql, id: string, heardMs: number): Promise<void> {
  await sql.run('UPDATE transcriptions SET heard_ms = $heardMs WHERE id = $id AND heard_ms < $heardMs', { id, heardMs })
}

/** @returns false when it is not running; then nothing was written */
export async function endTranscription(
  sql: Sql,
  id: string,
  ending: ListeningEnding,
  nowMs: number,
  again = false,
): Promise<boolean> {
  const { forUpdate } = sql.dialect
  const row = await sql.get<TranscriptionRow>(`SELECT * FROM transcriptions WHERE id = $id${forUpdate}`, { id })
  if (row === null) return again && isEnded(sql, id, ending)
  await sql.run(
    `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
       refunded_micros, free, settled_at_ms, request_id, outcome, error_code)
     VALUES ($accountId, $keyId, NULL, 'transcription', $model, 0, $heardMs, 0, 0, 0, $nowMs, $id,
       $outcome, $errorCode)`,
    { ...ending, id, accountId: row.account_id, keyId: row.key_id, model: row.model, nowMs },
  )
  await sql.run('DELETE FROM transcriptions WHERE id = $id', { id })
  return true
}

/** Whether an earlier run, whose answer was lost, ended it like this. */
async function isEnded(sql: Sql, id: string, { outcome, heardMs }: ListeningEnding): Promise<boolean> {
  const row = await sql.get<{ outcome: string; audio_ms: number }>('SELECT * FROM usage WHERE request_id = $id', { id })
  return row !== null && row.outcome === outcome && row.audio_ms === heardMs
}

/**
 * Ends all that were running when a server died.
 * @param beforeId only those older than this one
 * @returns how many
 */
export async function endLeftTranscriptions(sql: Sql, nowMs: number, beforeId = '~'): Promise<number> {
  const rows = await sql.all<TranscriptionRow>('SELECT * FROM transcriptions WHERE id < $beforeId', { beforeId })
  for (const { id, heard_ms: heardMs } of rows) await endTranscription(sql, id, endCrashedListening(heardMs), nowMs)
  return rows.length
}
