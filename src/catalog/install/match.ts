/**
 * Decides which files of a source may be which files of a card: by path or name, and by size. A file with a known hash
 * may have any name; one without is identified by its name alone, so that must match clearly.
 */
import { posix } from 'node:path'
import type { CardFile } from '../../domain/card.ts'
import { ModelError } from '../model-error.ts'
import type { SourceEntry } from './source.ts'
import type { Wanted } from './required.ts'

export interface Choice {
  /** By the card's name of a file: the candidates, the likeliest first. */
  entries: ReadonlyMap<string, readonly SourceEntry[]>
  /** By the card's name of a file: why the file with that name cannot be it. */
  refused: ReadonlyMap<string, string>
}

/**
 * @param unknownBytesMax limit for files of unknown size and hash
 * @throws ModelError `bad_archive` if several files could be one without a known hash
 */
export function candidates(
  wanted: readonly Wanted[],
  entries: readonly SourceEntry[],
  unknownBytesMax: number,
): Choice {
  const chosen = new Map<string, SourceEntry[]>()
  const refused = new Map<string, string>()
  for (const { file, sizeBytes, sha256 } of wanted) {
    const ranked = entries
      .map((entry) => ({ entry, rank: rankOf(entry.path, file) }))
      .sort((one, other) => other.rank - one.rank)
    const fits = (bytes: number) => (sizeBytes === null ? bytes <= unknownBytesMax : bytes === sizeBytes)
    const fitting = ranked.filter(({ entry }) => fits(entry.sizeBytes))
    if (sha256 !== null && sizeBytes !== null) {
      chosen.set(
        file.name,
        fitting.map(({ entry }) => entry),
      )
    } else {
      const best = fitting.filter(({ rank }) => rank > 0 && rank === fitting[0]?.rank).map(({ entry }) => entry)
      if (best.length > 1 && sha256 === null) throw ambiguous(file, best)
      chosen.set(file.name, best)
    }
    const [called] = ranked.filter(({ rank }) => rank > 0)
    if (called !== undefined && !fits(called.entry.sizeBytes)) {
      const due = sizeBytes === null ? `more than the ${unknownBytesMax} that such a model may have` : sizeBytes
      const than = sizeBytes === null ? ', which is' : ' instead of'
      refused.set(file.name, `${called.entry.path} has ${called.entry.sizeBytes} bytes${than} ${due}`)
    }
  }
  return { entries: chosen, refused }
}

/** How similar a path in a source is to the file of a card; 0: not at all. */
function rankOf(entry: string, { name, path }: CardFile): number {
  if (entry === name || entry === path) return 3
  if (entry.endsWith(`/${name}`) || entry.endsWith(`/${path}`)) return 2
  const last = posix.basename(entry)
  return last === posix.basename(name) || last === posix.basename(path) ? 1 : 0
}

function ambiguous({ name }: CardFile, entries: readonly SourceEntry[]): ModelError {
  const paths = entries.slice(0, 3).map(({ path }) => path)
  const message =
    `${name} could be any of ${paths.join(', ')}, and no hash is published to tell ` + 'which: give a folder with one.'
  return new ModelError('bad_archive', message)
}
