/** Shows that each rule finds what breaks it: a database is built correctly, then one thing in it is broken by hand. */
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { admission, cloneAdmission, openBooks, settlement, sha256 } from '../store/books.fixture.ts'
import { FolderConsentFiles, SqlConsents } from '../store/consents.ts'
import { audit } from './audit.ts'
import { rules } from './rules.ts'

/** With a record of every kind, and the files of a voice. */
async function workedBooks() {
  const books = await openBooks(5_000_000)
  const { ledger, accounts, account, key } = books
  const settled = async (outcome: 'completed' | 'stream_failed' | 'failed', micros: number, keyHash: string | null) => {
    const { id } = await ledger.admitSpeech(admission(books, { keyHash }))
    await ledger.settle(id, settlement(outcome, micros))
    return id
  }
  const completed = await settled('completed', 1500, sha256('a key'))
  await settled('stream_failed', 700, null)
  await settled('failed', 0, sha256('another key'))
  const { id: pending } = await ledger.admitSpeech(admission(books, { keyHash: sha256('third key') }))
  const other = await accounts.create({ name: 'bea', role: 'user', balanceMicros: 500 })
  await accounts.setMetering(other.id, null)
  const clip = new TextEncoder().encode('a clip')
  const cloned = cloneAdmission(books, { aliases: ['me'] })
  const of = { ...cloned, clip: { ...cloned.clip, sizeBytes: clip.length, hash: sha256('a clip') } }
  const clone = await ledger.admitClone(of)
  await ledger.completeClone(clone.id)
  const { id: making, voiceId } = await ledger.admitClone(cloneAdmission(books))
  await ledger.beginTranscription({ id: 'req_1', accountId: account.id, keyId: key.id, model: 'whisper' })
  await ledger.beginTranscription({ id: 'req_2', accountId: account.id, keyId: key.id, model: 'whisper' })
  await ledger.endTranscription('req_2', { outcome: 'completed', errorCode: null, heardMs: 9000 })
  const folder = join(books.dataDir, 'voices', of.voiceId)
  mkdirSync(folder, { recursive: true })
  for (const name of ['clip', 'preview.wav', 'reference.wav', 'state']) writeFileSync(join(folder, name), clip)
  return { ...books, completed, pending, making, ready: of.voiceId, processing: String(voiceId), folder }
}

type Worked = Awaited<ReturnType<typeof workedBooks>>

/** Bypasses triggers, constraints and references, as damage or another program would. */
function force(dataDir: string, sql: string): void {
  const database = new Database(join(dataDir, 'myna.db'))
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA ignore_check_constraints = ON')
  const triggers = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  database.run(sql)
  database.close()
}

const rulesBroken = async ({ dataDir }: Worked, depth: 'quick' | 'full' = 'full') =>
  new Set((await audit(dataDir, depth)).faults.map(({ rule }) => rule))

test('finds no fault in what the service wrote, and reports what it examined', async () => {
  const books = await workedBooks()
  const { faults, seen } = await audit(books.dataDir, 'full')
  expect(faults).toEqual([])
  expect(seen).toMatchObject({ accounts: 2, keys: 1, operations: 6, voices: 2, files: 4 })
})

const wrongs: [string, (books: Worked) => string][] = [
  ['balance', () => 'UPDATE accounts SET balance_micros = balance_micros + 1'],
  ['metering', () => 'UPDATE accounts SET balance_micros = 0'],
  [
    'change of metering',
    () => "UPDATE entries SET amount_micros = amount_micros + 1 WHERE kind = 'unmetered' AND amount_micros > 0",
  ],
  [
    'metering in turns',
    () =>
      `INSERT INTO entries SELECT NULL, account_id, NULL, kind, amount_micros, created_at_ms, NULL
       FROM entries WHERE kind = 'unmetered'`,
  ],
  ['charge', ({ completed }) => `DELETE FROM entries WHERE operation_id = '${completed}'`],
  ['price', ({ completed }) => `UPDATE operations SET charged_micros = 1499 WHERE id = '${completed}'`],
  [
    'entries of one account',
    () =>
      `DROP INDEX entries_operation; INSERT INTO entries
      SELECT NULL, account_id, operation_id, kind, amount_micros, created_at_ms, NULL FROM entries
      WHERE operation_id IS NOT NULL`,
  ],
  ['counted once', ({ completed }) => `DELETE FROM usage WHERE operation_id = '${completed}'`],
  ['counted as charged', ({ completed }) => `UPDATE usage SET charged_micros = 1 WHERE operation_id = '${completed}'`],
  ['counted as booked', ({ completed }) => `DELETE FROM entries WHERE operation_id = '${completed}'`],
  [
    'booked is counted',
    ({ completed }) =>
      `DELETE FROM usage WHERE operation_id = '${completed}'; DELETE FROM operations WHERE id = '${completed}'`,
  ],
  ['transcription counted once', () => "UPDATE usage SET request_id = 'req_1' WHERE request_id = 'req_2'"],
  [
    'key held while it counts',
    ({ pending }) => `UPDATE operations SET idempotency_hash = NULL WHERE id = '${pending}'`,
  ],
  ['times of the end', ({ pending }) => `UPDATE operations SET settled_at_ms = 1 WHERE id = '${pending}'`],
  [
    'voice of its clone',
    ({ ready }) => `UPDATE voices SET status = 'failed', error_code = 'x', error_message = 'x' WHERE id = '${ready}'`,
  ],
  ['voice being made', ({ making }) => `DELETE FROM operations WHERE id = '${making}'`],
  ['clone with a voice', ({ processing }) => `DELETE FROM voices WHERE id = '${processing}'`],
  [
    'alias of the owner',
    () =>
      `INSERT INTO accounts (id, name, folded_name, role, created_at_ms) VALUES ('other', 'other', 'other', 'user', 0);
      UPDATE voice_aliases SET account_id = 'other'`,
  ],
]

