import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../audit/audit.ts'
import { loadConfig } from '../config.ts'
import { systemRandom } from '../domain/id.ts'
import { systemClock } from '../domain/time.ts'
import { startLocal } from '../http/admin-socket.ts'
import { AdminVerbs } from '../service/accounts.ts'
import { deleteOwned } from '../service/library.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { SqlVoices } from '../store/voices.ts'
import { openSqlite } from '../store/sqlite.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { acquireLock, isLocked, tryFileLock } from '../store/lock.ts'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { hum, startInstance } from '../testing/instance.ts'
import { serverStatus, withAdministration } from './administration.ts'
import { lockOf } from './lock-of.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const parts = { clock: systemClock, random: systemRandom }
const configOf = (dataDir: string) => loadConfig({ dataDir }, {})
const names = (dataDir: string) =>
  withAdministration(configOf(dataDir), false, async (verbs) => (await verbs.listAccounts()).map(({ name }) => name))

/** Owns the folder as a server does: lock, database, local socket. */
async function serve(dataDir: string) {
  const lock = acquireLock(dataDir)
  const database = await openSqlite(dataDir)
  const administration = new AdminVerbs(new SqlAccounts(database, parts), new SqlLedger(database, parts), {
    ...parts,
    deleteVoices: (id) => deleteOwned(new SqlVoices(database, parts), id),
  })
  const status = async () => ({
    version: '0.0.0',
    pid: process.pid,
    url: 'http://127.0.0.1:1',
    uptimeMs: 60_000,
    readiness: 'ready' as const,
    queue: { running: 2, waiting: 1, use: 0.25, gaps: { count: 0, ms: 0 }, shed: 0 },
    pendingOperations: 3,
    engines: [],
    troubles: [],
  })
  const clientAccess = async () => ({ url: 'http://127.0.0.1:1', apiKey: 'sk-myna-none' })
  const onError = (error: unknown) => {
    throw error
  }
  const metrics = async () => new Response('')
  const dismissModel = () => {}
  const handOver = async () => {}
  const local = startLocal({ dataDir, administration, status, clientAccess, handOver, metrics, dismissModel, onError })
  return {
    stop: async () => {
      await local.stop()
      await database.close()
      lock.release()
    },
  }
}

test('a command owns a folder that no server uses, and gives it back', async () => {
  const dataDir = join(temporaryFolder(), 'new')
  const account = await withAdministration(configOf(dataDir), true, (verbs) => {
    expect(isLocked(dataDir)).toBe(true)
    return verbs.createAccount({ name: 'anna', role: 'user', balanceMicros: null })
  })
  expect(account.name).toBe('anna')
  expect(isLocked(dataDir)).toBe(false)
  expect(await names(dataDir)).toEqual(['anna'])
  expect(await serverStatus(dataDir)).toBeNull()
})

test('a folder between two servers is owned by no command, although no server has its lock', async () => {
  const dataDir = temporaryFolder()
  await names(dataDir)
  const waiting = tryFileLock(join(dataDir, 'successor.lock'))
  const asked = withAdministration(configOf(dataDir), false, (verbs) => verbs.listAccounts(), 200)
  await expect(asked).rejects.toMatchObject({ code: 'server_silent' })
  expect(() => lockOf(dataDir)).toThrow('A server runs on')
  expect(isLocked(dataDir)).toBe(false)
  waiting?.release()
  expect(await names(dataDir)).toEqual([])
  lockOf(dataDir).release()
})

test('a failing verb gives the folder back too', async () => {
  const dataDir = temporaryFolder()
  const credit = withAdministration(configOf(dataDir), false, (verbs) => verbs.credit({ name: 'no', amountMicros: 1 }))
  expect(await credit.catch((error: unknown) => error)).toMatchObject({ code: 'validation_error' })
  expect(isLocked(dataDir)).toBe(false)
})

test('looking at a missing folder does not create it', async () => {
  const dataDir = join(temporaryFolder(), 'none')
  await expect(names(dataDir)).rejects.toThrow('There is no data folder')
  expect(await serverStatus(dataDir)).toBeNull()
  expect(existsSync(dataDir)).toBe(false)
})

test('a running server does the work: keys are issued, listed and revoked through its socket', async () => {
  const dataDir = temporaryFolder()
  const server = await serve(dataDir)
  try {
    const myna = async (...args: string[]) => {
      const result = await runCommand([...args, '--json', '--data', dataDir])
      expect(result).toMatchObject({ code: 0, stderr: '' })
      return JSON.parse(result.stdout) as Record<string, unknown>[] & Record<string, Record<string, unknown>>
    }
    const issued = await myna('keys', 'create', '--account', 'anna', '--scopes', 'tts', '--name', 'phone')
    expect(issued).toMatchObject({ account_created: true, key: { name: 'phone', scopes: ['tts'] } })
    const id = String(issued.key?.id)
    expect(await myna('keys', 'revoke', id)).toMatchObject({ id, revoked: true })
    expect((await myna('keys', 'list'))[0]).toMatchObject({ id, account_name: 'anna' })
    expect((await myna('ps')).server).toMatchObject({ readiness: 'ready', pending_operations: 3 })
    const refused = await runCommand(['accounts', 'credit', 'anna', '5usd', '--data', dataDir])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain("The account 'anna' is unmetered")
  } finally {
    await server.stop()
  }
  expect(await names(dataDir)).toEqual(['anna'])
})

test('an owner that does not answer is named, after a while', async () => {
  const dataDir = temporaryFolder()
  const lock = acquireLock(dataDir)
  try {
    const asked = withAdministration(configOf(dataDir), false, (verbs) => verbs.listAccounts(), 100)
    await expect(asked).rejects.toThrow(`A server owns the data folder ${dataDir}, but does not answer`)
  } finally {
    lock.release()
  }
})

test('a command waits for a server that is still starting', async () => {
  const dataDir = temporaryFolder()
  const lock = acquireLock(dataDir)
  const asked = withAdministration(configOf(dataDir), false, (verbs) => verbs.listAccounts())
  lock.release()
  const server = await serve(dataDir)
  expect(await asked).toEqual([])
  await server.stop()
})

test('commands that run at once wait for one another', async () => {
  const dataDir = temporaryFolder()
  const accounts = ['a', 'b', 'c', 'd']
  const results = await Promise.all(accounts.map((name) => runCommand(['accounts', 'create', name, '--data', dataDir])))
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(accounts.map(() => [0, '']))
  expect((await names(dataDir)).sort()).toEqual(accounts)
})

test('a removed account leaves no consent behind, even without a running server', async () => {
  const dataDir = temporaryFolder()
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'Ada', language: 'en', recording: hum(4) }))
    form.append(name, value)
  {
    await using instance = await startInstance({ dataDir })
    const key = await instance.key({ account: 'ada' })
    const answer = await instance.fetch('/v1/audio/voice_consents', { method: 'POST', key, body: form })
    expect(answer.status).toBe(200)
  }
  expect(readdirSync(join(dataDir, 'consents'))).toHaveLength(1)
  expect(await runCommand(['accounts', 'rm', 'ada'], { env: { MYNA_DATA: dataDir } })).toMatchObject({ code: 0 })
  expect(readdirSync(join(dataDir, 'consents'))).toEqual([])
  expect((await audit(dataDir, 'full')).faults).toEqual([])
})
