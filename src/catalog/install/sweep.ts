/**
 * Clearing up below `<data folder>/models`: what a killed command left of a folder that it was building or taking away,
 * and blobs that no installed model is made of. Only with the lock held.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readManifest } from '../manifest.ts'
import { blobOf, gonePrefix, type ModelsFolder, namesIn, newPrefix } from '../models-folder.ts'

/** How long an interrupted pull can be resumed. */
const orphanMs = 7 * 86_400_000

export async function sweepFolders(folder: ModelsFolder): Promise<void> {
  for (const place of [folder.path, folder.installed]) {
    const left = (await namesIn(place)).filter((name) => name.startsWith(newPrefix) || name.startsWith(gonePrefix))
    for (const name of left) await rm(join(place, name), { recursive: true, force: true })
  }
}

/** To be run at the end of a command: earlier, the blobs that it will use would look unused. */
export async function sweepBlobs(folder: ModelsFolder, nowMs: number): Promise<void> {
  const used = await usedBlobs(folder)
  for (const name of await namesIn(folder.blobs)) {
    const blob = blobOf(name)
    if (blob === null || used.has(blob)) continue
    const path = join(folder.blobs, name)
    const found = await stat(path).catch(() => null)
    if (found !== null && nowMs - found.mtimeMs > orphanMs) await rm(path, { recursive: true, force: true })
  }
}

/** Blobs of all installed models. */
export async function usedBlobs(folder: ModelsFolder): Promise<Set<string>> {
  const manifests = await Promise.all((await folder.modelIds()).map((id) => readManifest(folder.model(id))))
  return new Set(manifests.flatMap((manifest) => manifest?.files.map(({ blob }) => blob) ?? []))
}

/** Blobs that are the same files as those in a model's folder, for a folder whose manifest is gone. */
export async function blobsWithin(folder: ModelsFolder, cardId: string): Promise<string[]> {
  const place = folder.model(cardId)
  const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const inodes = new Set((await Promise.all(files.map((path) => stat(path)))).map(({ ino }) => ino))
  const names = (await namesIn(folder.blobs)).filter((name) => blobOf(name) === name)
  const found = await Promise.all(names.map((name) => stat(join(folder.blobs, name)).catch(() => null)))
  return names.filter((_, at) => inodes.has(found[at]?.ino ?? -1))
}