describe('finds what breaks a rule', () => {
  test.each(wrongs)('%s', async (rule, sql) => {
    const books = await workedBooks()
    force(books.dataDir, sql(books))
    expect(await rulesBroken(books)).toContain(rule)
  })

  test('for each rule, except the one that an index enforces', () => {
    const kept = ['one operation for a key']
    const shown = [...wrongs.map(([rule]) => rule), ...kept]
    expect(rules.map(({ rule }) => rule).filter((rule) => !shown.includes(rule))).toEqual([])
  })
})

test('finds a voice without a file, and a clip with other content', async () => {
  const books = await workedBooks()
  writeFileSync(join(books.folder, 'clip'), 'b clip')
  expect(await rulesBroken(books)).toEqual(new Set(['clip of a voice']))
  rmSync(join(books.folder, 'state'))
  expect(await rulesBroken(books)).toEqual(new Set(['files of a voice']))
  expect(await rulesBroken(books, 'quick')).toEqual(new Set())
})

test('finds a consent without its recording or with another, and a voice with a foreign consent', async () => {
  const books = await workedBooks()
  const consentId = 'cons_01KAJ5ZV6C7D8E9F0G1H2J3K4M'
  const recording = { fileName: 'a', mimeType: 'audio/wav', sizeBytes: 5, durationMs: 4000, hash: sha256('agree') }
  const consents = new SqlConsents(books.database, new FolderConsentFiles(books.dataDir, books.database), books)
  const owner = { accountId: books.account.id, keyId: books.key.id, maxConsents: null }
  const bytes = new TextEncoder().encode('agree')
  await consents.create({ id: consentId, name: 'Ada', language: 'en', recording, ...owner }, bytes)
  expect((await audit(books.dataDir, 'full')).seen.files).toBe(5)
  expect(await rulesBroken(books)).toEqual(new Set())
  const path = join(books.dataDir, 'consents', consentId, 'recording')
  writeFileSync(path, 'argue')
  expect(await rulesBroken(books)).toEqual(new Set(['recording of a consent']))
  rmSync(path)
  expect(await rulesBroken(books)).toEqual(new Set(['recording of a consent']))
  force(
    books.dataDir,
    `INSERT INTO accounts (id, name, folded_name, role, created_at_ms) VALUES ('other', 'other', 'other', 'user', 0);
    UPDATE voice_consents SET account_id = 'other'; UPDATE voices SET consent = '${consentId}'`,
  )
  expect(await rulesBroken(books, 'quick')).toEqual(new Set(['consent of the owner']))
})

test('a database from before consents has none to check', async () => {
  const books = await workedBooks()
  force(books.dataDir, 'DROP TABLE voice_consents')
  expect(await rulesBroken(books)).toEqual(new Set())
})

test('finds a damaged page, and a dangling reference', async () => {
  const books = await workedBooks()
  await books.database.close()
  force(books.dataDir, 'DELETE FROM keys')
  expect(await rulesBroken(books)).toEqual(new Set(['reference']))
  const path = join(books.dataDir, 'myna.db')
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(4096).fill(0xa5), 0, 4096, statSync(path).size - 4096)
  closeSync(file)
  expect(await rulesBroken(books)).toContain('structure')
})
