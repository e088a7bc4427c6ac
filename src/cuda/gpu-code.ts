/**
 * Finds for which graphics processors a CUDA library has code. The compiler puts machine code for each architecture
 * (`sm_90`) and possibly PTX, which a driver can compile for later ones, into the section `.nv_fatbin`. A card without
 * either gets the error «no kernel image is available» from the driver in the middle of the work; this check finds out
 * before.
 *
 * The section is a row of containers: magic, version, size of the header, size of what follows; in it records with kind
 * (1: PTX, 2: machine code), sizes and, 28 bytes in, the architecture. As fatbinary_section.h of the CUDA toolkit and
 * the files themselves show it.
 */
import { ElfFile } from './elf-file.ts'

export interface GpuCode {
  /** Compute capabilities with machine code, times ten: 90 is 9.0. */
  machine: readonly number[]
  /** Also with PTX. */
  portable: readonly number[]
}

const magic = 0xba55ed50
const containerBytes = 16
const recordBytes = 32
const alignment = 8
/** Between two containers. */
const gapBytesMax = 4096

/** @throws RuntimeError `bad_library` */
export function readGpuCode(path: string): GpuCode {
  using file = new ElfFile(path)
  const section = file.section('.nv_fatbin')
  const kinds = { 1: new Set<number>(), 2: new Set<number>() }
  if (section !== null) collect(file, section.offset, section.offset + section.sizeBytes, kinds)
  const sorted = (found: ReadonlySet<number>) => [...found].sort((a, b) => a - b)
  return { machine: sorted(kinds[2]), portable: sorted(kinds[1]) }
}

function collect(file: ElfFile, from: number, end: number, kinds: Record<1 | 2, Set<number>>): void {
  let gapBytes = 0
  for (let at = from; at + containerBytes <= end;) {
    const container = file.read(at, containerBytes)
    if (container.readUInt32LE(0) !== magic) {
      at += alignment
      gapBytes += alignment
      if (gapBytes > gapBytesMax) throw file.damaged('its code for graphics cards is none')
      continue
    }
    gapBytes = 0
    const first = at + container.readUInt16LE(6)
    const next = first + Number(container.readBigUInt64LE(8))
    if (next > end || next <= at) throw file.damaged('its code for graphics cards goes beyond its place')
    for (let place = first; place + recordBytes <= next;) {
      const record = file.read(place, recordBytes)
      const kind = record.readUInt16LE(0)
      if (kind === 1 || kind === 2) kinds[kind].add(record.readUInt32LE(28))
      const size = record.readUInt32LE(4) + Number(record.readBigUInt64LE(8))
      if (size <= 0) throw file.damaged('its code for graphics cards has no end')
      place += size
    }
    at = next
  }
}

/**
 * Machine code runs on its own generation from its own step on (8.6 code on 8.9, not on 9.0), PTX on all that is newer.
 * Source: CUDA C++ programming guide, binary and PTX compatibility.
 * @param capability times ten
 */
export function runsOn({ machine, portable }: GpuCode, capability: number): boolean {
  const generation = (of: number) => Math.floor(of / 10)
  return (
    machine.some((code) => generation(code) === generation(capability) && code <= capability) ||
    portable.some((code) => code <= capability)
  )
}

/** `7.5, 8.0, 9.0`. */
export const capabilityText = (capabilities: readonly number[]): string =>
  capabilities.map((one) => `${Math.floor(one / 10)}.${one % 10}`).join(', ')
