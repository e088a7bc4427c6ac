/** Verifies files already on disk; a pull and an import keep the good ones and get the rest. */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Content, Digest, digestFile } from './digest.ts'
import type { OnEvent } from './events.ts'
import type { Manifest } from '../manifest.ts'
import { codeOf, linkFile, type ModelsFolder } from '../models-folder.ts'
import { contradiction, hasHash, type Wanted } from './required.ts'

export interface HeldParts {
  folder: ModelsFolder
  onEvent: OnEvent
}

/** Contents by blob. */
export type Held = Map<string, Content>

/** The wanted files that exist and are good. @throws the signal's reason */
export async function holdAll(
  cardId: string,
  wanted: readonly Wanted[],
  { folder, onEvent }: HeldParts,
  signal: AbortSignal,
): Promise<Held> {
  const held: Held = new Map()
  for (const one of distinct(wanted)) {
    const blob = folder.blob(one.blob)
    const copy = join(folder.model(cardId), one.file.name)
    const good = await goodContent(blob, one, onEvent, signal)
    if (good !== null) {
      held.set(one.blob, good)
      continue
    }
    // The blobs may have been deleted; or the folder has copies, and one of them has outlived its blob.
    const saved = hasHash(one) && !(await isSameFile(blob, copy)) ? await goodContent(copy, one, onEvent, signal) : null
    if (saved === null) continue
    await rm(blob, { recursive: true, force: true })
    await linkFile(copy, blob)
    held.set(one.blob, saved)
  }
  return held
}

/** Two files of one content are wanted once. */
export const distinct = (wanted: readonly Wanted[]): Wanted[] => [
  ...new Map(wanted.map((one) => [one.blob, one])).values(),
]

/** @returns null when nothing good is there; what is bad stays until something better takes its place */
async function goodContent(
  path: string,
  wanted: Wanted,
  onEvent: OnEvent,
  signal: AbortSignal,
): Promise<Content | null> {
  const found = await stat(path).catch(() => null)
  if (found === null) return null
  const { name } = wanted.file
  onEvent({ event: 'checking', name, sizeBytes: found.size })
  const content = await contentOf(path, wanted.gitSha1 === null ? null : wanted.sizeBytes, signal)
  if (content !== null && contradiction(wanted, content) === null) return content
  onEvent({ event: 'damaged', name })
  return null
}

/** null: it cannot be read to its end. */
async function contentOf(path: string, gitSizeBytes: number | null, signal: AbortSignal): Promise<Content | null> {
  const digest = new Digest(gitSizeBytes)
  try {
    await digestFile(path, digest, signal)
    return digest.content()
  } catch (error) {
    signal.throwIfAborted()
    // A folder of that name, or a sector that has died.
    if (['EISDIR', 'EIO'].includes(codeOf(error))) return null
    throw error
  }
}

/** Whether every file of an installed model is its blob, or the same bytes. @param held the model's blobs */
export async function isIntact(
  folder: ModelsFolder,
  manifest: Manifest,
  held: Held,
  signal: AbortSignal,
): Promise<boolean> {
  for (const { name, blob } of manifest.files) {
    const path = join(folder.model(manifest.id), name)
    const content = held.get(blob)
    if (content === undefined) return false
    if (await isSameFile(path, folder.blob(blob))) continue
    if ((await contentOf(path, null, signal).catch(() => null))?.sha256 !== content.sha256) return false
  }
  return true
}

async function isSameFile(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((path) => stat(path).catch(() => null)))
  return one != null && other != null && one.ino === other.ino && one.dev === other.dev
}
