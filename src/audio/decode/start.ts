/** Where audio begins that has something before it: tags, or what a recorder or a broken download left there. */
import { adtsHeader, mpegHeader, type ReadHeader } from './frame-headers.ts'
import { type ClipBytes, pastId3 } from './source.ts'

/** How far it is looked for. */
const searchedBytes = 65_536
const framesNeeded = 4
const signatures = ['OggS\0', 'fLaC\0']
const rates = [48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000]
const headers: readonly ReadHeader[] = rates.flatMap((sampleRateHz) => [
  mpegHeader({ sampleRateHz, channels: 1 }),
  mpegHeader({ sampleRateHz, channels: 2 }),
  adtsHeader({ sampleRateHz }),
])

/** @returns 0 when it is not found further on */
export function startOf(clip: ClipBytes): number {
  const past = pastId3(clip, 0)
  if (past > 0 && past < clip.sizeBytes) return past
  const head = Buffer.from(clip.read(0, searchedBytes))
  const found = signatures.map((signature) => head.indexOf(signature, 1, 'latin1')).filter((at) => at > 0)
  if (found.length > 0) return Math.min(...found)
  for (let at = head.indexOf(0xff, 1); at > 0; at = head.indexOf(0xff, at + 1)) {
    if (headers.some((readHeader) => isStream(clip, at, readHeader))) return at
  }
  return 0
}

function isStream(clip: ClipBytes, start: number, readHeader: ReadHeader): boolean {
  for (let at = start, left = framesNeeded; left > 0; left--) {
    const header = readHeader(clip.read(at, at + 64))
    if (header === null) return false
    at += header.sizeBytes
  }
  return true
}
