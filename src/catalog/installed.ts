/**
 * Knows which models are installed (the read side, for the server and every command). A model is installed if its
 * manifest exists, agrees with the card, and names files that exist in their sizes: a folder with a missing file
 * counts as not installed. Content is not read here; `myna models verify` does that.
 */
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Card } from '../domain/card.ts'
import { type Clock, systemClock } from '../domain/time.ts'
import { fits, type InstalledFile, type Manifest, readManifestSync } from './manifest.ts'
import type { ModelsFolder } from './models-folder.ts'

/** `broken`: some files exist, but not the complete model of the card. */
export type ModelState = 'installed' | 'broken' | 'absent'

/** The result, and what would change it. */
interface Seen<T> {
  stamp: string
  found: T
}

/** Two changes within some milliseconds may bear the same time: what has just changed is looked at anew. */
const settledMs = 2000
/** Names of missing files. */
const namedMax = 3

export class InstalledModels {
  readonly #folder: ModelsFolder
  readonly #clock: Pick<Clock, 'nowMs'>
  /** A card is one object as long as the program runs. */
  readonly #seen = new WeakMap<Card, Seen<boolean>>()
  /** Folders that may contain a card's model, its own first. */
  readonly #folders = new WeakMap<Card, readonly string[]>()
  #names: Seen<ReadonlySet<string>> | null = null
  /** Results within this turn of the event loop. */
  #turn: { idsHere: ReadonlySet<string>; answers: Map<Card, boolean> } | null = null

  constructor(folder: ModelsFolder, clock: Pick<Clock, 'nowMs'> = systemClock) {
    this.#folder = folder
    this.#clock = clock
  }

  /**
   * Asked many times at every request: looks at the disk once in a turn of the event loop, and at folders alone unless
   * they have changed, so that a running server knows at once what a command has installed or removed.
   */
  has(card: Card): boolean {
    if (card.builtIn) return true
    const { idsHere, answers } = this.#thisTurn()
    const answered = answers.get(card)
    if (answered !== undefined) return answered
    const answer = idsHere.has(card.id) && this.#isWhole(card)
    answers.set(card, answer)
    return answer
  }

  stateOf(card: Card): ModelState {
    if (this.has(card)) return 'installed'
    return this.#thisTurn().idsHere.has(card.id) ? 'broken' : 'absent'
  }

  /** The folder of the model's files, whether or not they exist. */
  dirOf(cardId: string): string {
    return this.#folder.model(cardId)
  }

  manifest(cardId: string): Manifest | null {
    return readManifestSync(this.dirOf(cardId))
  }

  /** Names of the card's files that are not there as they should be: all of them when nothing says how. */
  missing(card: Card): string[] {
    const manifest = this.manifest(card.id)
    if (manifest === null || !fits(card, manifest)) return card.files.map(({ name }) => name)
    const isThere = ({ name, sizeBytes }: InstalledFile) => sizeOf(join(this.dirOf(card.id), name)) === sizeBytes
    return manifest.files.filter((file) => !isThere(file)).map(({ name }) => name)
  }

  /** What is wrong with an incomplete model, in a sentence; null: nothing, or it does not exist here at all. */
  trouble(card: Card): string | null {
    if (this.stateOf(card) !== 'broken') return null
    const missing = this.missing(card)
    if (missing.length === card.files.length) return `${card.id} is incomplete: its files are not the ones it needs`
    const isHere = (name: string) => sizeOf(join(this.dirOf(card.id), name)) !== null
    const [cut, gone] = [missing.filter(isHere), missing.filter((name) => !isHere(name))]
    const what = [
      ...(gone.length === 0 ? [] : [`missing: ${listed(gone)}`]),
      ...(cut.length === 0 ? [] : [`cut short or changed: ${listed(cut)}`]),
    ]
    return `${card.id} is incomplete: ${what.join('; ')}`
  }

  #thisTurn() {
    if (this.#turn === null) {
      this.#turn = { idsHere: this.#idsHere(), answers: new Map() }
      queueMicrotask(() => {
        this.#turn = null
      })
    }
    return this.#turn
  }

  #isWhole(card: Card): boolean {
    const stamp = this.#stampOf(this.#foldersOf(card))
    const seen = this.#seen.get(card)
    if (seen !== undefined && seen.stamp === stamp) return seen.found
    const found = this.missing(card).length === 0 && this.manifest(card.id) !== null
    if (stamp === null) this.#seen.delete(card)
    else this.#seen.set(card, { stamp, found })
    return found
  }

  /** Names of subfolders; most models have none. */
  #idsHere(): ReadonlySet<string> {
    const stamp = this.#stampOf([this.#folder.installed])
    if (this.#names !== null && this.#names.stamp === stamp) return this.#names.found
    const found = new Set(namesInSync(this.#folder.installed))
    this.#names = stamp === null ? null : { stamp, found }
    return found
  }

  /** Changes whenever something appears in one of the folders or goes from it. null: something has just changed. */
  #stampOf(folders: readonly string[]): string | null {
    const settledAtMs = this.#clock.nowMs() - settledMs
    const stats = folders.map(statOf)
    if (stats.some((stat) => stat !== null && Number(stat.mtimeNs / 1_000_000n) > settledAtMs)) return null
    return stats.map((stat) => (stat === null ? '-' : `${stat.ino}:${stat.mtimeNs}`)).join(' ')
  }

  #foldersOf(card: Card): readonly string[] {
    const known = this.#folders.get(card)
    if (known !== undefined) return known
    const top = this.dirOf(card.id)
    const folders = [...new Set([top, ...card.files.map(({ name }) => join(top, dirname(name)))])]
    this.#folders.set(card, folders)
    return folders
  }
}

function listed(names: readonly string[]): string {
  const more = names.length > namedMax ? ` and ${names.length - namedMax} more` : ''
  return `${names.slice(0, namedMax).join(', ')}${more}`
}

const sizeOf = (path: string): number | null => {
  const size = statOf(path)?.size
  return size === undefined ? null : Number(size)
}

function namesInSync(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** null: the file or folder does not exist or cannot be inspected. */
function statOf(path: string) {
  try {
    // Most models are not here, and an exception for each would cost more than all that looking.
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}
