/**
 * `pull`: a model from the hub to this machine. What is here already is read through and kept; only what is missing or
 * damaged is fetched, several files at once; the model's folder is built when all of it is whole. Whatever stops this
 * (Ctrl-C, a full disk, a kill at any byte), no half of a model is to be seen, and the next pull goes on from there.
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
  /** Where the model lies. */
  path: string
  /** All was here and whole: nothing had to be done. */
  wasWhole: boolean
}

/** @throws ModelError, the signal's reason; nothing is installed then, and what has come is kept */
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
