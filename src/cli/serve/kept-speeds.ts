/**
 * Keeps how fast models are on this machine, in the data folder, across restarts. It is a file and not a table of the
 * database, because servers that share one are not equally fast.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Timer } from '../../domain/time.ts'
import { Speeds } from '../../service/speeds.ts'

const everyMs = 60_000

export interface KeptSpeeds {
  speeds: Speeds
  /** Writes them down for the last time. */
  close(): void
}

/** @param device where models run: those of another are not known @param onError a file that cannot be written */
export function keepSpeeds(
  dataDir: string,
  device: string,
  timer: Timer,
  onError: (error: unknown) => void,
): KeptSpeeds {
  const path = join(dataDir, 'speeds.json')
  const all = readAll(path)
  const speeds = new Speeds(all[device], availableParallelism())
  let written = JSON.stringify(speeds.kept)
  const write = () => {
    const now = JSON.stringify(speeds.kept)
    if (now === written) return
    try {
      writeFileSync(`${path}.part`, JSON.stringify({ ...all, [device]: speeds.kept }), { mode: 0o600 })
      renameSync(`${path}.part`, path)
      written = now
    } catch (error) {
      onError(error)
    }
  }
  const again = (): (() => void) =>
    timer.after(everyMs, () => {
      write()
      cancel = again()
    })
  let cancel = again()
  return {
    speeds,
    close() {
      cancel()
      write()
    },
  }
}

/** What cannot be read is measured anew. */
function readAll(path: string): Record<string, unknown> {
  try {
    const all: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof all === 'object' && all !== null && !Array.isArray(all) ? (all as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
