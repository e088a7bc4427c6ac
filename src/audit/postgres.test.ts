/**
 * The audit of a shared database: it finds no fault in what the service wrote, and finds each fault that is made by
 * hand in a copy. `audit.test.ts` shows the rules one by one.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { admission, type Books, cloneAdmission, engine, openBooks, settlement, sha256 } from '../store/books.fixture.ts'
import { SqlConsents } from '../store/consents.ts'
import { PostgresDatabase } from '../store/postgres/postgres.ts'
import { PostgresConsentFiles, PostgresVoiceFiles } from '../store/postgres/voice-files.ts'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { noPostgres, testPostgres } from '../testing/postgres.ts'
import { auditPostgres } from './postgres.ts'

setDefaultTimeout(60_000)

const consentId = 'cons_01KAJ5ZV6C7D8E9F0G1H2J3K4M'
/** More than one piece of a file. */
const clip = new Uint8Array(300_000).fill(7)
const hash = new Bun.CryptoHasher('sha256').update(clip).digest('hex')

let place = ''

/** A record of every kind, and the files of a voice. @returns the address of their database */
async function worked(): Promise<string> {
  engine.name = 'postgres'
  const books: Books = await openBooks(5_000_000, true).finally(() => void (engine.name = 'sqlite'))
  const { ledger, account, key, database } = books
  if (!(database instanceof PostgresDatabase)) throw new Error('not on PostgreSQL')
  const { id } = await ledger.admitSpeech(admission(books, { keyHash: sha256('a key') }))
  await ledger.settle(id, settlement('completed', 1500))
  await ledger.admitSpeech(admission(books, { keyHash: sha256('another key') }))
  const owner = { accountId: account.id, keyId: key.id }
  const recording = { fileName: 'a', mimeType: 'audio/wav', sizeBytes: clip.length, durationMs: 4000, hash }
  await new SqlConsents(database, new PostgresConsentFiles(database), books).create(
    { id: consentId, name: 'Ada', language: 'en', recording, maxConsents: null, ...owner },
    clip,
  )
  const cloned = cloneAdmission(books, { aliases: ['me'], consent: consentId })
  const of = { ...cloned, clip: { ...cloned.clip, sizeBytes: clip.length, hash } }
  const clone = await ledger.admitClone(of)
  await new PostgresVoiceFiles(database).put(of.voiceId, {
    clip,
    'reference.wav': clip,
    state: clip,
    'preview.wav': clip,
  })
  await ledger.completeClone(clone.id)
  await ledger.beginTranscription({ id: 'req_1', model: 'whisper', ...owner })
  await ledger.endTranscription('req_1', { outcome: 'completed', errorCode: null, heardMs: 9000 })
  await database.close()
  return books.place
}

/** A copy that was changed past triggers, references and checks, as damage or another program would. */
async function copyWith(sql: string): Promise<string> {
  const server = await testPostgres()
  const url = server.urlOf(await server.create(new URL(place).pathname.slice(1)))
  const client = new SQL(url, { max: 1 })
  await client.unsafe(`SET session_replication_role = replica; ${sql}`)
  await client.close()
  return url
}

const wrongs: [string, string][] = [
  ['balance', 'UPDATE accounts SET balance_micros = balance_micros + 1'],
  ['charge', 'DELETE FROM entries WHERE operation_id IS NOT NULL'],
  ['counted once', "DELETE FROM usage WHERE type = 'speech'"],
  ['counted as charged', "UPDATE usage SET charged_micros = 1 WHERE type = 'speech'"],
  ['voice being made', "UPDATE voices SET status = 'processing'; DELETE FROM operations WHERE type = 'clone'"],
  ['alias of the owner', "UPDATE voice_aliases SET account_id = 'other'"],
  ['files of a voice', "DELETE FROM voice_files WHERE name = 'state'"],
  ['files of a voice', "DELETE FROM voice_files WHERE name = 'clip' AND piece = 1"],
  ['clip of a voice', "UPDATE voice_files SET bytes = set_byte(bytes, 9, 8) WHERE name = 'clip' AND piece = 1"],
  ['recording of a consent', 'DELETE FROM consent_files'],
  ['recording of a consent', 'UPDATE consent_files SET bytes = set_byte(bytes, 9, 8) WHERE piece = 1'],
  ['consent of the owner', "UPDATE voice_consents SET account_id = 'other'"],
]

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('the audit of a shared database', () => {
  beforeAll(async () => {
    place = await worked()
  })
  afterAll(() => void (engine.name = 'sqlite'))

  test('finds no fault in what the service wrote, and reports what it examined', async () => {
    const url = await copyWith('')
    const { faults, seen } = await auditPostgres(url, 'full')
    expect(faults).toEqual([])
    expect(seen).toEqual({ accounts: 1, keys: 1, operations: 3, entries: seen.entries, usage: 3, voices: 1, files: 5 })
  })

  test.each(wrongs)('finds: %s, %s', async (rule, sql) => {
    const { faults } = await auditPostgres(await copyWith(sql), 'full')
    expect(faults.map((fault) => fault.rule)).toContain(rule)
  })

  test('accepts a database from before consents', async () => {
    const { faults } = await auditPostgres(await copyWith('DROP TABLE consent_files, voice_consents'), 'full')
    expect(faults).toEqual([])
  })

  test('is a command that changes nothing and names the database that it cannot check', async () => {
    const at = (url: string, ...more: string[]) =>
      runCommand(['audit', '--data', temporaryFolder(), ...more], { env: { MYNA_DATABASE: url } })
    expect(await at(await copyWith(''))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('every rule holds: 1 account, 3 operations'),
    })
    const wrong = await at(await copyWith('DELETE FROM consent_files'), '--json')
    expect([wrong.code, JSON.parse(wrong.stdout)]).toMatchObject([1, { healthy: false }])
    const server = await testPostgres()
    const empty = await at(server.urlOf(await server.create()))
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('There are no records of Myna')])
  })
})
