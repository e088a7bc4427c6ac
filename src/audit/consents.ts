/**
 * Consents against the voices that name them, and their recordings against their rows. A database of an earlier
 * version, such as one in a backup, has no consents yet.
 */
import { join } from 'node:path'
import type { Ask, Fault, Rule } from './rules.ts'
import { hashOf, sizeOf } from './voice-files.ts'

/** A voice keeps the id of a consent that was deleted since; but no voice names another account's. */
export const consentRule: Rule = {
  rule: 'consent of the owner',
  sql: `
    SELECT v.id, c.id AS consent FROM voices v JOIN voice_consents c ON c.id = v.consent
    WHERE v.account_id IS NULL OR v.account_id <> c.account_id`,
  words: (row) => `the voice ${row.id} was made with the consent ${row.consent} of another account`,
}

/**
 * @param dataDir null: the recordings are not looked at
 * @param isThere whether there is a row of this consent now
 */
export async function consentFaults(
  dataDir: string | null,
  ask: Ask,
  isThere: (id: string) => boolean,
): Promise<{ faults: Fault[]; count: number }> {
  const { rule, sql, words } = consentRule
  const faults = (await ask(sql)).map((row) => ({ rule, words: words(row) }))
  if (dataDir === null) return { faults, count: 0 }
  const consents = await ask('SELECT id, clip_hash, clip_bytes FROM voice_consents')
  for (const { id, clip_hash: hash, clip_bytes: bytes } of consents) {
    const path = join(dataDir, 'consents', String(id), 'recording')
    const isRight = (await sizeOf(path)) === bytes && (await hashOf(path)) === hash
    // One that is gone may have been deleted since the moment of the rows.
    if (isRight || !isThere(String(id))) continue
    faults.push({
      rule: 'recording of a consent',
      words: `the recording of the consent ${id} is missing, or is not the one that was uploaded`,
    })
  }
  return { faults, count: consents.length }
}
