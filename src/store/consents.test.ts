/** Consents: rows and recordings that exist together or not at all, on both databases. */
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NewConsent } from '../service/ports/consents.ts'
import { type Books, expectRefused, openBooks, sha256 } from './books.fixture.ts'
import { FolderConsentFiles, type Recordings, SqlConsents } from './consents.ts'
import { PostgresDatabase } from './postgres/postgres.ts'
import { PostgresConsentFiles } from './postgres/voice-files.ts'

const recordingsOf = ({ database, dataDir }: Books): Recordings =>
  database instanceof PostgresDatabase ? new PostgresConsentFiles(database) : new FolderConsentFiles(dataDir, database)

const consentsOf = (books: Books, recordings = recordingsOf(books)) =>
  new SqlConsents(books.database, recordings, books)

const idOf = (n: number) => `cons_01KAJ5ZV6C7D8E9F0G1H2J3K${String(n).padStart(2, '0')}`

const newConsent = ({ account, key }: Books, n = 1, change: Partial<NewConsent> = {}): NewConsent => ({
  id: idOf(n),
  accountId: account.id,
  keyId: key.id,
  name: 'Ada',
  language: 'en-US',
  recording: { fileName: 'a.wav', mimeType: 'audio/wav', sizeBytes: 5, durationMs: 4000, hash: sha256('agree') },
  maxConsents: null,
  ...change,
})

const bytes = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7) % 251)

describe('consents', () => {
  test('are read back as they were given, with recordings of any size', async () => {
    const books = await openBooks()
    const [consents, recordings] = [consentsOf(books), recordingsOf(books)]
    for (const [n, length] of [5, 256 * 1024, 700_001].entries()) {
      const made = await consents.create(newConsent(books, n), bytes(length))
      const { accountId: _, keyId: __, maxConsents: ___, ...given } = newConsent(books, n)
      expect(made).toEqual({ ...given, createdAtMs: books.clock.nowMs() })
      expect(await consents.find(books.account.id, idOf(n))).toEqual(made)
      expect(Buffer.from((await recordings.read(idOf(n)))!)).toEqual(Buffer.from(bytes(length)))
    }
  })

  test('belong to their account alone', async () => {
    const books = await openBooks()
    const consents = consentsOf(books)
    await consents.create(newConsent(books), bytes(5))
    expect(await consents.find('acct_other', idOf(1))).toBeNull()
    expect(await consents.rename('acct_other', idOf(1), 'Eve')).toBeNull()
    expect(await consents.remove('acct_other', idOf(1))).toBe(false)
    expect(await consents.list('acct_other', { after: null, limit: 9 })).toEqual([])
    expect(await consents.find(books.account.id, idOf(1))).toMatchObject({ name: 'Ada' })
    expect((await consents.rename(books.account.id, idOf(1), 'Zoë'))?.name).toBe('Zoë')
  })

  test('are deleted with their recordings, one by one or all of an account', async () => {
    const books = await openBooks()
    const [consents, recordings] = [consentsOf(books), recordingsOf(books)]
    for (let n = 0; n < 4; n++) await consents.create(newConsent(books, n), bytes(9))
    expect(await consents.remove(books.account.id, idOf(0))).toBe(true)
    expect(await consents.remove(books.account.id, idOf(0))).toBe(false)
    expect(await recordings.read(idOf(0))).toBeNull()
    await consents.removeOwned(books.account.id)
    expect(await consents.list(books.account.id, { after: null, limit: 9 })).toEqual([])
    expect(await recordings.read(idOf(3))).toBeNull()
  })

  test('past the limit leave nothing', async () => {
    const books = await openBooks()
    const [consents, recordings] = [consentsOf(books), recordingsOf(books)]
    await consents.create(newConsent(books, 1, { maxConsents: 1 }), bytes(5))
    const full = consents.create(newConsent(books, 2, { maxConsents: 1 }), bytes(5))
    await expect(full).rejects.toMatchObject({ code: 'voice_limit_reached' })
    expect(await recordings.read(idOf(2))).toBeNull()
  })

  test('of an account that was removed while they arrived leave nothing', async () => {
    const books = await openBooks()
    const [consents, recordings] = [consentsOf(books), recordingsOf(books)]
    await books.accounts.remove(books.account.id)
    await expect(consents.create(newConsent(books), bytes(5))).rejects.toMatchObject({ code: 'account_disabled' })
    expect(await consents.list(books.account.id, { after: null, limit: 9 })).toEqual([])
    expect(await recordings.read(idOf(1))).toBeNull()
  })

  test('whose answer was lost are written once', async () => {
    const books = await openBooks()
    const recordings = recordingsOf(books)
    // As after a COMMIT whose answer did not arrive: the same work is done again.
    const twice: Recordings = {
      keep: async (id, recording, insert) => {
        await recordings.keep(id, recording, insert)
        return recordings.keep(id, recording, (sql) => insert(sql, true))
      },
      read: (id) => recordings.read(id),
      remove: (id) => recordings.remove(id),
      removeOrphans: (known) => recordings.removeOrphans(known),
    }
    const consents = consentsOf(books, twice)
    await consents.create(newConsent(books, 1, { maxConsents: 1 }), bytes(5))
    expect(await consents.list(books.account.id, { after: null, limit: 9 })).toHaveLength(1)
    expect(await recordings.read(idOf(1))).toHaveLength(5)
  })

  test('never change, except for their name', async () => {
    const books = await openBooks()
    await consentsOf(books).create(newConsent(books), bytes(5))
    await expectRefused(books.database, "UPDATE voice_consents SET language = 'de'", 'what was agreed to never changes')
    await expectRefused(books.database, "UPDATE voice_consents SET clip_hash = 'x'", /never changes|consent_hash_hex/)
    await expectRefused(books.database, "UPDATE voice_consents SET name = ''", 'consent_name_length')
  })
})

test('recordings without a consent are removed at the start, others stay', async () => {
  const books = await openBooks()
  if (books.database instanceof PostgresDatabase) return
  const consents = consentsOf(books)
  await consents.create(newConsent(books), bytes(5))
  const root = join(books.dataDir, 'consents')
  for (const name of [idOf(7), '.new-x']) mkdirSync(join(root, name))
  expect(await consents.removeOrphans()).toBe(2)
  expect(readdirSync(root)).toEqual([idOf(1)])
  expect(existsSync(join(root, idOf(1), 'recording'))).toBe(true)
})
