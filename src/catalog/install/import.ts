/**
 * `import`: installs a model from a folder or an archive on disk, for machines without a network. The same checks as
 * for a pull: a file is identified by its hash, whatever its name; if no hash is known, its name identifies it and it
 * is recorded as found. Good files are kept even if others are missing: another import, or a pull, adds the rest.
 */
import type { Card } from '../../domain/card.ts'
import { candidates, type Choice } from './match.ts'
import { distinct, type Held, holdAll, isIntact } from './existing.ts'
import { install } from './install.ts'
import { Intake } from './intake.ts'
import { withLock } from './lock.ts'
import { fits, readManifest } from '../manifest.ts'
import { ModelError } from '../model-error.ts'
import { type Installation, manifestOf, type PullParts } from './pull.ts'
import { prepare } from './disk-space.ts'
import { openSource } from './source.ts'
import { sweepBlobs, sweepFolders } from './sweep.ts'
import { knownOf, type Wanted } from './required.ts'

export type ImportParts = Omit<PullParts, 'hub' | 'stallMs' | 'random'>

const namedMax = 8

/** Four times: weights of 32 bits in the place of 8. And some, for small models have large tokenizers. */
const unknownBytesMax = ({ memoryBytes }: Card): number => 4 * memoryBytes + 64_000_000

/**
 * @param path a folder, or a .zip, .tar or .tar.gz file
 * @throws ModelError `no_such_source`, `bad_archive`, `files_missing`, `disk_full`; the signal's reason
 */
export async function importModel(
  card: Card,
  path: string,
  parts: ImportParts,
  signal: AbortSignal,
): Promise<Installation> {
  const { folder, clock } = parts
  const source = await openSource(path)
  await folder.make()
  return withLock(parts, signal, async () => {
    await sweepFolders(folder)
    const place = folder.model(card.id)
    // Files of the user's own may be others this time.
    const before = card.like === undefined ? await readManifest(place) : null
    const known = card.files.map((file) => knownOf(file, before))
    const held = await holdAll(card.id, known, parts, signal)
    const missing = known.filter(({ blob }) => !held.has(blob))
    const isWhole = before !== null && fits(card, before) && (await isIntact(folder, before, held, signal))
    if (isWhole && missing.length === 0) return { manifest: before, path: place, wasWhole: true }
    const choice = candidates(missing, await source.entries(signal), unknownBytesMax(card))
    await prepare(known, distinct(missing).map(sized(choice)), parts)
    const intake = new Intake(missing, choice, parts)
    const isChosen = (entry: { path: string }) => intake.wants(entry.path)
    for await (const { entry, bytes } of source.read(isChosen, signal)) await intake.take(entry, bytes, signal)
    const all = known.map((one) => intake.found.get(one.file.name) ?? one)
    for (const [blob, content] of intake.held) held.set(blob, content)
    requireAll(card, path, all, held, intake)
    const manifest = manifestOf(card, all, held, clock.nowMs())
    await install(folder, manifest)
    await sweepBlobs(folder, clock.nowMs())
    return { manifest, path: place, wasWhole: false }
  })
}

/** The source knows sizes that the card does not. */
const sized =
  (choice: Choice) =>
  (wanted: Wanted): Wanted => ({
    ...wanted,
    sizeBytes: wanted.sizeBytes ?? choice.entries.get(wanted.file.name)?.[0]?.sizeBytes ?? null,
  })

/** @throws ModelError `files_missing`, naming what is missing and what was not what it is called */
function requireAll(card: Card, path: string, all: readonly Wanted[], held: Held, intake: Intake): void {
  const absent = all.filter(({ blob }) => !held.has(blob)).map(({ file }) => file.name)
  if (absent.length === 0) return
  const named = absent.slice(0, namedMax).map((name) => {
    const why = intake.refused.get(name)
    return why === undefined ? name : `${name} (${why})`
  })
  const more = absent.length > namedMax ? ` and ${absent.length - namedMax} more` : ''
  const kept = held.size === 0 ? '' : ' What was found is kept.'
  const rest =
    card.like === undefined
      ? `Import the rest, or run: myna models pull ${card.id}`
      : `A model like ${card.like} needs all of these: myna models show ${card.like} --json`
  const what = `${card.id} needs files that are not in ${path}: ${named.join(', ')}${more}.${kept}`
  throw new ModelError('files_missing', `${what} ${rest}`)
}
