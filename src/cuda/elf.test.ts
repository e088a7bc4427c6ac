import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onnxRuntimeVersion, openOnnxRuntime } from '../embedded/onnx-runtime.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { Seeded } from '../testing/seeded.ts'
import { readElf } from './elf.ts'
import { readGpuCode } from './gpu-code.ts'
import { libraryOf } from './library.fixture.ts'
import { RuntimeError } from './runtime-error.ts'

const folder = temporaryFolder()

function written(content: Uint8Array): string {
  const path = join(folder, 'libtest.so')
  writeFileSync(path, content)
  return path
}

const whole = libraryOf({
  soname: 'libtest.so.1',
  needed: ['libone.so.1', 'libc.so.6'],
  runpath: '$ORIGIN:/opt/lib',
  versions: ['VERS_1.2.3', 'VERS_1.2.4'],
  code: [[2, 90]],
})

test('reads what a library declares to the loader', () => {
  expect(readElf(written(whole))).toEqual({
    soname: 'libtest.so.1',
    needed: ['libone.so.1', 'libc.so.6'],
    runpath: ['$ORIGIN', '/opt/lib'],
    versions: ['VERS_1.2.3', 'VERS_1.2.4'],
  })
  expect(readElf(written(libraryOf({})))).toEqual({ soname: null, needed: [], runpath: [], versions: [] })
})

test("the program's own ONNX Runtime names its release, and needs nothing but the system's libraries", () => {
  const { soname, needed, runpath, versions } = openOnnxRuntime(readElf)
  expect({ soname, runpath, versions }).toEqual({
    soname: 'libonnxruntime.so.1',
    runpath: ['$ORIGIN'],
    versions: [`VERS_${onnxRuntimeVersion}`],
  })
  expect(needed).toContain('libstdc++.so.6')
  expect(needed.filter((name) => name.startsWith('libonnxruntime'))).toEqual([])
})

const changed = (at: number, value: number): Buffer => {
  const copy = Buffer.from(whole)
  copy[at] = value
  return copy
}

test.each([
  ['an empty file', Buffer.alloc(0), 'libtest.so is not a shared library: it is too short.'],
  ['a text', Buffer.from('<html>'.repeat(50)), 'libtest.so is not a shared library: it does not begin like one.'],
  ['32 bits', changed(4, 1), 'libtest.so is a library for another kind of machine (not 64 bits, little-endian).'],
  ['big-endian', changed(5, 2), 'libtest.so is a library for another kind of machine (not 64 bits, little-endian).'],
  ['a program', changed(0x10, 2), 'libtest.so is not a shared library, but another kind of ELF file.'],
  [
    'PowerPC',
    changed(0x12, 21),
    `libtest.so is a library for another processor (number 21; this one is ${process.arch}).`,
  ],
])('%s is refused by name', (_, content, message) => {
  expect(() => readElf(written(content))).toThrow(new RuntimeError('bad_library', message))
})

test('refuses a library that is cut short, wherever the cut is', () => {
  for (let length = 0; length < whole.length; length++) {
    expect(() => readElf(written(whole.subarray(0, length)))).toThrow(RuntimeError)
  }
  const half = whole.subarray(0, whole.length - 1)
  expect(() => readElf(written(half))).toThrow(`it was cut short: ${half.length} of ${whole.length} bytes are there`)
})

test('random bytes are read or refused', () => {
  const seed = 20_261_121
  const random = new Seeded(seed)
  let refused = 0
  for (let round = 0; round < 3000; round++) {
    const copy = Buffer.from(whole)
    const values = random.fill(new Uint8Array(9))
    for (let at = 0; at < 3; at++) {
      const place = ((values[3 * at] ?? 0) * 256 + (values[3 * at + 1] ?? 0)) % copy.length
      copy[place] = values[3 * at + 2] ?? 0
    }
    const path = written(copy)
    for (const read of [readElf, readGpuCode]) {
      try {
        read(path)
      } catch (error) {
        if (!(error instanceof RuntimeError)) throw new Error(`seed ${seed}, round ${round}: ${error}`)
        refused++
      }
    }
  }
  expect(refused).toBeGreaterThan(100)
})
