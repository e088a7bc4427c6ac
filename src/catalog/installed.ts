/**
 * Which models this machine has (read side; the server's and every command's). A model is installed when its manifest
 * is there, means what the card means, and names files that are there in their sizes: a folder from which somebody has
 * taken a file counts as none. Content is not read here; `myna models verify` does that.
 */
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Card } from '../domain/card.ts'
import { fits, type InstalledFile, type Manifest, readManifestSync } from './manifest.ts'
import type { ModelsFolder } from './models-folder.ts'

/** `broken`: something lies there, and it is not the whole model that the card means. */
export type ModelState = 'installed' | 'broken' | 'absent'

interface Seen {
  /** Changes whenever something appears in the model's folder or goes from it. */
  stamp: string
  isInstalled: boolean
}

export class InstalledModels {
  readonly #folder: ModelsFolder
  /** A card is one object as long as the program runs. */
  readonly #seen = new WeakMap<Card, Seen>()

  constructor(folder: ModelsFolder) {
    this.#folder = folder
  }

  /**
   * Asked at every request: looks at the folders alone unless they have changed since the last time. Looks at the disk
   * each time, so that a running server knows what a command has installed or removed.
   */
  has(card: Card): boolean {
    if (card.builtIn) return true
    const stamp = this.#stampOf(card)
    if (stamp === null) return false
    const seen = this.#seen.get(card)
    if (seen?.stamp === stamp) return seen.isInstalled
    const isInstalled = this.missing(card).length === 0 && this.manifest(card.id) !== null
    this.#seen.set(card, { stamp, isInstalled })
    return isInstalled
  }

  stateOf(card: Card): ModelState {
    if (this.has(card)) return 'installed'
    return sizeOf(this.#folder.model(card.id)) === null ? 'absent' : 'broken'
  }

  /** Where the model's files lie; whether they do is another question. */
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

  /** null: there is no folder. */
  #stampOf(card: Card): string | null {
    const top = this.dirOf(card.id)
    const folders = new Set(card.files.map(({ name }) => join(top, dirname(name))))
    const stamps = [top, ...folders].map((folder) => {
      const stat = statOf(folder)
      return stat === null ? null : `${stat.ino}:${stat.mtimeNs}`
    })
    return stamps[0] === null ? null : stamps.join(' ')
  }
}

const sizeOf = (path: string): number | null => {
  const size = statOf(path)?.size
  return size === undefined ? null : Number(size)
}

/** null: there is no such file or folder, or it cannot be looked at. */
function statOf(path: string) {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return null
  }
}
