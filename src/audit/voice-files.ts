/**
 * The files of cloned voices against their rows: a voice that is ready has all of its files, and its clip is the one
 * that was uploaded. Voices come and go while this looks: what is missing is looked up again in the database as it is
 * then, and counts only if the voice is still there.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ask, Fault } from './rules.ts'

/** In `voices/<voice id>/`. */
const files = ['clip', 'preview.wav', 'reference.wav', 'state'] as const

/**
 * @param ask answers from one moment
 * @param isThere whether there is a row of this voice now
 * @returns what is wrong, and how many files were read
 */
export async function voiceFaults(
  dataDir: string,
  ask: Ask,
  isThere: (voiceId: string) => boolean,
): Promise<{ faults: Fault[]; count: number }> {
  const faults: Fault[] = []
  let count = 0
  const voices = await ask(`
    SELECT id, clip_hash, clip_bytes FROM voices
    WHERE status = 'ready' AND category = 'cloned' AND clip_hash IS NOT NULL`)
  for (const { id, clip_hash: hash, clip_bytes: bytes } of voices) {
    const folder = join(dataDir, 'voices', String(id))
    const found = await Promise.all(files.map((name) => sizeOf(join(folder, name))))
    const missing = files.filter((_, index) => (found[index] ?? 0) === 0)
    count += files.length - missing.length
    const words = missing.length > 0 ? `the voice ${id} has no ${missing.join(', no ')}` : null
    // Deleted since the moment of the rows.
    if (words !== null && !isThere(String(id))) continue
    if (words !== null) {
      faults.push({ rule: 'files of a voice', words })
    } else if (found[0] !== bytes || (await hashOf(join(folder, 'clip'))) !== hash) {
      faults.push({ rule: 'clip of a voice', words: `the clip of the voice ${id} is not the one that was uploaded` })
    }
  }
  return { faults, count }
}

export async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
