/** A move from SQLite to PostgreSQL: every row and file, even when it is killed in the middle and started again. */
import { describe, expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import { noPostgres, testPostgres } from '../../testing/postgres.ts'
import { startCommand, runCommand } from '../../testing/command.ts'
import { admission, type Books, cloneAdmission, contents, openBooks, settlement, sha256 } from '../books.fixture.ts'
import { FolderVoiceFiles } from '../clips.ts'
import { FolderConsentFiles, SqlConsents } from '../consents.ts'
import type { Database } from '../database.ts'
import { SqlLedger } from '../ledger/ledger.ts'
import { moveRecords } from './move.ts'
import { openPostgres } from './postgres.ts'
import { PostgresConsentFiles, PostgresVoiceFiles } from './voice-files.ts'

setDefaultTimeout(120_000)

const bytes = (length: number, seed: number) => Uint8Array.from({ length }, (_, at) => (at * 7 + seed) % 251)

/** Some of everything, and more operations than fit into one batch. */
async function livedIn(operations = 700): Promise<Books> {
  const books = await openBooks(10 ** 9)
  for (let n = 0; n < operations; n++) {
    const { id } = await books.ledger.admitSpeech(admission(books, { keyHash: null }))
    if (n % 7 !== 0) await books.ledger.settle(id, settlement(n % 3 === 0 ? 'completed' : 'stream_failed', 1500))
  }
  const files = new FolderVoiceFiles(books.dataDir)
  for (let n = 0; n < 3; n++) {
    const admitted = cloneAdmission(books, { name: `Zoë ${n}`, aliases: [`alias ${n}`], labels: { a: 'ß' } })
    await books.ledger.admitClone(admitted)
    const names = {
      clip: bytes(300_000, n),
      'reference.wav': bytes(9, n),
      state: bytes(8, n),
      'preview.wav': bytes(7, n),
    }
    if (n < 2) await files.put(admitted.voiceId, names)
    if (n < 2) await books.ledger.completeClone(admitted.operationId)
    else await books.ledger.failClone(admitted.operationId, 'failed', { code: 'x', message: 'y' })
  }
  const heard = { id: 'req_1', accountId: books.account.id, keyId: books.key.id, model: 'whisper' }
  await books.ledger.beginTranscription(heard)
  await books.ledger.endTranscription('req_1', { outcome: 'completed', errorCode: null, heardMs: 900 })
  const recording = { fileName: 'a', mimeType: 'audio/wav', sizeBytes: 300_000, durationMs: 4000, hash: sha256('a') }
  const consent = { id: consentId, name: 'Zoë', language: 'en', recording, maxConsents: null }
  const owner = { accountId: books.account.id, keyId: books.key.id }
  await new SqlConsents(books.database, recordingsOf(books), books).create({ ...consent, ...owner }, bytes(300_000, 9))
  return books
}

const consentId = 'cons_01KAJ5ZV6C7D8E9F0G1H2J3K4M'
const recordingsOf = ({ dataDir, database }: Books) => new FolderConsentFiles(dataDir, database)

const sorted = async (database: Database) =>
  Object.fromEntries(
    Object.entries(await contents(database)).map(([table, rows]) => [
      table,
      rows.map((row) => JSON.stringify(row)).sort(),
    ]),
  )

async function emptyDatabase(): Promise<string> {
  const server = await testPostgres()
  return server.urlOf(await server.create())
}

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('a move', () => {
  test('copies every row and file, and work continues there', async () => {
    const books = await livedIn()
    const url = await emptyDatabase()
    const to = await openPostgres(url, { isMove: true })
    onTestFinished(() => to.close())
    const files = new FolderVoiceFiles(books.dataDir)
    const parts = { from: books.database, to, files, recordings: recordingsOf(books), onProgress: () => {} }
    const { rows, voices } = await moveRecords(parts)
    expect([rows > 2000, voices]).toEqual([true, 2])
    const [here, there] = [await sorted(books.database), await sorted(to)]
    for (const table of Object.keys(here)) {
      const parsed = (texts: string[]) => texts.map((text) => JSON.parse(text) as object)
      expect(parsed(there[table]!)).toEqual(parsed(here[table]!))
    }
    const [voice] = await books.voices.ids()
    expect((await new PostgresVoiceFiles(to).read(voice!, 'clip'))?.length).toBe(300_000)
    expect(await new PostgresConsentFiles(to).read(consentId)).toEqual(bytes(300_000, 9))

    const ledger = new SqlLedger(to, { clock: books.clock })
    const next = await ledger.admitSpeech(admission(books))
    expect(await ledger.settle(next.id, settlement('completed', 1500))).toBe(true)
    await expect(to.run('DELETE FROM entries')).rejects.toThrow('append-only')
    await expect(moveRecords(parts)).rejects.toThrow('The database is in use')
  })

  test('that is killed resumes where it stopped, and no server uses the database before its end', async () => {
    const books = await livedIn(2500)
    await books.database.close()
    const url = await emptyDatabase()
    const args = ['db', 'move', '--to', url, '--data', books.dataDir]
    let killed = 0
    for (const line of ['operations: 500', 'operations: 2000', 'usage: 500']) {
      const command = startCommand(args)
      let said = ''
      for await (const chunk of command.stderr) {
        said += new TextDecoder().decode(chunk)
        if (said.includes(line)) break
      }
      command.kill('SIGKILL')
      await command.exited
      if (said.includes(line)) killed++
      await expect(openPostgres(url)).rejects.toThrow('Records are being moved into the database')
    }
    expect(killed).toBe(3)
    const { code, stdout, stderr } = await runCommand(args)
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    expect(stdout).toContain('the files of 2 voices')
    const to = await openPostgres(url)
    onTestFinished(() => to.close())
    const row = await to.get<object>('SELECT count(*) AS n FROM operations')
    expect(row).toEqual({ n: 2503 })
  })

  test('refuses a database in use, and a password among the arguments', async () => {
    const books = await livedIn(1)
    await books.database.close()
    const url = await emptyDatabase()
    const data = ['--data', books.dataDir]
    const shown = await runCommand(['db', 'move', '--to', url.replace('myna@', 'myna:secret@'), ...data])
    expect([shown.code, shown.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('MYNA_DATABASE_PASSWORD_FILE'),
    ])
    expect(shown.code).not.toBe(0)
    expect(shown.stderr).not.toContain('secret')
    expect((await runCommand(['db', 'move', '--to', url, ...data])).code).toBe(0)
    const again = await runCommand(['db', 'move', '--to', url, ...data])
    expect(again.stderr).toContain('The database is in use')
  })
})
