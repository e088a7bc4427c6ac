/**
 * Sorts what SQLite and the file system report, in two kinds: `StoreError` for the user who started the program (it
 * may name paths and says what to do) and `MynaError` `storage_full` for a client (it names nothing).
 */
import { MynaError } from '../domain/error.ts'

/** The data folder cannot be used: reported to the user who started the program. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** The symbolic code of an error (`SQLITE_FULL`, `ENOSPC`), or the empty string. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** Another connection holds the lock that was wanted: worth another try. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))

const cannotWrite =
  /^(SQLITE_BUSY|SQLITE_LOCKED|SQLITE_FULL|SQLITE_IOERR|SQLITE_READONLY|ENOSPC|EDQUOT|EFBIG|EROFS|EIO$)/

/**
 * The error as callers of the store see it: `storage_full` when nothing can be written, else the error itself. A lock
 * that stayed taken after every retry is of that kind too: what must be written has to be tried again later.
 */
export function asStorageFull(error: unknown): unknown {
  if (!cannotWrite.test(codeOf(error))) return error
  return new MynaError('storage_full', 'The server cannot write to its storage; nothing was accepted or charged.', {
    cause: error,
  })
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
