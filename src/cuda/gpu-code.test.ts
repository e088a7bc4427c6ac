import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { capabilityText, readGpuCode, runsOn } from './gpu-code.ts'
import { libraryOf } from './library.fixture.ts'

const folder = temporaryFolder()

function written(content: Uint8Array): string {
  const path = join(folder, 'libtest.so')
  writeFileSync(path, content)
  return path
}

const code = [
  [2, 90],
  [2, 75],
  [2, 90],
  [1, 120],
  [8, 50],
] as const

test('lists the cards with machine code, and PTX', () => {
  expect(readGpuCode(written(libraryOf({ code })))).toEqual({ machine: [75, 90], portable: [120] })
  expect(readGpuCode(written(libraryOf({})))).toEqual({ machine: [], portable: [] })
})

test('machine code runs within its generation, PTX on everything newer', () => {
  const cards = [61, 75, 80, 86, 89, 90, 100, 103, 120, 121]
  const on = (machine: number[], portable: number[]) => cards.filter((card) => runsOn({ machine, portable }, card))
  expect(on([75, 80, 86, 89, 90, 120], [])).toEqual([75, 80, 86, 89, 90, 120, 121])
  expect(on([86], [])).toEqual([86, 89])
  expect(on([75], [90])).toEqual([75, 90, 100, 103, 120, 121])
  expect(on([], [])).toEqual([])
  expect(capabilityText([61, 90, 121])).toBe('6.1, 9.0, 12.1')
})

/** The position of the first container. */
const magicAt = (library: Buffer): number => library.indexOf(Buffer.from([0x50, 0xed, 0x55, 0xba]))

test.each([
  ['a container beyond its place', 8, 0xff, 'goes beyond its place'],
  ['a record without a size', 16 + 4, 0, 'has no end'],
])('refuses %s', (_, at, value, message) => {
  const library = libraryOf({ code })
  const place = magicAt(library) + at
  library[place] = value
  if (at !== 8) library.fill(0, place, place + 12)
  expect(() => readGpuCode(written(library))).toThrow(message)
})

test('searches no further than a gap between two containers', () => {
  const library = libraryOf({ code: Array.from({ length: 100 }, () => [2, 90] as const) })
  library.fill(0, magicAt(library), magicAt(library) + 4)
  expect(() => readGpuCode(written(library))).toThrow('its code for graphics cards is none')
})
