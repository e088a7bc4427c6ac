/** Models of a few kilobytes of seeded noise on the test hub, and what a pull of them needs. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cards } from '../catalog/cards.ts'
import type { InstallEvent } from '../catalog/install/events.ts'
import { Hub } from '../catalog/install/hub.ts'
import type { ImportParts } from '../catalog/install/import.ts'
import { ModelsFolder } from '../catalog/models-folder.ts'
import type { PullParts } from '../catalog/install/pull.ts'
import type { Card, CardFile } from '../domain/card.ts'
import { tryFileLock } from '../store/lock.ts'
import { temporaryFolder } from './folder.ts'
import { randomBytes, sha256Of, type TestHub } from './hub.ts'
import { deadlineMs, ImpatientTimer } from './impatient-timer.ts'
import { ManualClock } from './manual-clock.ts'
import { Seeded } from './seeded.ts'

export const testRevision = '0123456789abcdef0123456789abcdef01234567'

/** A card for these files, of a model that is preferred to the built-in ones. */
export function testCard(id: string, files: readonly CardFile[], more: Partial<Card> = {}): Card {
  const first = cards.find(({ id }) => id === 'hibari')
  if (first === undefined) throw new Error('there is no card')
  const { embedded: _, wordTimes: __, ...common } = first
  const voice = { id: `${id}-voice`, name: `Voice of ${id}`, description: 'A test.', language: 'en-US', labels: {} }
  const own = { id, family: id, name: `Model ${id}`, builtIn: false, files, voices: [voice], voiceAliases: {} }
  return { ...common, ...own, defaultVoice: voice.id, preference: 20, ...more }
}

export interface TestFile {
  path: string
  sizeBytes: number
  isLarge?: boolean
  /** What the card knows: size and hash (the default), or neither. */
  knows?: 'all' | 'nothing'
}

/** Puts files on the hub. @param seed of their content */
export function publish(
  hub: TestHub,
  repo: string,
  seed: number,
  files: readonly TestFile[],
  revision = testRevision,
): CardFile[] {
  return files.map(({ path, sizeBytes, isLarge = true, knows = 'all' }, at) => {
    const content = randomBytes(1000 * seed + at, sizeBytes)
    const file = hub.add({ repo, revision, path, content, isLarge })
    return knows === 'nothing' ? file : { ...file, sizeBytes, sha256: sha256Of(content) }
  })
}

/**
 * The files in a folder of blobs: their sizes in bytes, sorted as text; partial ones are marked. A pull renames partial
 * files at any time: one that disappears meanwhile is left out.
 */
export function blobSizes(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const sizes = names.map((name) => [name, statSync(join(folder, name), { throwIfNoEntry: false })?.size] as const)
  const known = sizes.filter(([, size]) => size !== undefined)
  return known.map(([name, size]) => `${size}${name.endsWith('.part') ? ' partial' : ''}`).sort()
}

export interface TestImport extends ImportParts {
  clock: ManualClock
  timer: ImpatientTimer
  events: InstallEvent[]
  /** The names in events of one kind, in order. */
  names(event: InstallEvent['event']): string[]
}

/** @param dataDir a new one by default */
export function testImport(dataDir = temporaryFolder()): TestImport {
  const folder = new ModelsFolder(`${dataDir}/models`)
  const events: InstallEvent[] = []
  return {
    folder,
    events,
    timer: new ImpatientTimer(),
    clock: new ManualClock(),
    lock: () => tryFileLock(`${folder.path}/install.lock`),
    freeBytes: () => 10_000_000_000,
    onEvent: (event) => events.push(event),
    names: (kind) => events.flatMap((one) => (one.event === kind && 'name' in one ? [one.name] : [])),
  }
}

export type TestPull = TestImport & PullParts

export function testPull(hub: TestHub, change: { freeBytes?: number } = {}): TestPull {
  const parts = testImport()
  const options = { token: null, timer: parts.timer, answerMs: deadlineMs, userAgent: 'myna/test' }
  return {
    ...parts,
    hub: new Hub({ endpoint: hub.url, ...options }),
    random: new Seeded(1).fill,
    stallMs: deadlineMs,
    freeBytes: () => change.freeBytes ?? 10_000_000_000,
  }
}

export const never: AbortSignal = new AbortController().signal
