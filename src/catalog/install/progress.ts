/** The progress of a pull, computed from its events. */
import type { InstallEvent } from './events.ts'
import type { Clock } from '../../domain/time.ts'

export interface Standing {
  /** Bytes to download, and bytes that have arrived. */
  files: number
  doneFiles: number
  doneBytes: number
  /** As far as sizes are known. */
  totalBytes: number
  /** More is to come than `totalBytes` says. */
  isMore: boolean
  /** Over the last seconds; null: too early to say. */
  bytesPerSecond: number | null
  msLeft: number | null
}

/** A line that has become slow should look slow. */
const windowMs = 5000
/** The rate of the first moments does not predict what follows. */
const warmUpMs = 500

export class Tally {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #plan: (InstallEvent & { event: 'planned' }) | null = null
  /** Files whose size was unknown before they arrived. */
  readonly #unsized = new Set<string>()
  #totalBytes = 0
  #doneBytes = 0
  #doneFiles = 0
  #samples: { atMs: number; doneBytes: number }[] = []

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  take(event: InstallEvent): void {
    switch (event.event) {
      case 'planned':
        this.#plan = event
        this.#totalBytes = event.totalBytes
        this.#doneBytes = event.heldBytes
        this.#samples = [this.#sample()]
        return
      case 'started':
        if (event.sizeBytes === null) this.#unsized.add(event.name)
        return
      case 'received':
        this.#doneBytes += event.bytes
        this.#samples.push(this.#sample())
        return
      case 'restarted':
        this.#doneBytes = Math.max(0, this.#doneBytes - event.lostBytes)
        this.#samples = [this.#sample()]
        return
      case 'finished':
        this.#doneFiles++
        if (this.#unsized.delete(event.name)) this.#totalBytes += event.sizeBytes
        return
      default:
        return
    }
  }

  /** null: nothing to download, or not known yet. */
  standing(): Standing | null {
    if (this.#plan === null || this.#plan.files === 0) return null
    const { files, unknownSizes } = this.#plan
    const [done, total] = [this.#doneBytes, this.#totalBytes]
    const isMore = unknownSizes > 0 && this.#doneFiles < files
    const bytesPerSecond = this.#rate()
    const msLeft = isMore || !bytesPerSecond ? null : (1000 * Math.max(0, total - done)) / bytesPerSecond
    return { files, doneFiles: this.#doneFiles, doneBytes: done, totalBytes: total, isMore, bytesPerSecond, msLeft }
  }

  #rate(): number | null {
    const nowMs = this.#clock.monotonicMs()
    // One sample from before the window marks its beginning.
    const first = this.#samples.findLastIndex(({ atMs }) => atMs <= nowMs - windowMs)
    this.#samples.splice(0, Math.max(0, first))
    const [oldest] = this.#samples
    if (oldest === undefined || nowMs - oldest.atMs < warmUpMs) return null
    return (1000 * (this.#doneBytes - oldest.doneBytes)) / (nowMs - oldest.atMs)
  }

  #sample = () => ({ atMs: this.#clock.monotonicMs(), doneBytes: this.#doneBytes })
}
