/** `myna doctor` on the data folder: whether it can be written, its disk, and its database. */
import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { audit } from '../../audit/audit.ts'
import type { Account } from '../../domain/account.ts'
import { adminRemedy } from '../../service/accounts.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { acquireLock, hasSuccessor, isLocked } from '../../store/lock.ts'
import { failed, type Found, noted, ok, warning, wordsOf } from './finding.ts'
import { bytes, counted } from '../terminal/format.ts'

/** The database, its log, and unpacked libraries. */
const diskBytesMin = 100_000_000
const diskBytesLow = 1_000_000_000

/** Tried by creating a file, because permissions alone do not say (a read-only disk, root). */
export function checkFolder(dataDir: string): Found {
  const isNew = !existsSync(dataDir)
  try {
    rmdirSync(mkdtempSync(join(existing(dataDir), '.doctor-')))
  } catch (error) {
    return failed(
      `${dataDir} cannot be ${isNew ? 'created' : 'written'}: ${wordsOf(error)}`,
      'Make the user who runs Myna its owner, or name another folder with --data or MYNA_DATA.',
    )
  }
  if (isNew) return noted(`${dataDir} does not exist yet and can be created`, 'Create it with: myna serve')
  if ((statSync(dataDir).mode & 0o077) === 0) return ok(`${dataDir} is writable, and closed to other users`)
  const open = ['myna.db', 'myna.db-wal', 'server.lock'].filter((name) => isOpen(join(dataDir, name)))
  const files = open.length === 0 ? '' : `, and they can read ${open.join(', ')}`
  return warning(`${dataDir} is open to other users of this machine${files}`, `chmod 700 ${dataDir}`)
}

const isOpen = (path: string): boolean => existsSync(path) && (statSync(path).mode & 0o077) !== 0

/** The path, or the nearest folder above it that exists. */
const existing = (path: string): string => (existsSync(path) || dirname(path) === path ? path : existing(dirname(path)))

export function checkDisk(dataDir: string): Found {
  const folder = existing(dataDir)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${bytes(free)} free at ${folder}`
  if (free < diskBytesMin) return failed(message, `Free some space: below ${bytes(diskBytesMin)} new work is refused.`)
  if (free < diskBytesLow) return warning(message, 'Free some space soon.')
  return ok(message)
}

/** The owner of the folder decides the schema; a running server's is not touched. */
export async function checkBooks(dataDir: string): Promise<Found> {
  const path = join(dataDir, 'myna.db')
  if (!existsSync(path)) return noted('there is no database yet', 'Create it with: myna serve, or: myna keys create')
  const away = 'Stop the server, restore a backup (myna restore FILE --replace), and start it again.'
  try {
    const { accounts, keys, remedy } = await contents(path, dataDir)
    const [fault, ...more] = (await audit(dataDir, 'quick')).faults
    if (fault?.rule === 'structure') return failed(`${path} is damaged: ${fault.words}`, away)
    if (fault !== undefined) {
      const others = more.length === 0 ? '' : `, and ${more.length} more`
      return failed(`${fault.rule}: ${fault.words}${others}`, 'See all of them: myna audit')
    }
    if (accounts > 0 && remedy !== null) return warning('there is no active administrator', `Create one: ${remedy}`)
    return ok(`intact, ${counted(accounts, 'account')}, ${counted(keys, 'key')}, ${bytes(sizeOf(path))}`)
  } catch (error) {
    return failed(wordsOf(error), away)
  }
}

/** Including its log. */
const sizeOf = (path: string): number =>
  [path, `${path}-wal`].filter((part) => existsSync(part)).reduce((sum, part) => sum + statSync(part).size, 0)

interface Contents {
  accounts: number
  keys: number
  /** How to get an administrator; null: an active one exists. */
  remedy: string | null
}

/** Without a server the database is opened as a server would, which updates its schema or says why not. */
async function contents(path: string, dataDir: string): Promise<Contents> {
  if (!isLocked(dataDir) && !hasSuccessor(dataDir)) {
    const lock = acquireLock(dataDir)
    try {
      const database = await openSqlite(dataDir)
      await database.close()
    } finally {
      lock.release()
    }
  }
  const books = new Database(path, { readonly: true })
  try {
    const accounts = books
      .query<Pick<Account, 'name' | 'role' | 'disabledAtMs'>, []>(
        'SELECT name, role, disabled_at_ms AS disabledAtMs FROM accounts ORDER BY created_at_ms, id',
      )
      .all()
    const keys = books.query<{ n: number }, []>('SELECT count(*) AS n FROM keys').get()?.n ?? 0
    return { accounts: accounts.length, keys, remedy: adminRemedy(accounts) }
  } finally {
    books.close()
  }
}
