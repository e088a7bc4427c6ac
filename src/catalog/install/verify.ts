/** `verify`: every file of an installed model is read through and held against what was installed. Changes nothing. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import { Digest, digestFile } from './digest.ts'
import type { OnEvent } from './events.ts'
import { fits, type InstalledFile, readManifest } from '../manifest.ts'
import { codeOf, type ModelsFolder } from '../models-folder.ts'

/** The state of a file; `unknown`: it exists, and there is no record of what it should be. */
export type FileState = 'good' | 'damaged' | 'missing' | 'unknown'

export interface Verification {
  id: string
  /** The model is whole, and the one that the card means. */
  isGood: boolean
  /** Why the model is not good, if the reason is not a file; null: it is good, or a file is the reason. */
  reason: string | null
  files: readonly { name: string; sizeBytes: number | null; state: FileState }[]
}

/** @throws the signal's reason */
export async function verify(
  card: Card,
  { folder, onEvent }: { folder: ModelsFolder; onEvent: OnEvent },
  signal: AbortSignal,
): Promise<Verification> {
  const place = folder.model(card.id)
  const manifest = await readManifest(place)
  const files: { name: string; sizeBytes: number | null; state: FileState }[] = []
  for (const { name } of card.files) {
    const path = join(place, name)
    const sizeBytes = (await stat(path).catch(() => null))?.size ?? null
    if (sizeBytes !== null) onEvent({ event: 'checking', name, sizeBytes })
    const known = manifest?.files.find((file) => file.name === name) ?? null
    const state = known === null ? (sizeBytes === null ? 'missing' : 'unknown') : await stateOf(path, known, signal)
    files.push({ name, sizeBytes, state })
  }
  const reason =
    manifest === null ? 'there is no record of what was installed' : fits(card, manifest) ? null : otherVersion
  return { id: card.id, isGood: reason === null && files.every(({ state }) => state === 'good'), reason, files }
}

const otherVersion = 'this version of Myna expects other files than those that were installed'

async function stateOf(path: string, { sizeBytes, sha256 }: InstalledFile, signal: AbortSignal): Promise<FileState> {
  const found = await stat(path).catch(() => null)
  if (found === null) return 'missing'
  if (!found.isFile() || found.size !== sizeBytes) return 'damaged'
  const digest = new Digest(null)
  try {
    await digestFile(path, digest, signal)
  } catch (error) {
    // A sector that has died is damage like any other.
    if (codeOf(error) !== 'EIO') throw error
  }
  return digest.content().sha256 === sha256 ? 'good' : 'damaged'
}
