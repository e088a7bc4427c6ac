/**
 * Finds by its first bytes what cannot be audio: it is refused where it arrives, in the same words as by a decoder,
 * which would cost 35 ms of a processor and a thread. What might be audio is passed to one.
 */
import { adtsHeader, mpegHeader, type ReadHeader } from './frame-headers.ts'
import { refusalOf, type Refusal } from './refusal.ts'

/** How far a look goes. */
export const lookedAtBytes = 65_536

/** Offset and bytes (latin-1) with which a container that is decoded may begin. */
const beginnings: readonly [number, string][] = [
  [0, 'RIFF'],
  [0, 'RIFX'],
  [0, 'RF64'],
  [0, 'fLaC'],
  [0, 'OggS'],
  [0, '\x1a\x45\xdf\xa3'],
  [0, 'ID3'],
  ...['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp', 'moof', 'sidx'].map((box): [number, string] => [
    4,
    box,
  ]),
]
/** These are found behind leftovers, too. */
const laterBeginnings = ['OggS\0', 'fLaC\0']
const rates = [48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000]
const headers: readonly ReadHeader[] = rates.flatMap((sampleRateHz) => [
  mpegHeader({ sampleRateHz, channels: 1 }),
  mpegHeader({ sampleRateHz, channels: 2 }),
  adtsHeader({ sampleRateHz }),
])

/** @param head the first bytes of the file, as many as are looked at @returns null: it may be audio */
export function garbageRefusal(head: Uint8Array): Refusal | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const begins = ([at, signature]: readonly [number, string]) =>
    bytes.toString('latin1', at, at + signature.length) === signature
  if (beginnings.some(begins)) return null
  if (laterBeginnings.some((signature) => bytes.includes(signature, 0, 'latin1'))) return null
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) if (isFrame(bytes, at)) return null
  return refusalOf(head)
}

/** A header that another follows, at the distance that it gives; at the very beginning, or the end, one is enough. */
function isFrame(bytes: Buffer, at: number): boolean {
  return headers.some((readHeader) => {
    const header = readHeader(bytes.subarray(at, at + 64))
    if (header === null) return false
    const next = at + header.sizeBytes
    return (
      at === 0 ||
      next + 8 > lookedAtBytes ||
      (next < bytes.length && readHeader(bytes.subarray(next, next + 64)) !== null)
    )
  })
}
