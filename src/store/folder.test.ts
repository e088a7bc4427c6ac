import { expect, test } from 'bun:test'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { acquireLock } from './lock.ts'
import { openSqlite } from './sqlite.ts'

/** Files that other users could read or write. */
const openOnes = (folder: string): string[] =>
  readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)

test('the database, its log and the lock are closed to other users, even in an open folder', async () => {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const umask = process.umask(0o022)
  try {
    const lock = acquireLock(folder)
    const database = await openSqlite(folder)
    const files = ['myna.db', 'myna.db-shm', 'myna.db-wal', 'server.lock']
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(files))
    expect(openOnes(folder)).toEqual([])
    await database.close()
    lock.release()
    expect(openOnes(folder)).toEqual([])
  } finally {
    process.umask(umask)
  }
})

test('files of an earlier version are closed at the next opening', async () => {
  const folder = temporaryFolder()
  await (await openSqlite(folder)).close()
  chmodSync(join(folder, 'myna.db'), 0o644)
  const database = await openSqlite(folder)
  expect(openOnes(folder)).toEqual([])
  await database.close()
})
