/** Consents behind the port `ConsentBooks`: their rows. Where the recordings are depends on the database. */
import type { Consent } from '../domain/consent.ts'
import { MynaError } from '../domain/error.ts'
import type { Clock } from '../domain/time.ts'
import type { ConsentBooks, NewConsent } from '../service/ports/consents.ts'
import { FolderRecordings } from './clips.ts'
import type { Database, Sql } from './database.ts'
import { lockAccount, requireActive } from './ledger/admit.ts'

export interface Recordings {
  /** Both are kept, or neither. @param insert writes the row, within a transaction; see `Database.transaction` */
  keep<T>(id: string, bytes: Uint8Array, insert: (sql: Sql, again: boolean) => Promise<T>): Promise<T>
  /** null: none. */
  read(id: string): Promise<Uint8Array | null>
  /** Called after the row was deleted. */
  remove(id: string): Promise<void>
  removeOrphans(known: ReadonlySet<string>): Promise<number>
}

/** The file is complete before its row exists. If a crash comes between the two, the next start removes the file. */
export class FolderConsentFiles implements Recordings {
  readonly #files: FolderRecordings
  readonly #database: Database

  /** @param dataDir a folder that exists */
  constructor(dataDir: string, database: Database) {
    this.#files = new FolderRecordings(dataDir)
    this.#database = database
  }

  async keep<T>(id: string, bytes: Uint8Array, insert: (sql: Sql, again: boolean) => Promise<T>): Promise<T> {
    await this.#files.put(id, { recording: bytes })
    try {
      return await this.#database.transaction(insert)
    } catch (error) {
      await this.#files.remove(id)
      throw error
    }
  }

  read(id: string): Promise<Uint8Array | null> {
    return this.#files.read(id, 'recording')
  }

  remove(id: string): Promise<void> {
    return this.#files.remove(id)
  }

  removeOrphans(known: ReadonlySet<string>): Promise<number> {
    return this.#files.removeOrphans(known)
  }
}

interface ConsentRow {
  id: string
  name: string
  language: string
  clip_name: string
  clip_mime: string
  clip_bytes: number
  clip_ms: number
  clip_hash: string
  created_at_ms: number
}

const consentOf = (row: ConsentRow): Consent => ({
  id: row.id,
  name: row.name,
  language: row.language,
  recording: {
    fileName: row.clip_name,
    mimeType: row.clip_mime,
    sizeBytes: row.clip_bytes,
    durationMs: row.clip_ms,
    hash: row.clip_hash,
  },
  createdAtMs: row.created_at_ms,
})

export class SqlConsents implements ConsentBooks {
  readonly #database: Database
  readonly #recordings: Recordings
  readonly #clock: Clock

  constructor(database: Database, recordings: Recordings, { clock }: { clock: Clock }) {
    this.#database = database
    this.#recordings = recordings
    this.#clock = clock
  }

  create(consent: NewConsent, bytes: Uint8Array): Promise<Consent> {
    const { id, accountId, maxConsents } = consent
    return this.#recordings.keep(id, bytes, async (sql, again) => {
      await lockAccount(sql, accountId)
      const done = again ? await findIn(sql, accountId, id) : null
      if (done !== null) return done
      await requireActive(sql, accountId)
      if (maxConsents !== null) await requireRoom(sql, accountId, maxConsents)
      return insert(sql, consent, this.#clock.nowMs())
    })
  }

  find(accountId: string, id: string): Promise<Consent | null> {
    return findIn(this.#database, accountId, id)
  }

  async list(accountId: string, { after, limit }: { after: string | null; limit: number }): Promise<Consent[]> {
    const older = after === null ? '' : 'AND id < $after'
    const rows = await this.#database.all<ConsentRow>(
      `SELECT * FROM voice_consents WHERE account_id = $accountId ${older} ORDER BY id DESC LIMIT $limit`,
      { accountId, limit, ...(after === null ? {} : { after }) },
    )
    return rows.map(consentOf)
  }

  async rename(accountId: string, id: string, name: string): Promise<Consent | null> {
    const row = await this.#database.get<ConsentRow>(
      'UPDATE voice_consents SET name = $name WHERE id = $id AND account_id = $accountId RETURNING *',
      { accountId, id, name },
    )
    return row === null ? null : consentOf(row)
  }

  async remove(accountId: string, id: string): Promise<boolean> {
    let removed = false
    const isGone = await this.#database.transaction(async (sql, again) => {
      const rows = await sql.run('DELETE FROM voice_consents WHERE id = $id AND account_id = $accountId', {
        id,
        accountId,
      })
      // Already deleted, perhaps by the run before.
      if (rows > 0 || !again) removed = rows > 0
      return removed
    })
    if (isGone) await this.#recordings.remove(id)
    return isGone
  }

  async removeOwned(accountId: string): Promise<void> {
    const rows = await this.#database.all<{ id: string }>(
      'SELECT id FROM voice_consents WHERE account_id = $accountId',
      { accountId },
    )
    for (const { id } of rows) await this.remove(accountId, id)
  }

  async removeOrphans(): Promise<number> {
    const rows = await this.#database.all<{ id: string }>('SELECT id FROM voice_consents')
    return this.#recordings.removeOrphans(new Set(rows.map(({ id }) => id)))
  }
}

async function findIn(sql: Sql, accountId: string, id: string): Promise<Consent | null> {
  const where = 'WHERE id = $id AND account_id = $accountId'
  const row = await sql.get<ConsentRow>(`SELECT * FROM voice_consents ${where}`, { id, accountId })
  return row === null ? null : consentOf(row)
}

async function requireRoom(sql: Sql, accountId: string, limit: number): Promise<void> {
  const row = await sql.get<{ owned: number }>(
    'SELECT count(*) AS owned FROM voice_consents WHERE account_id = $accountId',
    { accountId },
  )
  const owned = row?.owned ?? 0
  if (owned < limit) return
  throw new MynaError('voice_limit_reached', `This account owns ${owned} consents; its limit is ${limit}.`, {
    extras: { limit, owned },
  })
}

async function insert(sql: Sql, consent: NewConsent, nowMs: number): Promise<Consent> {
  const { id, accountId, keyId, name, language, recording } = consent
  const row = await sql.get<ConsentRow>(
    `INSERT INTO voice_consents (id, account_id, key_id, name, language, clip_name, clip_mime, clip_bytes, clip_ms,
       clip_hash, created_at_ms)
     VALUES ($id, $accountId, $keyId, $name, $language, $fileName, $mimeType, $sizeBytes, $durationMs, $hash, $nowMs)
     RETURNING *`,
    { id, accountId, keyId, name, language, ...recording, nowMs },
  )
  if (row === null) throw new Error('The consent was not written')
  return consentOf(row)
}
