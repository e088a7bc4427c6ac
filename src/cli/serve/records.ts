/**
 * Decides where the records of a server are kept: in the data folder, or in a database shared with other servers. Code
 * above this file need not know which.
 */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Config } from '../../config.ts'
import { newId } from '../../domain/id.ts'
import type { Clock } from '../../domain/time.ts'
import { idleSessionMs } from '../../http/console/sessions.ts'
import { Lease, usualLease } from '../../service/box-keeper.ts'
import type { Boxes } from '../../service/ports/boxes.ts'
import { SqlAccounts } from '../../store/accounts.ts'
import { FolderVoiceFiles } from '../../store/clips.ts'
import { FolderConsentFiles, SqlConsents } from '../../store/consents.ts'
import type { Database } from '../../store/database.ts'
import { SqlLedger } from '../../store/ledger/ledger.ts'
import { PostgresBoxes } from '../../store/postgres/boxes.ts'
import { DatabaseClock } from '../../store/postgres/database-clock.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { SharedStorage } from '../../store/postgres/shared-storage.ts'
import { PostgresConsentFiles, PostgresVoiceFiles, SharedPreviewFiles } from '../../store/postgres/voice-files.ts'
import { FolderPreviewFiles } from '../../store/previews.ts'
import { SqlSessions } from '../../store/sessions.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { SqliteStorage } from '../../store/storage.ts'
import { makeUploads, shareUploads } from '../../store/uploads.ts'
import { SqlVoices } from '../../store/voices.ts'
import { Failure } from '../terminal/terminal.ts'
import type { Books, World } from './wiring.ts'

/** What only servers with a shared database have. */
export interface Shared {
  boxes: Boxes
  lease: Lease
  measureClock: () => Promise<void>
  /** One box at a time: each would create the same things on an empty database. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export interface Records {
  books: Books & { accounts: SqlAccounts; ledger: SqlLedger }
  /** Settings of the database, if it has any. */
  clock: Clock
  shared: Shared | null
  /** Whether there are files of voices that no record knows, because they belong to another database. */
  hasStrangeFiles(): Promise<boolean>
}

/**
 * @param isBeside whether another server on the data folder is being replaced, and has not ended yet
 * @param onStop called with what closes them again, last first
 * @throws StoreError, Failure
 */
export async function openRecords(
  config: Config,
  world: World,
  isBeside: boolean,
  onStop: (step: () => Promise<void> | void) => void,
): Promise<Records> {
  return config.database === ''
    ? openAlone(config, world, isBeside, onStop)
    : openShared(config, world, isBeside, onStop)
}

async function openAlone(
  { dataDir }: Config,
  world: World,
  isBeside: boolean,
  onStop: (step: () => Promise<void> | void) => void,
): Promise<Records> {
  const database = await openSqlite(dataDir, { isShared: isBeside })
  onStop(() => database.close())
  const accounts = new SqlAccounts(database, world)
  onStop(() => accounts.close())
  const files = new FolderVoiceFiles(dataDir)
  const books = {
    accounts,
    ledger: new SqlLedger(database, world),
    voices: new SqlVoices(database, world),
    files,
    consents: new SqlConsents(database, new FolderConsentFiles(dataDir, database), world),
    made: new FolderPreviewFiles(dataDir),
    uploads: isBeside ? shareUploads(dataDir) : makeUploads(dataDir),
    storage: new SqliteStorage(dataDir, database),
    sessions: new SqlSessions(database, world.clock, idleSessionMs),
  }
  const hasStrangeFiles = async () => (await accounts.count()) === 0 && files.hasAny()
  return { books, clock: world.clock, shared: null, hasStrangeFiles }
}

async function openShared(
  config: Config,
  world: World,
  isBeside: boolean,
  onStop: (step: () => Promise<void> | void) => void,
): Promise<Records> {
  const { dataDir } = config
  const url = databaseUrl(config)
  const database = await openPostgres(url, { connections: config.databaseConnections })
  onStop(() => database.close())
  const clock = await DatabaseClock.open(world.clock, database)
  const times = world.lease ?? usualLease
  const lease = new Lease(newId('box', clock.nowMs(), world.random), clock, times)
  const { leaseMs, renewMs } = times
  const options = { id: lease.boxId, name: config.boxName || hostname(), url, clock, leaseMs, graceMs: 2 * renewMs }
  const boxes = new PostgresBoxes(database, options)
  const parts = { clock, random: world.random, box: lease }
  const accounts = new SqlAccounts(database, parts)
  onStop(() => accounts.close())
  const presets = new Set(world.catalog.cards().flatMap((card) => card.voices.map(({ id }) => id)))
  const books = {
    accounts,
    ledger: new SqlLedger(database, parts),
    voices: new SqlVoices(database, parts),
    files: new PostgresVoiceFiles(database),
    consents: new SqlConsents(database, new PostgresConsentFiles(database), parts),
    made: new SharedPreviewFiles(database, new FolderPreviewFiles(dataDir), (id) => presets.has(id)),
    uploads: isBeside ? shareUploads(dataDir) : makeUploads(dataDir),
    storage: new SharedStorage(dataDir, lease),
    sessions: new SqlSessions(database, clock, idleSessionMs),
  }
  const shared = {
    boxes,
    lease,
    measureClock: () => clock.measure(),
    alone: <T>(work: () => Promise<T>) => database.alone(work),
  }
  return { books, clock, shared, hasStrangeFiles: async () => false }
}

/** For commands that find no server on this machine. */
export const openOwnDatabase = (config: Config): Promise<Database> =>
  config.database === '' ? openSqlite(config.dataDir) : openPostgres(databaseUrl(config), { connections: 2 })

/** With the password from the file, if given. @throws Failure if one of the two is invalid */
export function databaseUrl({ database, databasePasswordFile }: Config): string {
  if (!/^postgres(ql)?:\/\//.test(database) || !URL.canParse(database)) {
    throw new Failure('MYNA_DATABASE is not an address of the form postgres://USER:PASSWORD@HOST/NAME', 'bad_setting')
  }
  const url = new URL(database)
  if (databasePasswordFile === '') return url.href
  try {
    url.password = encodeURIComponent(readFileSync(databasePasswordFile, 'utf8').trim())
  } catch (cause) {
    throw new Failure(`MYNA_DATABASE_PASSWORD_FILE cannot be read: ${(cause as Error).message}`, 'bad_setting')
  }
  return url.href
}

/**
 * Arguments of a process can be read by every user of the machine.
 * @throws Failure
 */
export function refusePassword(database: string): void {
  if (!URL.canParse(database) || new URL(database).password === '') return
  throw new Failure(
    'A password among the arguments is shown to every user of this machine by ps. Put the whole address into ' +
      'MYNA_DATABASE, or the password into a file that MYNA_DATABASE_PASSWORD_FILE names.',
    'bad_setting',
  )
}
