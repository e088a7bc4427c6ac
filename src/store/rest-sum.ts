/**
 * A checksum of the database while it is closed (`myna.db.sum`): written by an orderly end, compared at the next start.
 * It finds every flipped bit and every page that a disk lost or took from an older time, even where SQLite's own checks
 * see a well-formed database. It applies only to a file of the recorded size and time: replacing or changing the
 * database is allowed. It is never read while the database is open, because closing the file would drop SQLite's locks
 * on it.
 */
import { closeSync, openSync, readFileSync, readSync, renameSync, statSync, writeFileSync } from 'node:fs'

const blockBytes = 4 * 1024 * 1024

/** After the last connection has closed. Never throws. @param path of the database */
export function writeSum(path: string): void {
  try {
    const { size, mtimeNs } = statSync(path, { bigint: true })
    const temp = `${path}.sum.part`
    writeFileSync(temp, `${size} ${mtimeNs} ${sumOf(path)}\n`, { mode: 0o600 })
    renameSync(temp, `${path}.sum`)
  } catch {
    // A full disk: the next start compares nothing.
  }
}

/** Before the database is opened. @returns what is wrong; null: nothing, or nothing to compare with */
export function sumDamage(path: string): string | null {
  const [size, mtimeNs, sum] = written(path)
  try {
    const found = statSync(path, { bigint: true })
    if (String(found.size) !== size || String(found.mtimeNs) !== mtimeNs) return null
    return sumOf(path) === sum ? null : 'it is not as it was when it was closed, and nothing wrote to it since'
  } catch {
    return null
  }
}

function written(path: string): string[] {
  try {
    return readFileSync(`${path}.sum`, 'utf8').trim().split(' ')
  } catch {
    return []
  }
}

/** About 3 GB a second from memory. */
function sumOf(path: string): string {
  const file = openSync(path, 'r')
  try {
    const block = Buffer.alloc(blockBytes)
    let sum = 0n
    for (;;) {
      const bytes = readSync(file, block)
      if (bytes === 0) return sum.toString(16)
      // Each block's sum begins from the one before, so that their order counts.
      sum = Bun.hash.xxHash64(block.subarray(0, bytes), sum)
    }
  } finally {
    closeSync(file)
  }
}
