/**
 * Refuses an MP4 that claims more samples in a chunk, or more chunks, than it has bytes. mediabunny counts them one by
 * one, up to the four billion that a damaged table can claim: a file of 9 kB kept a processor busy until the deadline.
 */
import type { ClipBytes } from './source.ts'
import { bigEndian, boxesOf } from './units.ts'

/** A table of chunks with its parents (ISO 14496-12, 8.7.4). */
const path = ['trak', 'mdia', 'minf', 'stbl', 'stsc']
const boxHeadBytes = 8
const largeSizeBytes = 8
const tableHeadBytes = 8
const entryBytes = 12
/** The boxes on the top level of a file without fragments are a few; more are not worth the search. */
const maxBoxes = 64

/** @throws Error when a table claims what cannot be */
export function refuseFalseChunks(clip: ClipBytes): void {
  for (const table of chunkTablesOf(clip)) {
    for (let at = tableHeadBytes; at + entryBytes <= table.length; at += entryBytes) {
      const claimed = Math.max(bigEndian(table, at, 4), bigEndian(table, at + 4, 4))
      if (claimed > clip.sizeBytes)
        throw new Error(`an MP4 of ${clip.sizeBytes} bytes claims ${claimed} chunks or samples`)
    }
  }
}

/** Empty for another format: its first bytes, read as a size, lead behind its end. */
function chunkTablesOf(clip: ClipBytes): Uint8Array[] {
  let at = 0
  for (let boxes = 0; boxes < maxBoxes && at < clip.sizeBytes; boxes++) {
    const head = clip.read(at, at + boxHeadBytes + largeSizeBytes)
    const short = bigEndian(head, 0, 4)
    const sizeBytes = short === 1 ? bigEndian(head, boxHeadBytes, largeSizeBytes) : short
    if (String.fromCharCode(...head.subarray(4, boxHeadBytes)) === 'moov') {
      const movie = clip.read(at + boxHeadBytes, at + sizeBytes)
      return path.reduce<Uint8Array[]>((parents, name) => parents.flatMap((box) => boxesOf(box, name)), [movie])
    }
    if (sizeBytes < boxHeadBytes) break
    at += sizeBytes
  }
  return []
}
