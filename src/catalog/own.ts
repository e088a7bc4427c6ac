/**
 * Models whose files the user brought (`myna models import PATH --as ID --like CARD`): a fine-tune, or an export of
 * their own. Each has the card of the model that it replaces, under an id of its own and without the sizes and hashes
 * of the published files; its manifest says which card that is.
 */
import { readdirSync, statSync } from 'node:fs'
import type { Card } from '../domain/card.ts'
import { type Manifest, readManifestSync } from './manifest.ts'
import type { ModelsFolder } from './models-folder.ts'

/** Of what its files take on the disk: weights in memory, and the states beside them. */
const memoryShare = 1.5
/** Two changes of a folder within some milliseconds may bear the same time. */
const settledMs = 2000

/** @param of what is known of the files: absent before they are there */
export function ownCard(base: Card, id: string, of?: Pick<Manifest, 'installedAtMs' | 'files'>): Card {
  const sizeBytes = of?.files.reduce((sum, file) => sum + file.sizeBytes, 0) ?? 0
  return {
    ...base,
    id,
    like: base.id,
    name: id,
    description: `Your own files in place of ${base.id}, unverified. ${base.description}`,
    builtIn: false,
    license: {
      name: 'your own',
      attribution: `Your own files in place of ${base.id}: check their license yourself.`,
      limits: null,
    },
    // Not the base's repository and commit: another release of the program may use another one.
    files: base.files.map((file) => ({ ...file, repo: 'import', revision: 'import', sizeBytes: null, sha256: null })),
    sources: [`Imported by the user in place of ${base.id}; unverified.`],
    memoryBytes: Math.max(base.memoryBytes, Math.round(memoryShare * sizeBytes)),
    createdAt: of === undefined ? base.createdAt : Math.floor(of.installedAtMs / 1000),
    voiceAliases: {},
  }
}

/** The models on this machine; read again whenever the folder of models has changed. */
export class OwnModels {
  readonly #folder: ModelsFolder
  readonly #known: ReadonlyMap<string, Card>
  #seen: { stamp: string | null; cards: readonly Card[] } = { stamp: null, cards: [] }
  /** Asked many times at every request: looks at the disk once in a turn of the event loop. */
  #isFresh = false

  /** @param known the program's own cards */
  constructor(folder: ModelsFolder, known: readonly Card[]) {
    this.#folder = folder
    this.#known = new Map(known.map((card) => [card.id, card]))
  }

  /** One array as long as they are the same. */
  cards(): readonly Card[] {
    if (this.#isFresh) return this.#seen.cards
    this.#isFresh = true
    queueMicrotask(() => {
      this.#isFresh = false
    })
    const stamp = stampOf(this.#folder.installed)
    if (stamp !== null && stamp === this.#seen.stamp) return this.#seen.cards
    const before = new Map(this.#seen.cards.map((card) => [card.id, card]))
    const found = namesIn(this.#folder.installed).flatMap((id) => {
      const card = this.#cardOf(id)
      const same = before.get(id)
      // One object as long as it means the same, because results about a card's files are cached by it.
      return card === null ? [] : [same !== undefined && Bun.deepEquals(same, card) ? same : card]
    })
    const isSame = found.length === this.#seen.cards.length && found.every((card, at) => card === this.#seen.cards[at])
    this.#seen = { stamp, cards: isSame ? this.#seen.cards : found }
    return this.#seen.cards
  }

  #cardOf(id: string): Card | null {
    if (id.startsWith('.') || this.#known.has(id)) return null
    const manifest = readManifestSync(this.#folder.model(id))
    const base = this.#known.get(manifest?.like ?? '')
    return manifest === null || base === undefined ? null : ownCard(base, id, manifest)
  }
}

/** null: the folder cannot be looked at, or has just changed and may change again within the same tick. */
function stampOf(folder: string): string | null {
  try {
    // Most servers have none, and an exception at every request would cost more than all that looking.
    const stat = statSync(folder, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return 'absent'
    return Number(stat.mtimeNs / 1_000_000n) > Date.now() - settledMs ? null : `${stat.ino}:${stat.mtimeNs}`
  } catch {
    return null
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
