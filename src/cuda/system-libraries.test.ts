import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { systemLibraries } from './system-libraries.ts'

function put(root: string, path: string, content: string | Uint8Array = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

/** A 64-bit library for this processor. */
const ours = process.arch === 'arm64' ? 0x0a00 : 0x0300

/** As `ldconfig` writes it: header, entries, names. */
function cacheOf(entries: readonly (readonly [name: string, path: string, mark?: number])[], before = ''): Buffer {
  const header = Buffer.alloc(48)
  header.write('glibc-ld.so.cache1.1')
  header.writeUInt32LE(entries.length, 20)
  const start = header.length + 24 * entries.length
  let text = ''
  const at = (name: string) => {
    const place = start + text.length
    text += `${name}\0`
    return place
  }
  const records = entries.map(([name, path, mark = ours]) => {
    const record = Buffer.alloc(24)
    record.writeUInt32LE(mark | 3, 0)
    record.writeUInt32LE(at(name), 4)
    record.writeUInt32LE(at(path), 8)
    return record
  })
  return Buffer.concat([Buffer.from(before), header, ...records, Buffer.from(text)])
}

const entries = [
  ['libcudart.so.13', '/usr/local/cuda/lib64/libcudart.so.13'],
  ['libtwice.so.1', '/opt/32/libtwice.so.1', 0x0800],
  ['libtwice.so.1', '/opt/gone/libtwice.so.1'],
  ['libtwice.so.1', '/opt/here/libtwice.so.1'],
] as const

test.each([
  ['', 'new'],
  ['ld.so-1.7.0\0\0\0\0', 'old and new'],
])('finds what the cache names, in its %p form', (before) => {
  const root = temporaryFolder()
  put(root, 'etc/ld.so.cache', cacheOf(entries, before))
  put(root, 'usr/local/cuda/lib64/libcudart.so.13')
  put(root, 'opt/32/libtwice.so.1')
  put(root, 'opt/here/libtwice.so.1')
  put(root, 'usr/lib64/libplain.so.2')
  const find = systemLibraries(root)
  expect(find('libcudart.so.13')).toBe(join(root, 'usr/local/cuda/lib64/libcudart.so.13'))
  expect(find('libtwice.so.1')).toBe(join(root, 'opt/here/libtwice.so.1'))
  expect(find('libplain.so.2')).toBe(join(root, 'usr/lib64/libplain.so.2'))
  expect(find('libnone.so.1')).toBeNull()
})

test('a cache that is cut short or of another form leaves the default folders', () => {
  const root = temporaryFolder()
  put(root, 'usr/lib64/libplain.so.2')
  const whole = cacheOf(entries)
  for (const content of [whole.subarray(0, 60), whole.subarray(0, 30), Buffer.from('another form'), Buffer.alloc(0)]) {
    put(root, 'etc/ld.so.cache', content)
    expect(systemLibraries(root)('libplain.so.2')).toBe(join(root, 'usr/lib64/libplain.so.2'))
    expect(systemLibraries(root)('libcudart.so.13')).toBeNull()
  }
})

// The cache of this machine, if it has one: without the C++ library this test could not run.
test('finds the C++ library of this machine', () => {
  expect(systemLibraries()('libstdc++.so.6')).toEndWith('/libstdc++.so.6')
})
