/**
 * `pull`: installs a model from the hub. Existing files are verified and kept; only missing or damaged ones are
 * fetched, several at once; the model's folder is built once all of them are complete. Whatever interrupts this
 * (Ctrl-C, a full disk, a kill at any byte), half a model is never visible, and the next pull resumes.
 */
import type { Card } from '../../domain/card.ts'
import type { Clock } from '../../domain/time.ts'
import { download, type DownloadParts } from './download.ts'
import { distinct, type Held, holdAll, isIntact } from './existing.ts'
import { install } from './install.ts'
import { type Lock, withLock } from './lock.ts'
import { fits, type Manifest, readManifest } from '../manifest.ts'
import { inParallel } from './parallel.ts'
import { prepare, type RoomParts } from './disk-space.ts'
import { sweepBlobs, sweepFolders } from './sweep.ts'
import { describeAll, type Wanted } from './required.ts'

/** Files that come at the same time: more would only share the same line. */
const filesAtOnce = 4

export interface PullParts extends DownloadParts, RoomParts {
  clock: Clock
  lock: Lock
}

export interface Installation {
  manifest: Manifest
  /** The model's folder. */
  path: string
  /** All was here and whole: nothing had to be done. */
  wasWhole: boolean
}

/** @throws ModelError, the signal's reason; then nothing is installed, and what has arrived is kept */
export async function pull(card: Card, parts: PullParts, signal: AbortSignal): Promise<Installation> {
  const { folder, clock } = parts
  await folder.make()
  return withLock(parts, signal, async () => {
    await sweepFolders(folder)
    const path = folder.model(card.id)
    const before = await readManifest(path)
    const wanted = await describeAll(card, before, parts, signal)
    const held = await holdAll(card.id, wanted, parts, signal)
    const missing = distinct(wanted).filter(({ blob }) => !held.has(blob))
    const isWhole = before !== null && fits(card, before) && (await isIntact(folder, before, held, signal))
    if (isWhole && missing.length === 0) {
      await sweepBlobs(folder, clock.nowMs())
      return { manifest: before, path, wasWhole: true }
    }
    await prepare(wanted, missing, parts)
    await inParallel(bySize(missing), filesAtOnce, signal, async (one, ending) => {
      held.set(one.blob, await download(one, parts, ending))
    })
    const manifest = manifestOf(card, wanted, held, clock.nowMs())
    await install(folder, manifest)
    await sweepBlobs(folder, clock.nowMs())
    return { manifest, path, wasWhole: false }
  })
}

/** The longest first, so that it is not the one that all wait for in the end. */
const bySize = (files: readonly Wanted[]): Wanted[] => files.toSorted((a, b) => (b.sizeBytes ?? 0) - (a.sizeBytes ?? 0))

/** @param held the content of every file that is wanted */
export function manifestOf({ id, like }: Card, wanted: readonly Wanted[], held: Held, nowMs: number): Manifest {
  const files = wanted.map(({ file: { name, repo, revision, path }, commit, blob, evidence }) => {
    const content = held.get(blob)
    if (content === undefined) throw new Error(`${name} is missing`)
    const { sizeBytes, sha256 } = content
    return { name, sizeBytes, sha256, blob, repo, revision, commit, path, evidence }
  })
  return { id, installedAtMs: nowMs, like: like ?? null, files }
}
