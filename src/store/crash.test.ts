/** A database whose writer is killed in the middle of its work, again and again. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Auditor } from './auditor.fixture.ts'
import { openBooks, openingMicros } from './books.fixture.ts'
import { childCommand, startChild } from './children.fixture.ts'
import { FolderVoiceFiles } from './clips.ts'
import { openSqlite } from './sqlite.ts'
import { SqlLedger } from './ledger/ledger.ts'
import { SqlVoices } from './voices.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

test('SIGKILL between a clone’s steps loses no money and leaves no file', async () => {
  const books = await openBooks(1000 * openingMicros)
  await books.database.close()
  for (let round = 1; round <= 5; round++) {
    const cloner = startChild(childCommand('clone', books.dataDir))
    for (let lines = 0; lines < 8 + round; lines++) expect(await cloner.line()).not.toBe('')
    cloner.process.kill('SIGKILL')
    await cloner.process.exited

    const database = await openSqlite(books.dataDir)
    const auditor = new Auditor(database)
    expect(await auditor.faults(books.account.id)).toEqual([])
    const ledger = new SqlLedger(database, { clock: books.clock })
    const voices = new SqlVoices(database, { clock: books.clock })
    const files = new FolderVoiceFiles(books.dataDir)
    // The cloner itself leaves every sixth pending.
    expect(await ledger.settleCrashed()).toBeGreaterThan(0)
    expect(await auditor.faults(books.account.id)).toEqual([])
    const ids = await voices.ids()
    await files.removeOrphans(new Set(ids))
    expect(readdirSync(join(books.dataDir, 'voices')).sort()).toEqual(ids.sort())
    for (const id of ids) expect(await voices.find(id)).toMatchObject({ status: 'ready', error: null })
    const pending = 'SELECT id FROM voices WHERE status = $status OR id NOT IN (SELECT voice_id FROM operations)'
    expect(await database.all(pending, { status: 'processing' })).toEqual([])
    expect(await database.all('SELECT 1 FROM usage WHERE refunded_micros > 0')).not.toEqual([])
    for (const id of ids) await voices.remove(id, books.account.id)
    await database.close()
  }
})

test('SIGKILL in the middle of writing leaves a sound database, and recovery settles the rest', async () => {
  const books = await openBooks(1000 * openingMicros)
  await books.database.close()
  let settled = 0
  for (let round = 1; round <= 5; round++) {
    const writer = startChild(childCommand('write', books.dataDir))
    for (let lines = 0; lines < 3 + round; lines++) expect(await writer.line()).not.toBe('')
    writer.process.kill('SIGKILL')
    await writer.process.exited

    const database = await openSqlite(books.dataDir)
    const auditor = new Auditor(database)
    expect(await database.all<unknown>('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(await database.all('PRAGMA foreign_key_check')).toEqual([])
    expect(await auditor.faults(books.account.id)).toEqual([])
    const ledger = new SqlLedger(database, { clock: books.clock })
    const pending = await ledger.pendingCount()
    expect(pending).toBeGreaterThan(0)
    expect(await ledger.settleCrashed()).toBe(pending)
    expect(await ledger.pendingCount()).toBe(0)
    expect(await auditor.faults(books.account.id)).toEqual([])
    const { terminal } = (await database.get<{ terminal: number }>('SELECT count(*) AS terminal FROM operations'))!
    expect(terminal).toBeGreaterThan(settled)
    settled = terminal
    await database.close()
  }
})
