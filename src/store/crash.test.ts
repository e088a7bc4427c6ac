/** Books whose writer is killed in the middle of its work, again and again. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Auditor } from './auditor.fixture.ts'
import { openBooks, openingMicros } from './books.fixture.ts'
import { childCommand, startChild } from './children.fixture.ts'
import { openDatabase } from './database.ts'
import { SqliteLedger } from './ledger.ts'

// Every commit waits for the disk, which others may keep busy.
setDefaultTimeout(30_000)

test('SIGKILL in the middle of writing leaves whole books, and recovery settles the rest', async () => {
  const books = await openBooks(1000 * openingMicros)
  books.database.close()
  let settled = 0
  for (let round = 1; round <= 5; round++) {
    const writer = startChild(childCommand('write', books.dataDir))
    for (let lines = 0; lines < 3 + round; lines++) expect(await writer.line()).not.toBe('')
    writer.process.kill('SIGKILL')
    await writer.process.exited

    const database = await openDatabase(books.dataDir)
    const auditor = new Auditor(database)
    expect(database.all<unknown>('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(database.all('PRAGMA foreign_key_check')).toEqual([])
    expect(auditor.faults(books.account.id)).toEqual([])
    const ledger = new SqliteLedger(database, { clock: books.clock })
    const pending = await ledger.pendingCount()
    expect(pending).toBeGreaterThan(0)
    expect(await ledger.settleCrashed()).toBe(pending)
    expect(await ledger.pendingCount()).toBe(0)
    expect(auditor.faults(books.account.id)).toEqual([])
    const { terminal } = database.get<{ terminal: number }>('SELECT count(*) AS terminal FROM operations')!
    expect(terminal).toBeGreaterThan(settled)
    settled = terminal
    database.close()
  }
})
