import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { discard } from './discard.ts'

test('an array is empty afterwards, and so are all views of its memory', () => {
  const data = new Float32Array(1000).fill(1)
  const part = data.subarray(10, 20)
  discard(part)
  expect([data.length, part.length]).toEqual([0, 0])
  discard(data)
})

test('a thousand arrays of 4 MB do not wait for the collector', () => {
  const residentBytes = () => process.memoryUsage.rss()
  Bun.gc(true)
  const before = residentBytes()
  for (let i = 0; i < 1000; i++) discard(new Float32Array(1_000_000).fill(i))
  expect(residentBytes() - before).toBeLessThan(500e6)
})

test('discarding a mapped file frees its memory', async () => {
  const path = join(temporaryFolder(), 'mapped-file')
  await Bun.write(path, new Uint8Array(100_000).fill(7))
  const isMapped = () => readFileSync('/proc/self/maps', 'utf8').includes(path)
  const mapped = Bun.mmap(path)
  expect([mapped[99_999], isMapped()]).toEqual([7, true])
  discard(mapped)
  expect([mapped.length, isMapped()]).toEqual([0, false])
})
