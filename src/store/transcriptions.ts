/**
 * Transcriptions in the books: under way in a table of their own, and once they have ended a row of the usage. The
 * functions here run inside one transaction of `ledger` and await nothing.
 */
import { endCrashedListening, type ListeningEnding } from '../domain/listening.ts'
import type { TranscriptionStart } from '../service/ports-transcription.ts'
import type { StoreDatabase } from './database.ts'

interface TranscriptionRow {
  id: string
  account_id: string
  key_id: string
  model: string
  heard_ms: number
}

export function beginTranscription(database: StoreDatabase, start: TranscriptionStart, nowMs: number): void {
  database.run(
    `INSERT INTO transcriptions (id, account_id, key_id, model, started_at_ms)
     VALUES ($id, $accountId, $keyId, $model, $nowMs)`,
    { ...start, nowMs },
  )
}

/** Less than was noted before changes nothing. */
export function noteHeard(database: StoreDatabase, id: string, heardMs: number): void {
  database.run('UPDATE transcriptions SET heard_ms = $heardMs WHERE id = $id AND heard_ms < $heardMs', { id, heardMs })
}

/** @returns false when it is not under way; then nothing was written */
export function endTranscription(database: StoreDatabase, id: string, ending: ListeningEnding, nowMs: number): boolean {
  const row = database.get<TranscriptionRow>('SELECT * FROM transcriptions WHERE id = $id', { id })
  if (row === null) return false
  database.run(
    `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
       refunded_micros, free, settled_at_ms, request_id, outcome, error_code)
     VALUES ($accountId, $keyId, NULL, 'transcription', $model, 0, $heardMs, 0, 0, 0, $nowMs, $id,
       $outcome, $errorCode)`,
    { ...ending, id, accountId: row.account_id, keyId: row.key_id, model: row.model, nowMs },
  )
  database.run('DELETE FROM transcriptions WHERE id = $id', { id })
  return true
}

/** Ends every one that is under way, as what a dead server left behind. @returns how many */
export function endLeftTranscriptions(database: StoreDatabase, nowMs: number): number {
  const rows = database.all<TranscriptionRow>('SELECT * FROM transcriptions')
  for (const { id, heard_ms: heardMs } of rows) endTranscription(database, id, endCrashedListening(heardMs), nowMs)
  return rows.length
}
