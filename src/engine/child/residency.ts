/**
 * Decides which models are in memory (child side). A model is loaded once however many use it, counted while in use,
 * and unloaded after `keepAliveMs` of idleness, or sooner if another needs the room. The idea is ollama's runnerRef:
 * reference count and timer in one.
 */
import { briefly, deviceFailure, DeviceOutOfMemory } from '../../onnx/device.ts'
import { notLoaded } from '../../domain/model-trouble.ts'
import { type Budget, type Holding, NoRoom } from './budget.ts'
import type { LoadFailure, ResidentModel } from '../protocol.ts'
import type { Timers } from '../timers.ts'

export interface Loaded {
  /** Its graphs, if it has any, run on the CPU wherever those of others do. */
  readonly onCpu?: boolean
  /** It is small and often wanted: never unloaded for being idle, nor for another. */
  readonly staysLoaded?: boolean
  unload(): Promise<void>
}

export interface ResidencyOptions<M extends Loaded> {
  load(id: string): Promise<M>
  /** Folder of its files; null: it has none. */
  filesDir(id: string): string | null
  memoryBytes(id: string): number
  /** 0: never unloaded for being idle. */
  keepAliveMs: number
  /** Shared by all that are in the same process. */
  budget: Budget
  /** The device. */
  device: string
  timers: Timers
  /** Called before each load, and once it is over. */
  onLoading(id: string, isOver: boolean): void
  /** Called afterwards. @param reason why it could not be loaded, safe for anyone to read; null: it is in memory */
  onTried(id: string, reason: string | null): void
  /** The last resident model, other than such as stay, was unloaded for being idle. */
  onEmpty(): void
  /** Unloading failed: the memory may not have been freed. */
  onError(error: unknown): void
}

/** A model could not be loaded. The message names the model, and its files as they are named within it. */
export class NotLoaded extends Error {
  readonly failure: LoadFailure

  /** @param words why, safe for anyone to read */
  constructor(
    model: string,
    readonly words: string,
    cause: unknown,
  ) {
    super(notLoaded(model, words), { cause })
    this.name = 'NotLoaded'
    this.failure = { model, reason: reasonOf(cause) }
  }
}

/** Readiness shows it to all: file names, but not where they are on this machine. */
function wordsOf(error: unknown, filesDir: string | null): string {
  const words = error instanceof Error ? error.message : String(error)
  return briefly(filesDir === null ? words : words.replaceAll(`${filesDir}/`, ''))
}

function reasonOf(cause: unknown): LoadFailure['reason'] {
  if (cause instanceof NoRoom) return 'no_room'
  return deviceFailure(cause) instanceof DeviceOutOfMemory ? 'out_of_memory' : 'unusable'
}

/** A model in use; `release` at most counts once. */
export interface Lease<M> {
  model: M
  release(): void
}

interface Entry<M> extends Holding {
  loading: Promise<M>
  loaded: boolean
  onCpu: boolean
  stays: boolean
  leases: number
  /** To be unloaded once unused. */
  isDismissed: boolean
  idleSinceMs: number
  cancelTimer: () => void
}

export class Residency<M extends Loaded> {
  readonly #options: ResidencyOptions<M>
  readonly #entries = new Map<string, Entry<M>>()
  /** Ends when what was unloaded is gone: loading waits for it, for two copies may not fit. */
  #unloading: Promise<void> = Promise.resolve()

  constructor(options: ResidencyOptions<M>) {
    this.#options = options
  }

  /** @throws NotLoaded; the next use tries again */
  async use(id: string): Promise<Lease<M>> {
    const entry = this.#entries.get(id) ?? this.#load(id)
    entry.leases++
    entry.cancelTimer()
    const model = await entry.loading
    let released = false
    return {
      model,
      release: () => {
        if (released) return
        released = true
        if (--entry.leases > 0) return
        if (entry.isDismissed) this.#retire(id, entry)
        else this.#startIdle(id, entry)
      },
    }
  }

