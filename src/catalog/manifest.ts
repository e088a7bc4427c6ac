/**
 * What an installed model consists of, written beside its files when all of them are there: its being there is what
 * makes a model installed. It pins what the hub was found to hold where the card does not say, and everything is held
 * against it ever after.
 */
import { readFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Card, CardFile } from '../domain/card.ts'
import { isBlobName } from './models-folder.ts'

/** No card may call a file so. */
export const manifestName = 'myna.json'

/** What a file's content was held against: the card, what the hub said of it, or nothing but itself. */
export type Evidence = 'card' | 'hub' | 'none'

export interface InstalledFile {
  /** As the card calls it. */
  name: string
  sizeBytes: number
  sha256: string
  /** Of which it is a link. */
  blob: string
  repo: string
  /** As the card says it. */
  revision: string
  /** What stood there when it was pulled; the same where the card names a commit, or a file was imported. */
  commit: string
  path: string
  evidence: Evidence
}

export interface Manifest {
  id: string
  installedAtMs: number
  /** The card in whose place the user's own files stand; null: they are the ones that the card `id` means. */
  like: string | null
  files: readonly InstalledFile[]
}

const version = 1

export function manifestText({ id, installedAtMs, like, files }: Manifest): string {
  const written = files.map(({ sizeBytes, ...file }) => ({ ...file, size_bytes: sizeBytes }))
  const origin = like === null ? {} : { like }
  return `${JSON.stringify({ version, id, installed_at_ms: installedAtMs, ...origin, files: written }, null, 2)}\n`
}

/** @param folder of the installed model @returns null when there is none, or none that can be read */
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

/** What is known of a card's file from an earlier installation; null: nothing that still holds. */
export function pinOf(file: CardFile, manifest: Manifest | null): InstalledFile | null {
  const pin = manifest?.files.find(({ name }) => name === file.name)
  if (pin === undefined || pin.repo !== file.repo || pin.path !== file.path || pin.revision !== file.revision)
    return null
  const agrees =
    (file.sha256 === null || file.sha256 === pin.sha256) &&
    (file.sizeBytes === null || file.sizeBytes === pin.sizeBytes)
  return agrees ? pin : null
}

/** Whether what was installed is what the card means today: an upgrade of the program may mean other files. */
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
