/**
 * The health of the data folder: its disk, its folder of uploads and the files of the database. SQLite keeps its files
 * open, so it does not notice that the write-ahead log was deleted, and a crash would lose every commit in it. Nor does
 * it notice that another file has replaced the database. Their inodes show both.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseLook, DiskState, Standing, Storage } from '../service/ports/storage.ts'
import { codeOf, messageOf } from './errors.ts'
import type { CheckAnswer } from './integrity-worker.ts'
import { probeDisk } from './probe.ts'
import type { SqliteDatabase } from './sqlite.ts'
import { renewUploads } from './uploads.ts'

export class SqliteStorage implements Storage {
  readonly #dataDir: string
  readonly #database: SqliteDatabase
  readonly #path: string
  readonly #inode: number | null
  #logInode: number | null

  /** @param database just opened: its files are taken to be the right ones */
  constructor(dataDir: string, database: SqliteDatabase) {
    this.#dataDir = dataDir
    this.#database = database
    this.#path = join(dataDir, 'myna.db')
    this.#inode = found(this.#path)?.ino ?? null
    this.#logInode = found(`${this.#path}-wal`)?.ino ?? null
  }

  probeDisk(): Promise<Standing<DiskState>> {
    return probeDisk(this.#dataDir)
  }

  async lookAtUploads(): Promise<Standing<'ok' | 'failed'>> {
    const isNew = renewUploads(this.#dataDir)
    return isNew
      ? { state: 'failed', words: `${join(this.#dataDir, 'uploads')} was deleted; it has been created again` }
      : { state: 'ok', words: null }
  }

  async lookAtDatabase(): Promise<DatabaseLook> {
    const file = found(this.#path)
    const log = found(`${this.#path}-wal`)
    const version = [file?.mtimeMs, file?.size, log?.ino].join()
    const { isSuspect } = this.#database
    const of = (words: string | null): DatabaseLook => ({
      state: words === null ? 'ok' : 'failed',
      words,
      isSuspect,
      version,
    })
    if (file?.ino !== this.#inode) {
      const what = file === null ? 'is gone' : 'is a different file now'
      return of(`${this.#path} ${what}; put back the one that the server opened, or stop the server`)
    }
    // SQLite makes the log with the first statement that needs it.
    this.#logInode ??= log?.ino ?? null
    return of(log?.ino === (this.#logInode ?? undefined) ? null : await this.#renewLog())
  }

  /** This process can still read the deleted log: its content is moved into the database, and a new log begun. */
  async #renewLog(): Promise<string> {
    const path = `${this.#path}-wal`
    try {
      await this.#database.renewLog()
      this.#logInode = found(path)?.ino ?? null
      return `${path} was deleted; its content was saved to myna.db, and a new log has begun`
    } catch (error) {
      return `${path} was deleted, and a new one cannot be created: ${messageOf(error)}`
    }
  }

  checkDatabase(): Promise<string | null> {
    return checkIntegrity(this.#path)
  }

  refuse(damage: string | null): void {
    this.#database.refuse(damage)
  }
}

function found(path: string): { ino: number; mtimeMs: number; size: number } | null {
  try {
    return statSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    throw error
  }
}

/**
 * Reads every page in a thread of its own, over a connection of its own. The thread lives for one check: checks are
 * rare, and it gives its memory back.
 * @returns what SQLite finds wrong first; null: nothing @throws Error when it cannot be checked
 */
function checkIntegrity(path: string): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const worker = new Worker(new URL('./integrity-worker.ts', import.meta.url).href)
  worker.onmessage = ({ data }: MessageEvent<CheckAnswer>) => resolve(data.damage)
  worker.onerror = (event) => reject(new Error(`the check of the database failed: ${event.message}`))
  worker.postMessage(path)
  return promise.finally(() => worker.terminate())
}
