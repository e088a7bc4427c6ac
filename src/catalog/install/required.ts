/**
 * The files of a card as they are wanted: with everything that is known of their content before it is there. The card
 * knows most; an earlier installation has pinned the rest, or the hub is asked. Where two know, they must agree.
 */
import type { Card, CardFile } from '../../domain/card.ts'
import type { Timer } from '../../domain/time.ts'
import type { Content } from './digest.ts'
import type { OnEvent } from './events.ts'
import { type FileFacts, type Hub, type HubPlace, isCommit } from './hub.ts'
import { type Evidence, type Manifest, pinOf } from '../manifest.ts'
import { ModelError } from '../model-error.ts'
import { blobName } from '../models-folder.ts'
import { inParallel } from './parallel.ts'
import { patiently } from './retry.ts'

export interface Wanted {
  file: CardFile
  /** Commit of the repository; the card's own until the hub was asked. */
  commit: string
  sizeBytes: number | null
  sha256: string | null
  gitSha1: string | null
  blob: string
  /** Where its hash comes from. */
  evidence: Evidence
}

const questionsAtOnce = 4

/** Without asking the hub. */
export function knownOf(file: CardFile, manifest: Manifest | null): Wanted {
  const pin = pinOf(file, manifest)
  const sha256 = file.sha256 ?? pin?.sha256 ?? null
  return {
    file,
    commit: pin?.commit ?? file.revision,
    sizeBytes: file.sizeBytes ?? pin?.sizeBytes ?? null,
    sha256,
    gitSha1: null,
    blob: pin?.blob ?? blobName({ sha256, gitSha1: null }, file),
    evidence: file.sha256 !== null ? 'card' : (pin?.evidence ?? 'none'),
  }
}

/** Where to read it. */
export const placeOf = ({ file: { repo, path }, commit }: Wanted): HubPlace => ({ repo, revision: commit, path })

export interface AskParts {
  hub: Hub
  timer: Timer
  random: (bytes: Uint8Array) => Uint8Array
  onEvent: OnEvent
}

/** @throws ModelError, the signal's reason */
export async function describeAll(
  card: Card,
  manifest: Manifest | null,
  parts: AskParts,
  signal: AbortSignal,
): Promise<Wanted[]> {
  const known = card.files.map((file) => knownOf(file, manifest))
  const commits = await commitsOf(known, parts, signal)
  return inParallel(known, questionsAtOnce, signal, async (one, ending) => {
    const placed = { ...one, commit: commits.get(branchOf(one)) ?? one.commit }
    if (placed.sizeBytes !== null && placed.sha256 !== null) return placed
    const facts = await ask(placed, parts, ending)
    requireAgreement(placed, facts)
    return withFacts(placed, facts)
  })
}

/** By repository and branch: one commit for all of its files, so that they belong together. */
async function commitsOf(
  known: readonly Wanted[],
  parts: AskParts,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const open = known.filter(({ commit }) => !isCommit(commit))
  const pins = known.filter(({ file, commit }) => !isCommit(file.revision) && isCommit(commit))
  const commits = new Map(pins.map((one) => [branchOf(one), one.commit]))
  for (const one of open) {
    if (commits.has(branchOf(one))) continue
    const { commit } = await ask(one, parts, signal)
    commits.set(branchOf(one), commit ?? one.commit)
  }
  return commits
}

const branchOf = ({ file: { repo, revision } }: Wanted): string => `${repo}@${revision}`

async function ask(wanted: Wanted, { hub, timer, random, onEvent }: AskParts, signal: AbortSignal): Promise<FileFacts> {
  const { name } = wanted.file
  const onPause = (reason: string, pauseMs: number) => onEvent({ event: 'retrying', name, reason, pauseMs })
  const options = { timer, random, signal, progress: () => 0, onPause }
  return patiently(() => hub.describe(placeOf(wanted), signal), options)
}

function withFacts(known: Wanted, facts: FileFacts): Wanted {
  const sizeBytes = known.sizeBytes ?? facts.sizeBytes
  if (known.sha256 !== null) return { ...known, sizeBytes }
  const { sha256 } = facts
  // Git hashes the size before the content: without the size there is no such id.
  const gitSha1 = sha256 === null && sizeBytes !== null ? facts.gitSha1 : null
  const evidence = sha256 === null && gitSha1 === null ? 'none' : 'hub'
  return { ...known, sizeBytes, sha256, gitSha1, blob: blobName({ sha256, gitSha1 }, placeOf(known)), evidence }
}

/** What is known about a content before it arrives. */
export type Expected = Pick<Wanted, 'sizeBytes' | 'sha256' | 'gitSha1'>

export const hasHash = ({ sha256, gitSha1 }: Expected): boolean => sha256 !== null || gitSha1 !== null

/** What is wrong with the content, to continue a sentence; null: nothing known. */
export function contradiction(wanted: Expected, found: Content): string | null {
  if (wanted.sizeBytes !== null && wanted.sizeBytes !== found.sizeBytes) {
    return `it has ${found.sizeBytes} bytes instead of ${wanted.sizeBytes}`
  }
  if (wanted.sha256 !== null && wanted.sha256 !== found.sha256) {
    return `its SHA-256 is ${found.sha256} instead of ${wanted.sha256}`
  }
  if (wanted.gitSha1 !== null && wanted.gitSha1 !== found.gitSha1) {
    return `its git id is ${found.gitSha1} instead of ${wanted.gitSha1}`
  }
  return null
}

/** @throws ModelError when the hub says other things of the file than the card or an earlier installation */
export function requireAgreement({ file, sizeBytes, sha256 }: Wanted, facts: Expected): void {
  const differ = (what: string, ours: number | string, theirs: number | string) =>
    new ModelError(
      'other_content',
      `${file.path} of ${file.repo} has ${what} ${theirs} on the hub; Myna expects ${ours}. Nothing was installed, ` +
        'because this is not the file Myna was tested with.',
    )
  if (sha256 !== null && facts.sha256 !== null && sha256 !== facts.sha256) {
    throw differ('the SHA-256', sha256, facts.sha256)
  }
  if (sizeBytes !== null && facts.sizeBytes !== null && sizeBytes !== facts.sizeBytes) {
    throw differ('a size of', sizeBytes, facts.sizeBytes)
  }
}
