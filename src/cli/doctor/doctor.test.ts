import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../config.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { openBooks } from '../../store/books.fixture.ts'
import { acquireLock } from '../../store/lock.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { checkBooks, checkDisk, checkFolder } from './data.ts'
import { checkPort, checkServer } from './machine.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const doctor = (dataDir: string, env: Record<string, string> = {}) =>
  runCommand(['doctor', '--json', '--data', dataDir], { env: { MYNA_PORT: '0', ...env } })

interface Result {
  healthy: boolean
  findings: { about: string; state: string; message: string }[]
}

test('a healthy folder: every check runs, and none fails', async () => {
  const dataDir = temporaryFolder()
  const database = await openSqlite(dataDir)
  await database.close()
  const { code, stdout, stderr } = await doctor(dataDir)
  expect([code, stderr]).toEqual([0, ''])
  const { healthy, findings } = JSON.parse(stdout) as Result
  expect(healthy).toBe(true)
  const of = (about: string) => findings.find((finding) => finding.about === about)
  expect(of('database')?.message).toContain('intact, 0 accounts, 0 keys')
  expect(of('native code')?.message).toContain('draws')
  expect(of('inference')?.message).toMatch(/^ONNX Runtime [\d.]+ computes exactly/)
  expect(of('voice')?.message).toMatch(/^hibari spoke [1-9].* s of audio/)
  expect(of('server')).toMatchObject({ state: 'note' })
}, 60_000)

test('an engine keeps no telemetry, which ONNX Runtime would send to its maker', async () => {
  const home = temporaryFolder()
  const { stdout } = await doctor(temporaryFolder(), { HOME: home })
  expect(stdout).toContain('computes exactly')
  expect([...new Bun.Glob('**/Microsoft/**').scanSync({ cwd: home, dot: true })]).toEqual([])
}, 60_000)

test('a broken folder exits with 1 and says what to do, and the other checks still run', async () => {
  const dataDir = join(temporaryFolder(), 'file')
  writeFileSync(dataDir, 'this is no folder')
  const { code, stdout } = await runCommand(['doctor', '--data', dataDir], { env: { MYNA_PORT: '0' } })
  expect(code).toBe(1)
  expect(stdout).toContain('FAIL  data folder')
  expect(stdout).toContain('-> Make the user who runs Myna its owner')
  expect(stdout).toContain('computes exactly')
}, 60_000)

test('a folder: open to others, missing, impossible', () => {
  const dataDir = temporaryFolder()
  expect(checkFolder(dataDir).state).toBe('ok')
  chmodSync(dataDir, 0o755)
  expect(checkFolder(dataDir)).toMatchObject({ state: 'warning', remedy: `chmod 700 ${dataDir}` })
  expect(checkFolder(join(dataDir, 'new', 'er')).state).toBe('note')
  expect(existsSync(join(dataDir, 'new'))).toBe(false)
  expect(checkFolder('/proc/myna').state).toBe('failed')
  expect(checkDisk(join(dataDir, 'new')).message).toEndWith(`free at ${dataDir}`)
})

test('database: missing, sound, in use, of a newer program, damaged in the middle, not a database', async () => {
  const dataDir = temporaryFolder()
  expect((await checkBooks(dataDir)).state).toBe('note')
  const database = await openSqlite(dataDir)
  expect((await checkBooks(dataDir)).state).toBe('ok')
  const lock = acquireLock(dataDir)
  expect((await checkBooks(dataDir)).state).toBe('ok')
  lock.release()
  await database.run("INSERT INTO migrations (name) VALUES ('999_future')")
  expect(await checkBooks(dataDir)).toMatchObject({ state: 'failed', message: expect.stringContaining('newer myna') })
  await database.close()
  const path = join(dataDir, 'myna.db')
  const bytes = await Bun.file(path).bytes()
  writeFileSync(path, bytes.fill(0x5a, 4096, statSync(path).size - 4096))
  expect(await checkBooks(dataDir)).toMatchObject({ state: 'failed' })
  writeFileSync(path, 'this is no database, and it never was one')
  expect(await checkBooks(dataDir)).toMatchObject({ state: 'failed' })
})

test('a database of one account with one key, before and after it is an administrator', async () => {
  const { dataDir, database } = await openBooks()
  expect(await checkBooks(dataDir)).toMatchObject({
    state: 'warning',
    message: 'there is no active administrator',
    remedy: expect.stringMatching(/^Create one: myna accounts role .+ admin$/),
  })
  await database.run("UPDATE accounts SET role = 'admin'")
  await database.close()
  expect((await checkBooks(dataDir)).message).toMatch(/^intact, 1 account, 1 key, /)
})

test('the address: free, served by another Myna, in use by something else', async () => {
  const at = (port: number) => loadConfig({ port }, {})
  const other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json(body),
  })
  let body: unknown = { name: 'Myna', version: '9.9.9', api_version: 'v1' }
  const port = other.port ?? 0
  expect(await checkPort(at(port), null)).toMatchObject({ state: 'warning', message: expect.stringContaining('9.9.9') })
  body = { name: 'another' }
  expect(await checkPort(at(port), null)).toMatchObject({ state: 'failed' })
  await other.stop(true)
  expect(await checkPort(at(port), null)).toMatchObject({ state: 'ok', message: `127.0.0.1:${port} is free` })
  expect(await checkPort(loadConfig({ port, host: '203.0.113.7' }, {}), null)).toMatchObject({ state: 'failed' })
})

test('a running server is as ready as it says, and a server that does not answer has failed', async () => {
  let answer = () => Response.json({ status: 'ready' })
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => answer() })
  const status = {
    version: '1.0.0',
    pid: 1,
    url: `http://127.0.0.1:${server.port}`,
    uptimeMs: 65_000,
    readiness: 'ready' as const,
    queue: { running: 0, waiting: 0, use: 0.25, gaps: { count: 0, ms: 0 }, shed: 0 },
    pendingOperations: 0,
    engines: [],
    troubles: [],
  }
  expect(await checkServer(status)).toMatchObject({ state: 'ok', message: 'ready, version 1.0.0, up 1 min 5 s' })
  answer = () => Response.json({ status: 'degraded' })
  expect(await checkServer(status)).toMatchObject({ state: 'warning' })
  const troubles = ['a could not be loaded: no graph', 'b is not whole: without c'].map((words) => ({
    id: words[0]!,
    words,
    task: 'text-to-speech' as const,
  }))
  expect((await checkServer({ ...status, troubles })).message).toBe(
    'degraded, version 1.0.0, up 1 min 5 s: a could not be loaded: no graph; b is not whole: without c',
  )
  answer = () => Response.json({ status: 'draining' }, { status: 503 })
  expect(await checkServer(status)).toMatchObject({ state: 'failed' })
  await server.stop(true)
  expect(await checkServer(status)).toMatchObject({ state: 'failed' })
  expect(await checkPort(loadConfig({}, {}), status)).toMatchObject({ state: 'ok' })
})
