/** Models on this machine as an administrator of the running service keeps them. */
import type { Card } from '../../domain/card.ts'

export interface KeptModel {
  card: Card
  /** `broken`: some of its files exist, but not the complete model. */
  state: 'installed' | 'broken' | 'absent'
  diskBytes: number
  /** The download size according to its card, and the number of files of unknown size. */
  downloadBytes: number
  unknownSizes: number
  /** The pull that runs, or the last one that failed; null: neither. */
  pull: ModelPull | null
}

export interface ModelPull {
  state: 'waiting' | 'checking' | 'receiving' | 'failed'
  doneBytes: number
  /** null: not known yet, or not for all files. */
  totalBytes: number | null
  bytesPerSecond: number | null
  msLeft: number | null
  /** Why it failed, and what to do. */
  error: string | null
}

export interface ModelKeeper {
  list(): Promise<KeptModel[]>
  /**
   * Starts in the background; a running pull continues.
   * @throws MynaError `model_not_found`, `validation_error` for built-in models
   */
  pull(id: string): void
  /** @throws MynaError `model_not_found` */
  find(id: string): KeptModel
  /** Resolves once no pull of it runs, however it ended; `find` then says how. */
  ended(id: string): Promise<void>
  /** The partial download is kept for the next pull. Harmless if none runs. */
  cancel(id: string): void
  /** @returns bytes that are free again @throws MynaError as `pull`, also while requests use the model */
  remove(id: string): Promise<number>
}
