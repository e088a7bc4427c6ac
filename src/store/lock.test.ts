/** The lock of a data folder, with real processes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { childCommand, startChild } from './children.fixture.ts'
import { StoreError } from './errors.ts'
import { acquireLock, isLocked } from './lock.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

test('a folder has one owner at a time', () => {
  const dataDir = temporaryFolder()
  expect(isLocked(dataDir)).toBe(false)
  const lock = acquireLock(dataDir)
  expect(isLocked(dataDir)).toBe(true)
  expect(() => acquireLock(dataDir)).toThrow(new StoreError(`Another myna serves this data folder: ${dataDir}`))
  expect(isLocked(dataDir)).toBe(true)
  lock.release()
  lock.release()
  expect(isLocked(dataDir)).toBe(false)
  acquireLock(dataDir).release()
})

test('the lock works across processes, and SIGKILL frees it', async () => {
  const dataDir = temporaryFolder()
  const owner = startChild(childCommand('lock', dataDir))
  expect(await owner.line()).toBe('locked')
  expect(isLocked(dataDir)).toBe(true)
  expect(() => acquireLock(dataDir)).toThrow(/Another myna serves/)
  const second = startChild(childCommand('lock', dataDir))
  expect(await second.line()).toContain('Another myna serves this data folder')
  await second.process.exited

  owner.process.kill('SIGKILL')
  await owner.process.exited
  expect(isLocked(dataDir)).toBe(false)
  acquireLock(dataDir).release()
})

test('asking whether the lock is held does not prevent a server from taking it', async () => {
  const dataDir = temporaryFolder()
  acquireLock(dataDir).release()
  const asker = startChild(childCommand('ask', dataDir))
  expect(await asker.line()).toBe('asking')
  for (let round = 0; round < 500; round++) acquireLock(dataDir).release()
  asker.process.kill('SIGKILL')
  await asker.process.exited
})

test('names a folder that cannot exist', () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  expect(() => acquireLock(file)).toThrow(`The data folder ${file} cannot be created or written`)
  expect(() => acquireLock(join(file, 'below'))).toThrow(`The data folder ${file}/below cannot be created or written`)
})
