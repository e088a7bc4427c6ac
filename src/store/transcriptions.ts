/**
 * Transcriptions in the books: under way in a table of their own, and once they have ended a row of the usage. The
 * functions here run inside one transaction of `ledger`.
 */
import { endCrashedListening, type ListeningEnding } from '../domain/listening.ts'
import type { TranscriptionStart } from '../service/ports-transcription.ts'
import type { Sql } from './database.ts'

interface TranscriptionRow {
  id: string
  account_id: string
  key_id: string
  model: string
  heard_ms: number
}

export async function beginTranscription(sql: Sql, start: TranscriptionStart, nowMs: number): Promise<void> {
  await sql.run(
    `INSERT INTO transcriptions (id, account_id, key_id, model, started_at_ms)
     VALUES ($id, $accountId, $keyId, $model, $nowMs)`,
    { ...start, nowMs },
  )
}

/** Less than was noted before changes nothing. */
export async function noteHeard(sql: Sql, id: string, heardMs: number): Promise<void> {
  await sql.run('UPDATE transcriptions SET heard_ms = $heardMs WHERE id = $id AND heard_ms < $heardMs', { id, heardMs })
}

/** @returns false when it is not under way; then nothing was written */
export async function endTranscription(sql: Sql, id: string, ending: ListeningEnding, nowMs: number): Promise<boolean> {
  const { forUpdate } = sql.dialect
  const row = await sql.get<TranscriptionRow>(`SELECT * FROM transcriptions WHERE id = $id${forUpdate}`, { id })
  if (row === null) return false
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

/** Ends every one that is under way, as what a dead server left behind. @returns how many */
export async function endLeftTranscriptions(sql: Sql, nowMs: number): Promise<number> {
  const rows = await sql.all<TranscriptionRow>('SELECT * FROM transcriptions')
  for (const { id, heard_ms: heardMs } of rows) await endTranscription(sql, id, endCrashedListening(heardMs), nowMs)
  return rows.length
}
