/** A transcription in the database: running, then a row of the usage in every case; and what the schema forbids. */
import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ListeningEnding } from '../domain/listening.ts'
import { systemClock } from '../domain/time.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { expectRefused, openBooks, ruleOf } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'
import { openSqlite } from './sqlite.ts'
import { SqlLedger } from './ledger/ledger.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

let books: Books
beforeEach(async () => {
  books = await openBooks()
})

const begin = (id: string) =>
  books.ledger.beginTranscription({ id, accountId: books.account.id, keyId: books.key.id, model: 'whisper' })
const completed = (heardMs: number): ListeningEnding => ({ outcome: 'completed', errorCode: null, heardMs })
const counted = () => books.database.all<object>('SELECT request_id, outcome, error_code, audio_ms FROM usage')
const underWay = () => books.database.all<object>('SELECT id, heard_ms FROM transcriptions')

test('is running until it ends, once, and then a row of the usage', async () => {
  await begin('req_1')
  expect([await underWay(), await counted()]).toEqual([[{ id: 'req_1', heard_ms: 0 }], []])
  await books.ledger.noteHeard('req_1', 7000)
  await books.ledger.noteHeard('req_1', 5000)
  expect([await underWay(), await counted()]).toEqual([[{ id: 'req_1', heard_ms: 7000 }], []])
  expect(await books.ledger.endTranscription('req_1', completed(9000))).toBe(true)
  expect(await books.ledger.endTranscription('req_1', completed(1))).toBe(false)
  await books.ledger.noteHeard('req_1', 8000)
  expect(await underWay()).toEqual([])
  expect(await counted()).toEqual([{ request_id: 'req_1', outcome: 'completed', error_code: null, audio_ms: 9000 }])
  expect(await books.ledger.endTranscription('req_none', completed(1))).toBe(false)
})

test('after a crash it is ended once as failed, up to the recorded progress', async () => {
  for (const id of ['req_1', 'req_2', 'req_3']) await begin(id)
  await books.ledger.noteHeard('req_2', 7000)
  await books.ledger.endTranscription('req_3', completed(9000))
  expect(await books.ledger.endCrashedTranscriptions()).toBe(2)
  expect(await books.ledger.endCrashedTranscriptions()).toBe(0)
  expect(await underWay()).toEqual([])
  expect(await counted()).toEqual([
    { request_id: 'req_3', outcome: 'completed', error_code: null, audio_ms: 9000 },
    { request_id: 'req_1', outcome: 'failed', error_code: 'server_stopped', audio_ms: 0 },
    { request_id: 'req_2', outcome: 'stream_failed', error_code: 'server_stopped', audio_ms: 7000 },
  ])
})

describe('the schema alone', () => {
  const refused = (sql: string, reason: string | RegExp) => expectRefused(books.database, sql, reason)
  const row = (id: string, end: string, model = 'whisper'): string =>
    `INSERT INTO usage (account_id, key_id, type, model, characters, audio_ms, charged_micros, refunded_micros, free,
       settled_at_ms, request_id, outcome, error_code)
     VALUES ('${books.account.id}', '${books.key.id}', 'transcription', '${model}', 0, 1, 0, 0, 0, 1, ${id}, ${end})`

  test('counts only what was begun, once, with its ending', async () => {
    await begin('req_1')
    await refused(row("'req_2'", "'completed', NULL"), 'only a transcription that was begun is counted')
    await refused(row('NULL', 'NULL, NULL'), 'only a transcription that was begun is counted')
    await refused(row("'req_1'", "'completed', NULL", 'other'), 'only a transcription that was begun is counted')
    await refused(row("'req_1'", 'NULL, NULL'), 'outcome_of_request')
    await refused(row("'req_1'", "'not_accepted', 'x'"), 'outcome_of_request')
    await refused(row("'req_1'", "'failed', NULL"), 'error_of_outcome')
    await refused(row("'req_1'", "'completed', 'x'"), 'error_of_outcome')
    await books.database.script(row("'req_1'", "'failed', 'x'"))
    await refused(row("'req_1'", "'completed', NULL"), 'usage.request_id')
  })

  test('never lets a running one vanish or change', async () => {
    await begin('req_1')
    await books.ledger.noteHeard('req_1', 5)
    await refused('DELETE FROM transcriptions', 'a transcription ends in the usage')
    await refused('UPDATE transcriptions SET heard_ms = 4', 'what was heard stays heard')
    await refused("UPDATE transcriptions SET model = 'other'", 'what was begun never changes')
    expect(await begin('req_1').catch(ruleOf)).toContain('transcriptions.id')
    await expect(begin('op_1')).rejects.toThrow('transcription_id_prefix')
  })
})

test('a database of the schema before keeps every row and keeps working', async () => {
  const dataDir = temporaryFolder()
  const old = new Database(join(dataDir, 'myna.db'))
  old.run('CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL) STRICT')
  for (const name of ['001_books', '002_voices']) {
    old.run(readFileSync(join(import.meta.dir, 'migrations', `${name}.sql`), 'utf8'))
    old.run(`INSERT INTO migrations VALUES ('${name}')`)
  }
  const values = `'whisper', 0, 9000, 0, 0, 0, 5`
  old.run(`INSERT INTO accounts (id, name, folded_name, role, created_at_ms) VALUES ('acct_1', 'ada', 'ada', 'user', 1);
    INSERT INTO keys (id, account_id, name, prefix, hash, created_at_ms)
      VALUES ('key_1', 'acct_1', 'k', 'p', '${'a'.repeat(64)}', 1);
    INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
      refunded_micros, free, settled_at_ms)
      VALUES ('acct_1', 'key_1', NULL, 'transcription', ${values}),
        ('acct_1', 'key_1', NULL, 'transcription', ${values}),
        ('acct_1', 'key_1', 'op_1', 'speech', 'hibari', 2, 100, 30, 0, 0, 5)`)
  const before = old.query('SELECT * FROM usage').all() as object[]
  old.close()

  const database = await openSqlite(dataDir)
  const added = { request_id: null, outcome: null, error_code: null }
  expect(await database.all<object>('SELECT * FROM usage')).toEqual(before.map((row) => ({ ...row, ...added })))
  const ledger = new SqlLedger(database, { clock: systemClock })
  expect(await ledger.endCrashedTranscriptions()).toBe(0)
  const ids = { accountId: 'acct_1', keyId: 'key_1' }
  await ledger.beginTranscription({ id: 'req_1', ...ids, model: 'whisper' })
  expect(await ledger.endTranscription('req_1', completed(1000))).toBe(true)
  const span = { accountId: 'acct_1', startMs: 0, endMs: Date.now() + 1000, bucketMs: Date.now() + 1000 }
  const rows = await ledger.usage({ ...span, groupBy: [] })
  expect(rows.map(({ type, requests, audioMs }) => [type, requests, audioMs])).toEqual([
    ['speech', 1, 100],
    ['transcription', 3, 19_000],
  ])
  await database.close()
})
