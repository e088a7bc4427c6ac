/** Models on this machine as an administrator of the running service keeps them. */
import type { Card } from '../domain/card.ts'

export interface KeptModel {
  card: Card
  /** `broken`: something of it lies here, and it is not the whole model. */
  state: 'installed' | 'broken' | 'absent'
  diskBytes: number
  /** What its card knows of the download, and of how many files it does not know the size. */
  downloadBytes: number
  unknownSizes: number
  /** The pull that runs, or the last one that failed; null: neither. */
  pull: ModelPull | null
}

export interface ModelPull {
  state: 'waiting' | 'checking' | 'receiving' | 'failed'
  doneBytes: number
  /** null: nobody knows yet, or not of all files. */
  totalBytes: number | null
  bytesPerSecond: number | null
  msLeft: number | null
  /** Why it failed, and what to do. */
  error: string | null
}

export interface ModelKeeper {
  list(): Promise<KeptModel[]>
  /**
   * Begins in the background; one that runs goes on.
   * @throws MynaError `model_not_found`, `validation_error` for what is built in
   */
  pull(id: string): void
  /** What has come is kept for the next pull. Harmless when none runs. */
  cancel(id: string): void
  /** @returns bytes that are free again @throws MynaError as `pull`, also while requests use the model */
  remove(id: string): Promise<number>
}
