/**
 * The storage of a box that keeps its records elsewhere: its own disk, and whether the database has answered lately.
 */
import type { DatabaseLook, DiskState, Standing, Storage } from '../../service/ports/storage.ts'
import { probeDisk } from '../probe.ts'
import { renewUploads } from '../uploads.ts'

export class SharedStorage implements Storage {
  readonly #dataDir: string
  readonly #lease: { readonly isHeld: boolean; readonly silentMs: number }

  constructor(dataDir: string, lease: { readonly isHeld: boolean; readonly silentMs: number }) {
    this.#dataDir = dataDir
    this.#lease = lease
  }

  probeDisk(): Promise<Standing<DiskState>> {
    return probeDisk(this.#dataDir)
  }

  async lookAtUploads(): Promise<Standing<'ok' | 'failed'>> {
    return renewUploads(this.#dataDir)
      ? { state: 'failed', words: 'the folder of uploads was deleted; it has been made again' }
      : { state: 'ok', words: null }
  }

  async lookAtDatabase(): Promise<DatabaseLook> {
    const whole = { isSuspect: false, version: '' }
    if (this.#lease.isHeld) return { ...whole, state: 'ok', words: null }
    return { ...whole, state: 'failed', words: 'the database does not answer; no new work is taken' }
  }

  /** The server of the database looks after its pages. */
  async checkDatabase(): Promise<string | null> {
    return null
  }

  refuse(): void {}
}
