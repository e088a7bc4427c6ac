/** `rm`: a model leaves this machine, with blobs that nothing else is made of, and what an interrupted pull left. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Card, preparedFolder } from '../../domain/card.ts'
import type { Clock, Timer } from '../../domain/time.ts'
import type { OnEvent } from './events.ts'
import { putAside } from './install.ts'
import { type Lock, withLock } from './lock.ts'
import { readManifest } from '../manifest.ts'
import type { ModelsFolder } from '../models-folder.ts'
import { blobsWithin, sweepBlobs, sweepFolders, usedBlobs } from './sweep.ts'
import { knownOf } from './required.ts'

export interface RemoveParts {
  folder: ModelsFolder
  clock: Clock
  timer: Timer
  lock: Lock
  onEvent: OnEvent
}

export interface Removal {
  /** Whether anything of it existed. */
  wasThere: boolean
  freedBytes: number
}

/**
 * @param card null: this version of the program does not know the model
 * @param onGone called once it can no longer be loaded, before its blobs are removed
 * @throws the signal's reason, what the file system reports
 */
export async function remove(
  id: string,
  card: Card | null,
  parts: RemoveParts,
  signal: AbortSignal,
  onGone: () => Promise<void>,
): Promise<Removal> {
  const { folder, clock } = parts
  await folder.make()
  return withLock(parts, signal, async () => {
    const place = folder.model(id)
    const manifest = await readManifest(place)
    const named = [...(manifest?.files ?? []), ...(card?.files.map((file) => knownOf(file, null)) ?? [])]
    const blobs = new Set([...named.map(({ blob }) => blob), ...(await blobsWithin(folder, id))])
    let freedBytes = await preparedBytes(place)
    const wasInstalled = await putAside(folder, place)
    await onGone()
    const used = await usedBlobs(folder)
    for (const blob of blobs) {
      if (used.has(blob)) continue
      for (const path of [folder.blob(blob), folder.part(blob)]) {
        freedBytes += (await stat(path).catch(() => null))?.size ?? 0
        await rm(path, { recursive: true, force: true })
      }
    }
    await sweepFolders(folder)
    await sweepBlobs(folder, clock.nowMs())
    return { wasThere: wasInstalled || freedBytes > 0, freedBytes }
  })
}

/** Of what engines have made of its graphs, which is in no blob. */
async function preparedBytes(place: string): Promise<number> {
  const entries = await readdir(join(place, preparedFolder), { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name)).catch(() => null))?.size ?? 0)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
