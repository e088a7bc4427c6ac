import { beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, sha256Of } from '../../testing/hub.ts'
import { never } from '../../testing/test-model.ts'
import { cannotWrite, Part } from './partial-file.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'blob.part')
})
const content = randomBytes(1, 3_000_000)

test('another process continues the file of the first, and the digest covers all of it', async () => {
  const first = await Part.open(path, content.length, never)
  await first.append(content.subarray(0, 1_234_567))
  await first.close()
  const second = await Part.open(path, content.length, never)
  expect(second.sizeBytes).toBe(1_234_567)
  await second.append(content.subarray(1_234_567))
  const git = new Bun.CryptoHasher('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
  expect(second.content()).toEqual({ sizeBytes: content.length, sha256: sha256Of(content), gitSha1: git })
  await second.keep(join(folder, 'blob'))
  await second.close()
  expect(sha256Of(readFileSync(join(folder, 'blob')))).toBe(sha256Of(content))
})

test('a partial file can be started over', async () => {
  const part = await Part.open(path, null, never)
  await part.append(content.subarray(0, 1000))
  await part.restart()
  await part.append(content.subarray(5, 10))
  expect(part.content()).toEqual({ sizeBytes: 5, sha256: sha256Of(content.subarray(5, 10)), gitSha1: null })
  await part.close()
  expect(readFileSync(path)).toEqual(Buffer.from(content.subarray(5, 10)))
})

test('the file is readable for all users, not only for the one that pulls', async () => {
  const before = process.umask(0o077)
  try {
    const part = await Part.open(path, null, never)
    await part.close()
  } finally {
    process.umask(before)
  }
  expect((statSync(path).mode & 0o777).toString(8)).toBe('644')
})

test('reading the existing bytes stops when it is aborted', async () => {
  writeFileSync(path, content)
  await expect(Part.open(path, null, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
})

test('names a path that cannot be written', async () => {
  mkdirSync(path)
  await expect(Part.open(path, null, never)).rejects.toMatchObject({
    code: 'cannot_write',
    message: expect.stringContaining(`${path} cannot be written: EISDIR`),
  })
})

test('reports a full disk as such', () => {
  const full = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' })
  expect(cannotWrite(path, full)).toMatchObject({
    code: 'disk_full',
    message: `The disk of ${folder} is full. The partial download is kept: free some space and run this again.`,
  })
})
