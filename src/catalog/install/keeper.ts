/**
 * Pulls and removals that a running server does for its administrators, by the same steps as the commands. A pull runs
 * in the background and outlives the request that began it; the last failure is kept until the next try.
 */
import type { Card } from '../../domain/card.ts'
import { MynaError } from '../../domain/error.ts'
import type { Clock } from '../../domain/time.ts'
import type { KeptModel, ModelKeeper, ModelPull } from '../../service/ports/models.ts'
import type { InstallEvent, OnEvent } from './events.ts'
import type { InstalledModels } from '../installed.ts'
import { ModelError } from '../model-error.ts'
import { pull, type PullParts } from './pull.ts'
import { remove } from './remove.ts'
import { Tally } from './progress.ts'

export interface KeeperParts {
  /** Every model that may be here; asked at every question. */
  cards: () => readonly Card[]
  installed: InstalledModels
  clock: Clock
  /** @throws Error when a setting makes no sense */
  installation: (onEvent: OnEvent) => PullParts
  /** Its files were added, changed or removed: engines release what they loaded from them. */
  dismiss: (id: string) => void
  /** Whether requests are using it. */
  isInUse: (id: string) => Promise<boolean>
  report: (message: string, cause: unknown) => void
}

interface Running {
  /** Never rejects. */
  ended: Promise<void>
  abort: AbortController
  tally: Tally
  state: Exclude<ModelPull['state'], 'failed'>
}

const cancelled = new Error('the pull was cancelled')

export class BackgroundKeeper implements ModelKeeper {
  readonly #parts: KeeperParts
  readonly #running = new Map<string, Running>()
  readonly #failures = new Map<string, string>()

  constructor(parts: KeeperParts) {
    this.#parts = parts
  }

  async list(): Promise<KeptModel[]> {
    return byUse(this.#parts.cards()).map((card) => this.#kept(card))
  }

  find(id: string): KeptModel {
    return this.#kept(this.#known(id))
  }

  ended(id: string): Promise<void> {
    return this.#running.get(id)?.ended ?? Promise.resolve()
  }

  pull(id: string): void {
    const card = this.#card(id)
    if (card.like !== undefined) throw refused(`${id} consists of your own files: import them again.`)
    if (this.#running.has(id)) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const tally = new Tally(this.#parts.clock)
    const running: Running = { abort: new AbortController(), tally, state: 'checking', ended }
    this.#failures.delete(id)
    this.#running.set(id, running)
    void this.#run(card, running).finally(() => {
      this.#running.delete(id)
      resolve()
    })
  }

  cancel(id: string): void {
    this.#running.get(id)?.abort.abort(cancelled)
  }

  async remove(id: string): Promise<number> {
    const { installation, isInUse, dismiss } = this.#parts
    const card = this.#card(id)
    if (this.#running.has(id)) throw refused(`${id} is being pulled. Cancel that first.`)
    if (await isInUse(id)) throw refused(`${id} is in use. Try again when its requests are done.`)
    const { signal } = new AbortController()
    const removal = await remove(
      id,
      card,
      installation(() => {}),
      signal,
      async () => dismiss(id),
    )
    return removal.freedBytes
  }

  /** Called at the end of the server. */
  close(): void {
    for (const id of this.#running.keys()) this.cancel(id)
  }

  async #run(card: Card, running: Running): Promise<void> {
    const { installation, dismiss, report } = this.#parts
    try {
      const parts = installation((event) => {
        running.tally.take(event)
        running.state = stateAfter(event, running.state)
      })
      const { wasWhole } = await pull(card, parts, running.abort.signal)
      if (!wasWhole) dismiss(card.id)
    } catch (error) {
      if (error === cancelled) return
      if (!(error instanceof ModelError)) report(`the pull of ${card.id} failed`, error)
      this.#failures.set(card.id, error instanceof Error ? error.message : String(error))
    }
  }

  #kept(card: Card): KeptModel {
    const { installed } = this.#parts
    return {
      card,
      state: installed.stateOf(card),
      diskBytes: installed.manifest(card.id)?.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) ?? 0,
      downloadBytes: card.files.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0),
      unknownSizes: card.files.filter(({ sizeBytes }) => sizeBytes === null).length,
      pull: this.#pullOf(card.id),
    }
  }

  #pullOf(id: string): ModelPull | null {
    const running = this.#running.get(id)
    const standing = running?.tally.standing() ?? null
    const failure = this.#failures.get(id) ?? null
    if (running === undefined && failure === null) return null
    return {
      state: running?.state ?? 'failed',
      doneBytes: standing?.doneBytes ?? 0,
      totalBytes: standing === null || standing.isMore ? null : standing.totalBytes,
      bytesPerSecond: standing?.bytesPerSecond ?? null,
      msLeft: standing?.msLeft ?? null,
      error: failure,
    }
  }

  #known(id: string): Card {
    const card = this.#parts.cards().find((known) => known.id === id)
    if (card !== undefined) return card
    throw new MynaError('model_not_found', `There is no model '${id}'.`, { param: 'model_id' })
  }

  /** That can be pulled and removed. */
  #card(id: string): Card {
    const card = this.#known(id)
    if (card.builtIn) throw refused(`${id} is inside the program and always installed.`)
    return card
  }
}

/** The preferred first. */
const byUse = (cards: readonly Card[]): Card[] => cards.toSorted((a, b) => b.preference - a.preference)

const refused = (message: string): MynaError => new MynaError('validation_error', message, { param: 'model_id' })

function stateAfter(event: InstallEvent, before: Running['state']): Running['state'] {
  if (event.event === 'waiting') return 'waiting'
  if (event.event === 'checking' || event.event === 'damaged') return 'checking'
  return event.event === 'planned' || event.event === 'received' ? 'receiving' : before
}
