/**
 * Decides how a command reaches the database. One process owns a data folder: while a server does, its local socket is
 * asked; otherwise the command owns the folder itself for a moment. That may change at any time, so a refusal on one
 * path means trying the other, until a deadline.
 */
import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { type ErrorCode, errorCodes, MynaError } from '../domain/error.ts'
import { systemRandom } from '../domain/id.ts'
import { systemClock } from '../domain/time.ts'
import { type ClientAccess, type LocalVerb, localSocketPath, type ServerStatus } from '../http/admin-socket.ts'
import { type Administration, AdminVerbs } from '../service/accounts.ts'
import { deleteOwned } from '../service/library.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { FolderConsentFiles, SqlConsents } from '../store/consents.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { SqlVoices } from '../store/voices.ts'
import { acquireLock, type DataLock, hasSuccessor, isLocked } from '../store/lock.ts'
import { openOwnDatabase } from './serve/records.ts'
import { Failure } from './terminal/terminal.ts'

/** How long the owner of the folder may be silent: a starting server settles its database before it answers. */
const usualPatienceMs = 15_000
const pauseMs = 50
/** Longest wait for one answer: some verbs read the whole usage. */
const answerMs = 60_000
const statusMs = 5000

/**
 * @param make whether to create a missing data folder: only for commands that create something in it
 * @throws Failure if there is no folder or its owner does not answer, StoreError, and what `work` throws
 */
export async function withAdministration<T>(
  config: Config,
  make: boolean,
  work: (verbs: Administration) => Promise<T>,
  patienceMs = usualPatienceMs,
): Promise<T> {
  if (!make && config.database === '' && !existsSync(config.dataDir)) {
    throw new Failure(
      `There is no data folder ${config.dataDir}. Create it with: myna serve, or: myna keys create. Name another ` +
        'one with --data.',
    )
  }
  const deadlineMs = systemClock.monotonicMs() + patienceMs
  for (;;) {
    const lock = tryLock(config.dataDir)
    if (lock !== null) return withOwnBooks(config, lock, work)
    if (await answers(config.dataDir)) return work(remoteVerbs(config.dataDir))
    if (systemClock.monotonicMs() > deadlineMs) {
      throw new Failure(
        `A server owns the data folder ${config.dataDir}, but does not answer on ` +
          `${localSocketPath(config.dataDir)}. It may be stuck or still starting. Look at its log, or stop it and ` +
          'try again.',
        'server_silent',
      )
    }
    await Bun.sleep(pauseMs)
  }
}

/** Status of the server that owns the data folder; null: no server does. @throws Failure if it does not answer */
export async function serverStatus(dataDir: string): Promise<ServerStatus | null> {
  const deadlineMs = systemClock.monotonicMs() + usualPatienceMs
  for (;;) {
    if (!existsSync(dataDir) || !(isLocked(dataDir) || hasSuccessor(dataDir))) return null
    try {
      return (await callServer(dataDir, 'status', {})) as ServerStatus
    } catch (error) {
      // Another command may own the folder for a moment, and a server that starts is not there yet.
      if (!(error instanceof Failure) || systemClock.monotonicMs() > deadlineMs) throw error
    }
    await Bun.sleep(pauseMs)
  }
}

/** Asks the server that owns the data folder; null: no server does. @throws Failure, MynaError */
export async function clientAccess(dataDir: string): Promise<ClientAccess | null> {
  if ((await serverStatus(dataDir)) === null) return null
  return (await callServer(dataDir, 'clientAccess', {})) as ClientAccess
}

/** Notifies a running server that a model's files were added, changed or removed. @throws Failure, MynaError */
export async function dismissModel(dataDir: string, model: string): Promise<void> {
  if ((await serverStatus(dataDir)) !== null) await callServer(dataDir, 'dismissModel', { model })
}

/** @throws StoreError when the folder cannot be used @returns null when another process owns it, or is about to */
function tryLock(dataDir: string): DataLock | null {
  let lock: DataLock
  try {
    lock = acquireLock(dataDir)
  } catch (error) {
    if (existsSync(dataDir) && isLocked(dataDir)) return null
    throw error
  }
  if (!hasSuccessor(dataDir)) return lock
  lock.release()
  return null
}

async function withOwnBooks<T>(config: Config, lock: DataLock, work: (verbs: Administration) => Promise<T>) {
  try {
    const database = await openOwnDatabase(config)
    const parts = { clock: systemClock, random: systemRandom }
    const accounts = new SqlAccounts(database, parts)
    try {
      // Their files are removed when the next server starts, as are those that a crash left.
      const deleteVoices = async (accountId: string) => {
        // On PostgreSQL recordings go with their rows, and the folder has none.
        const recordings = new FolderConsentFiles(config.dataDir, database)
        await new SqlConsents(database, recordings, parts).removeOwned(accountId)
        return deleteOwned(new SqlVoices(database, parts), accountId)
      }
      return await work(new AdminVerbs(accounts, new SqlLedger(database, parts), { ...parts, deleteVoices }))
    } finally {
      await accounts.close()
      await database.close()
    }
  } finally {
    lock.release()
  }
}

async function answers(dataDir: string): Promise<boolean> {
  try {
    await callServer(dataDir, 'status', {})
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

const remoteVerbs = (dataDir: string): Administration => {
  const ask =
    <Argument extends object, Result>(verb: LocalVerb) =>
    (argument?: Argument) =>
      callServer(dataDir, verb, argument ?? {}) as Promise<Result>
  return {
    createAccount: ask('createAccount'),
    listAccounts: ask('listAccounts'),
    credit: ask('credit'),
    setMetering: ask('setMetering'),
    setLimits: ask('setLimits'),
    disableAccount: ask('disableAccount'),
    enableAccount: ask('enableAccount'),
    renameAccount: ask('renameAccount'),
    setRole: ask('setRole'),
    removeAccount: ask('removeAccount'),
    createKey: ask('createKey'),
    listKeys: ask('listKeys'),
    revokeKey: ask('revokeKey'),
    usage: ask('usage'),
  }
}

/** @throws Failure if there is no answer, MynaError with the server's own code and message */
export async function callServer(dataDir: string, verb: LocalVerb, argument: object): Promise<unknown> {
  const body = await exchange(localSocketPath(dataDir), verb, argument)
  if (typeof body === 'object' && body !== null && 'result' in body) return body.result
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const known = errorCodes.find((one): one is ErrorCode => one === code) ?? 'internal_error'
  throw new MynaError(
    known,
    typeof message === 'string' ? message : 'The running server gave an answer that this version does not understand.',
  )
}

async function exchange(socket: string, verb: LocalVerb, argument: object): Promise<unknown> {
  try {
    const answer = await fetch(`http://localhost/${verb}`, {
      unix: socket,
      method: 'POST',
      body: JSON.stringify(argument),
      signal: AbortSignal.timeout(verb === 'status' ? statusMs : answerMs),
    })
    return await answer.json()
  } catch (error) {
    throw new Failure(`The running server does not answer on ${socket}: ${(error as Error).message}`, 'server_silent')
  }
}
