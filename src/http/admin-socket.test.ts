import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemRandom } from '../domain/id.ts'
import { systemClock } from '../domain/time.ts'
import { AdminVerbs } from '../service/accounts.ts'
import { deleteOwned } from '../service/library.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { SqlVoices } from '../store/voices.ts'
import { openSqlite } from '../store/sqlite.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { type LocalServer, localSocketPath, type ServerStatus, startLocal } from './admin-socket.ts'

const parts = { clock: systemClock, random: systemRandom }
const serverStatus: ServerStatus = {
  version: '1.2.3',
  pid: 7,
  url: 'http://127.0.0.1:8790',
  uptimeMs: 5000,
  readiness: 'ready',
  queue: { running: 1, waiting: 2, use: 0.25, gaps: { count: 0, ms: 0 }, shed: 0 },
  pendingOperations: 3,
  engines: [],
  troubles: [],
}
const dismissed: string[] = []
let stopAll: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopAll) await stop()
  stopAll = []
})

async function start(dataDir: string, status = async () => serverStatus, errors: unknown[] = []): Promise<LocalServer> {
  const database = await openSqlite(dataDir)
  const administration = new AdminVerbs(new SqlAccounts(database, parts), new SqlLedger(database, parts), {
    ...parts,
    deleteVoices: (id) => deleteOwned(new SqlVoices(database, parts), id),
  })
  const server = startLocal({
    dataDir,
    administration,
    status,
    clientAccess: async () => ({ url: 'http://127.0.0.1:1', apiKey: 'sk-myna-none' }),
    handOver: async () => {},
    metrics: async () => new Response('voice_build_info 1\n'),
    dismissModel: (model) => void dismissed.push(model),
    onError: (error) => errors.push(error),
  })
  stopAll.push(async () => {
    await server.stop()
    await database.close()
  })
  return server
}

async function ask(server: LocalServer, verb: string, body: string, method = 'POST') {
  const init = method === 'GET' ? { method } : { method, body }
  const answer = await fetch(`http://localhost/${verb}`, { ...init, unix: server.path })
  return { status: answer.status, body: (await answer.json()) as unknown }
}

test('only the owner of the data folder can open the socket, and it disappears with the server', async () => {
  const dataDir = temporaryFolder()
  const server = await start(dataDir)
  expect(server.path).toBe(localSocketPath(dataDir))
  expect(statSync(server.path).isSocket()).toBe(true)
  expect((statSync(server.path).mode & 0o777).toString(8)).toBe('600')
  await server.stop()
  expect(existsSync(server.path)).toBe(false)
})

test('the socket of a dead server is replaced', async () => {
  const dataDir = temporaryFolder()
  writeFileSync(localSocketPath(dataDir), '')
  const server = await start(dataDir)
  expect((await ask(server, 'status', '{}')).body).toEqual({ result: serverStatus })
})

test('a data folder with a path longer than a socket address works', async () => {
  const dataDir = join(temporaryFolder(), 'a'.repeat(100), 'b'.repeat(100))
  mkdirSync(dataDir, { recursive: true })
  const server = await start(dataDir)
  expect((await ask(server, 'listAccounts', '{}')).body).toEqual({ result: [] })
})

test('verbs are carried out, and their refusals keep code and message', async () => {
  const server = await start(temporaryFolder())
  const name = { account: 'anna', name: 'x', scopes: ['tts'], expires: null }
  const issued = await ask(server, 'createKey', JSON.stringify(name))
  expect(issued).toMatchObject({ status: 200, body: { result: { accountCreated: true, account: { name: 'anna' } } } })
  const { id } = (issued.body as { result: { key: { id: string } } }).result.key
  expect(await ask(server, 'revokeKey', JSON.stringify({ id }))).toEqual({ status: 200, body: { result: null } })
  const refused = await ask(server, 'disableAccount', '{"name":"nobody"}')
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } })
  expect(JSON.stringify(refused.body)).toContain("There is no account 'nobody'.")
})

test('an unexpected error is also reported to the server', async () => {
  const errors: unknown[] = []
  const failing = () => Promise.reject(new Error('the engine is on fire'))
  const server = await start(temporaryFolder(), failing, errors)
  const error = { code: 'internal_error', message: 'the engine is on fire' }
  expect(await ask(server, 'status', '{}')).toEqual({ status: 500, body: { error } })
  expect(errors).toHaveLength(1)
})

test('refuses everything else: other verbs, other methods, bodies that are not objects', async () => {
  const server = await start(temporaryFolder())
  for (const verb of ['', 'dropEverything', 'constructor', 'status/x']) {
    expect(await ask(server, verb, '{}')).toMatchObject({ status: 404, body: { error: { code: 'unknown_url' } } })
  }
  expect(await ask(server, 'status', '', 'GET')).toMatchObject({ status: 404 })
  for (const body of ['7', 'null', '{"name":']) {
    expect(await ask(server, 'disableAccount', body)).toMatchObject({ body: { error: { code: 'invalid_json' } } })
  }
  expect(await ask(server, 'disableAccount', '[]')).toMatchObject({ body: { error: { code: 'validation_error' } } })
})

test('drops a model whose files are gone, by its id', async () => {
  const server = await start(temporaryFolder())
  expect(await ask(server, 'dismissModel', '{"model":"kokoro"}')).toEqual({ status: 200, body: { result: null } })
  expect(dismissed).toEqual(['kokoro'])
  for (const body of ['{}', '{"model":7}']) {
    expect(await ask(server, 'dismissModel', body)).toMatchObject({ body: { error: { code: 'validation_error' } } })
  }
})
