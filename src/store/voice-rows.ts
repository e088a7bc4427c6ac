/** Voices as rows: which columns a voice is, and what else each row keeps so that it can be found and counted. */
import type { Fidelity, Voice, VoiceStatus } from '../domain/voice.ts'
import type { Dialect, Sql } from './database.ts'
import { fold } from './fold.ts'

export interface VoiceRow {
  id: string
  account_id: string | null
  public: 0 | 1
  name: string
  description: string | null
  labels: string
  language: string | null
  category: Voice['category']
  model: string
  fidelity: Fidelity
  status: VoiceStatus
  error_code: string | null
  error_message: string | null
  clip_name: string | null
  clip_mime: string | null
  clip_bytes: number | null
  clip_ms: number | null
  clip_hash: string | null
  created_at_ms: number
  updated_at_ms: number
  /** A JSON array. */
  aliases: string
  live_operation_id: string | null
}

/** The rows of `VoiceRow`; wants `$nowMs`, for an expired record is gone although the sweep may lag. */
export const selectVoices = ({ jsonArray }: Dialect) => `SELECT voices.*,
  (SELECT ${jsonArray('alias', 'id')} FROM voice_aliases WHERE voice_id = voices.id) AS aliases,
  (SELECT id FROM operations WHERE id = voices.operation_id AND (expires_at_ms IS NULL OR expires_at_ms > $nowMs))
    AS live_operation_id
FROM voices`

export const voiceOf = (row: VoiceRow): Voice => ({
  id: row.id,
  ownerId: row.account_id,
  isPublic: row.public === 1,
  name: row.name,
  description: row.description,
  labels: JSON.parse(row.labels) as Record<string, string>,
  language: row.language,
  category: row.category,
  model: row.model,
  fidelity: row.fidelity,
  status: row.status,
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  aliases: JSON.parse(row.aliases) as string[],
  clip: clipOf(row),
  operationId: row.live_operation_id,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
})

/** The schema has a clip described whole or not at all. */
const clipOf = (row: VoiceRow): Voice['clip'] =>
  row.clip_hash === null
    ? null
    : {
        fileName: row.clip_name ?? '',
        mimeType: row.clip_mime ?? '',
        sizeBytes: row.clip_bytes ?? 0,
        durationMs: row.clip_ms ?? 0,
        hash: row.clip_hash,
      }

/** The columns that an owner may change, and those that follow from them. */
export function describedColumns(voice: Pick<Voice, 'id' | 'name' | 'description' | 'labels' | 'language'>) {
  const { id, name, description, labels, language } = voice
  const foldedName = fold(name)
  const searched = [name, id, description ?? '', ...Object.entries(labels).flat()]
  return {
    name,
    description,
    labels: JSON.stringify(labels),
    language,
    foldedName,
    searchText: searched.map(fold).join('\n'),
  }
}

/** Voices that are not failed: what cap and allowance count. */
export async function countOwned(sql: Sql, accountId: string): Promise<number> {
  const row = await sql.get<{ owned: number }>(
    "SELECT count(*) AS owned FROM voices WHERE account_id = $accountId AND status <> 'failed'",
    { accountId },
  )
  return row?.owned ?? 0
}
