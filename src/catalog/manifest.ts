/**
 * Records what an installed model consists of, written beside its files once all of them exist: the manifest is what
 * makes a model installed. It pins what the hub had where the card does not say, and everything is compared with it
 * ever after.
 */
import { readFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Card, CardFile } from '../domain/card.ts'
import { isBlobName } from './models-folder.ts'

/** No card may call a file so. */
export const manifestName = 'myna.json'

/** What a file's content was compared with: the card, the hub's statement, or only itself. */
export type Evidence = 'card' | 'hub' | 'none'

export interface InstalledFile {
  /** Name in the card. */
  name: string
  sizeBytes: number
  sha256: string
  /** The blob it is a link to. */
  blob: string
  repo: string
  /** As in the card. */
  revision: string
  /** The commit when it was pulled; the same if the card names a commit, or the file was imported. */
  commit: string
  path: string
  evidence: Evidence
}

export interface Manifest {
  id: string
  installedAtMs: number
  /** The card that the user's own files replace; null: they are the files of the card `id`. */
  like: string | null
  files: readonly InstalledFile[]
}

const version = 1

export function manifestText({ id, installedAtMs, like, files }: Manifest): string {
  const written = files.map(({ sizeBytes, ...file }) => ({ ...file, size_bytes: sizeBytes }))
  const origin = like === null ? {} : { like }
  return `${JSON.stringify({ version, id, installed_at_ms: installedAtMs, ...origin, files: written }, null, 2)}\n`
}

/** @param folder of the installed model @returns null if the manifest is missing or unreadable */
export async function readManifest(folder: string): Promise<Manifest | null> {
  return parseManifest(await readFile(join(folder, manifestName), 'utf8').catch(() => null))
}

export function readManifestSync(folder: string): Manifest | null {
  try {
    return parseManifest(readFileSync(join(folder, manifestName), 'utf8'))
  } catch {
    return null
  }
}

function parseManifest(text: string | null): Manifest | null {
  const value = text === null ? null : parseJson(text)
  if (!isFields(value) || value.version !== version || !Array.isArray(value.files)) return null
  const { id, installed_at_ms: installedAtMs, like = null } = value
  const files = value.files.map(readEntry)
  if (typeof id !== 'string' || typeof installedAtMs !== 'number' || !files.every((file) => file !== null)) return null
  if (like !== null && typeof like !== 'string') return null
  return { id, installedAtMs, like, files }
}

function readEntry(value: unknown): InstalledFile | null {
  if (!isFields(value)) return null
  const { name, size_bytes: sizeBytes, sha256, blob, repo, revision, commit, path, evidence } = value
  if (typeof name !== 'string' || typeof repo !== 'string' || typeof revision !== 'string') return null
  if (typeof commit !== 'string') return null
  if (typeof path !== 'string' || typeof sizeBytes !== 'number' || !Number.isSafeInteger(sizeBytes)) return null
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return null
  if (typeof blob !== 'string' || !isBlobName(blob)) return null
  if (evidence !== 'card' && evidence !== 'hub' && evidence !== 'none') return null
  return { name, sizeBytes, sha256, blob, repo, revision, commit, path, evidence }
}

/** What an earlier installation knows about a card's file; null: nothing that still applies. */
export function pinOf(file: CardFile, manifest: Manifest | null): InstalledFile | null {
  const pin = manifest?.files.find(({ name }) => name === file.name)
  if (pin === undefined || pin.repo !== file.repo || pin.path !== file.path || pin.revision !== file.revision)
    return null
  const agrees =
    (file.sha256 === null || file.sha256 === pin.sha256) &&
    (file.sizeBytes === null || file.sizeBytes === pin.sizeBytes)
  return agrees ? pin : null
}

/** Whether the installed files are those of today's card: an upgrade of the program may expect others. */
export const fits = (card: Card, manifest: Manifest): boolean =>
  manifest.id === card.id && card.files.every((file) => pinOf(file, manifest) !== null)

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