  /** None is in memory or on its way there, other than such as stay and are not in use. */
  get isEmpty(): boolean {
    return this.#entries.values().every(({ stays, leases }) => stays && leases === 0)
  }

  status(): ResidentModel[] {
    const { keepAliveMs, timers, device } = this.#options
    return [...this.#entries]
      .filter(([, entry]) => entry.loaded)
      .map(([id, entry]) => ({
        id,
        device: entry.onCpu ? 'cpu' : device,
        memoryBytes: entry.bytes,
        activeStreams: entry.leases,
        idleMsLeft:
          entry.leases > 0 || keepAliveMs === 0 || entry.stays
            ? null
            : Math.max(0, entry.idleSinceMs + keepAliveMs - timers.monotonicMs()),
      }))
  }

  /** Unloads it as soon as it is unused: the files it was loaded from were removed or changed. */
  dismiss(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.isDismissed = true
    if (entry.leases === 0) this.#retire(id, entry)
  }

  /** The device is full: unloads this model as soon as it is unused, and immediately all unused ones. */
  shed(id: string): void {
    this.dismiss(id)
    for (const [other, entry] of this.#entries) if (entry.isIdle()) this.#retire(other, entry)
  }

  /** For the orderly end: unloads everything, in use or not. */
  async unloadAll(): Promise<void> {
    for (const [id, entry] of this.#entries) this.#unload(id, entry)
    await this.#unloading
  }

  #load(id: string): Entry<M> {
    const entry: Entry<M> = {
      bytes: this.#options.memoryBytes(id),
      loading: this.#unloading.then(() => this.#bring(id, entry)),
      loaded: false,
      onCpu: false,
      stays: false,
      leases: 0,
      isDismissed: false,
      idleSinceMs: 0,
      cancelTimer: () => {},
      isIdle: () => entry.loaded && !entry.stays && entry.leases === 0 && this.#entries.get(id) === entry,
      unload: () => this.#unload(id, entry),
    }
    this.#entries.set(id, entry)
    entry.loading.then(
      ({ onCpu = false, staysLoaded = false }) => {
        entry.loaded = true
        entry.onCpu = onCpu
        entry.stays = staysLoaded
      },
      () => {
        if (this.#entries.get(id) === entry) this.#entries.delete(id)
      },
    )
    return entry
  }

  async #bring(id: string, entry: Entry<M>): Promise<M> {
    const { budget, filesDir, load, onLoading, onTried } = this.#options
    try {
      await budget.claim(entry)
      onLoading(id, false)
      const model = await load(id).finally(() => onLoading(id, true))
      onTried(id, null)
      return model
    } catch (error) {
      budget.free(entry)
      const words = wordsOf(error, filesDir(id))
      // Files that were removed or changed meanwhile say nothing of the model as it is now.
      if (!(error instanceof NoRoom) && !entry.isDismissed) onTried(id, words)
      throw new NotLoaded(id, words, error)
    }
  }

  #startIdle(id: string, entry: Entry<M>): void {
    const { keepAliveMs, timers } = this.#options
    entry.idleSinceMs = timers.monotonicMs()
    this.#options.budget.noteIdle()
    if (keepAliveMs === 0 || entry.stays || this.#entries.get(id) !== entry) return
    entry.cancelTimer = timers.after(keepAliveMs, () => this.#retire(id, entry))
  }

  /** It is no longer needed. */
  #retire(id: string, entry: Entry<M>): void {
    if (this.#entries.get(id) !== entry) return
    this.#unload(id, entry)
    void this.#unloading.then(() => {
      if (this.isEmpty) this.#options.onEmpty()
    })
  }

  #unload(id: string, entry: Entry<M>): void {
    const { budget, onError } = this.#options
    entry.cancelTimer()
    this.#entries.delete(id)
    const gone = entry.loading.then(
      (model) => model.unload(),
      () => {},
    )
    const freed = gone.catch(onError).then(() => budget.free(entry))
    this.#unloading = Promise.all([this.#unloading, freed]).then(() => {})
  }
}
