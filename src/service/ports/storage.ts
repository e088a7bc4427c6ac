/**
 * The port to the storage's health: the disk, the database and the folder of uploads. Looking is cheap and happens
 * every few seconds; checking reads every page, in the background.
 */
export type DiskState = 'ok' | 'full' | 'read_only' | 'failed'
/** `failed`: it cannot be used, or a crash would lose something. `damaged`: what it says may be wrong. */
export type DatabaseState = 'ok' | 'failed' | 'damaged'

/** @param words for the operator's log, null where all is well; they may name paths */
export interface Standing<State> {
  state: State
  words: string | null
}

export interface DatabaseLook extends Standing<'ok' | 'failed'> {
  /** Whether a statement hit damage since the last check. */
  isSuspect: boolean
  /** Changes whenever the files were written to, by this program or by another. */
  version: string
}

export interface Storage {
  /** Writes a small file and removes it. */
  probeDisk(): Promise<Standing<DiskState>>
  /** Makes the folder again where it was deleted, and says so once. */
  lookAtUploads(): Promise<Standing<'ok' | 'failed'>>
  /** Repairs what can be repaired without loss (a deleted write-ahead log), and says so once. */
  lookAtDatabase(): Promise<DatabaseLook>
  /** Reads every page, off the event loop. @returns what is damaged; null: nothing */
  checkDatabase(): Promise<string | null>
  /** From now on every statement is refused with `database_damaged`; null: they run again. */
  refuse(damage: string | null): void
}
