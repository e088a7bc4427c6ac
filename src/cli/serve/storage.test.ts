/** Storage faults, while the server runs or at its start: each is noticed, reported and survived. */
import { afterEach, describe, expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { until } from '../../testing/until.ts'

const started: Program[] = []
afterEach(async () => {
  for (const program of started.splice(0)) await program.end()
})

async function start(dataDir: string, command?: string[]): Promise<Program> {
  const program = await startProgram(dataDir, {}, [], command)
  started.push(program)
  return program
}

const checks = async (program: Program) => {
  const answer = await program.fetch('/readyz')
  return { status: answer.status, ...((await answer.json()) as { checks: Record<string, string> }).checks }
}
const shows = (program: Program, what: string, state: string) =>
  until(`${what} is ${state}`, async () => (await checks(program))[what as 'status'] === (state as unknown))
const metric = async (program: Program, check: string) =>
  (await program.metrics()).includes(`voice_storage_ok{check="${check}"} 0`)
const accountOf = async (program: Program, key: string) => (await program.fetch('/v1/me', key)).status
const database = (dataDir: string) => join(dataDir, 'myna.db')

/** What a full disk means for one process: no file of it may grow beyond this many bytes. */
function limitFiles(pid: number, bytes: number | null): void {
  const { exitCode } = Bun.spawnSync(['prlimit', '--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`])
  expect(exitCode).toBe(0)
}

/** Writes into a file as a failing disk does: its length and its inode stay. */
function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

/** A data folder with an account and some finished work. @returns the key */
async function worked(dataDir: string, end: 'SIGTERM' | 'SIGKILL'): Promise<string> {
  const program = await start(dataDir)
  for (let turn = 0; turn < 8; turn++)
    await (await program.speak(program.key, { input: `Hello ${turn}.` })).arrayBuffer()
  program.kill(end)
  await program.exited
  return program.key
}

const garbage = new Uint8Array(4096).fill(0xa5)

describe('while the server runs', () => {
  test('a full disk is noticed even without a request, and the server recovers', async () => {
    const program = await start(temporaryFolder())
    limitFiles(program.pid, 0)
    await shows(program, 'disk', 'full')
    expect((await checks(program)).status).toBe(503)
    expect(await metric(program, 'disk')).toBe(true)
    expect(program.stderr()).toMatch(/WARN "?storage: disk: the disk of .* is full/)
    limitFiles(program.pid, null)
    await shows(program, 'disk', 'ok')
    expect((await checks(program)).status).toBe(200)
    expect(program.stderr()).toMatch(/INFO "?storage: disk: healthy again/)
  }, 60_000)

  test('a deleted log is reported, and its contents survive a kill', async () => {
    const dataDir = temporaryFolder()
    const program = await start(dataDir)
    rmSync(`${database(dataDir)}-wal`)
    await until('it is reported', () => program.stderr().includes('myna.db-wal was deleted'))
    expect(existsSync(`${database(dataDir)}-wal`)).toBe(true)
    await shows(program, 'database', 'ok')
    program.kill('SIGKILL')
    await program.exited
    const again = await start(dataDir)
    expect(await accountOf(again, program.key)).toBe(200)
  }, 60_000)

  test('a database that was moved away is reported until it is back', async () => {
    const dataDir = temporaryFolder()
    const program = await start(dataDir)
    renameSync(database(dataDir), `${database(dataDir)}.away`)
    await shows(program, 'database', 'failed')
    expect(program.stderr()).toContain('myna.db is gone')
    renameSync(`${database(dataDir)}.away`, database(dataDir))
    await shows(program, 'database', 'ok')
  }, 60_000)

  test('a deleted folder of uploads is created again', async () => {
    const dataDir = temporaryFolder()
    const program = await start(dataDir)
    rmSync(join(dataDir, 'uploads'), { recursive: true })
    await until('it is reported', () => program.stderr().includes('uploads was deleted; it has been created again'))
    expect(statSync(join(dataDir, 'uploads')).mode & 0o777).toBe(0o700)
  }, 60_000)

  test('damaged pages are reported, nothing is served from them, and the server recovers', async () => {
    const dataDir = temporaryFolder()
    const key = await worked(dataDir, 'SIGTERM')
    const program = await start(dataDir)
    await shows(program, 'database', 'ok')
    const whole = readFileSync(database(dataDir))
    for (let at = 4096; at < whole.length; at += 4096) overwrite(database(dataDir), at, garbage)
    await shows(program, 'database', 'damaged')
    const refused = await program.fetch('/v1/me', key)
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('database_damaged')])
    await until('it is reported', () => program.stderr().includes('nothing is read from it or written to it'))
    expect(await metric(program, 'database')).toBe(true)
    overwrite(database(dataDir), 0, whole)
    await shows(program, 'database', 'ok')
    expect(await accountOf(program, key)).toBe(200)
  }, 60_000)
})

describe('at the start', () => {
  test('a damaged database is found in the background', async () => {
    const dataDir = temporaryFolder()
    const key = await worked(dataDir, 'SIGTERM')
    // The last pages hold indexes and late rows, which a start does not read.
    const { size } = statSync(database(dataDir))
    overwrite(database(dataDir), size - 4096, garbage)
    const program = await start(dataDir)
    await shows(program, 'database', 'damaged')
    expect(await accountOf(program, key)).toBe(503)
  }, 60_000)

  test('after a kill, a damaged database is refused before anything is written', async () => {
    const dataDir = temporaryFolder()
    const key = await worked(dataDir, 'SIGTERM')
    const between = await start(dataDir)
    await (await between.speak(key, { input: 'Hello.' })).arrayBuffer()
    between.kill('SIGKILL')
    await between.exited
    // Some of the pages are also in the log, undamaged.
    const { size } = statSync(database(dataDir))
    for (let at = 4096; at < size; at += 4096) overwrite(database(dataDir), at, garbage)
    copyFileSync(database(dataDir), `${database(dataDir)}.seen`)
    const program = await start(dataDir)
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/myna\.db is damaged \(.*\)\. Restore a backup in its place \(myna restore\)/)
    expect(readFileSync(database(dataDir)).equals(readFileSync(`${database(dataDir)}.seen`))).toBe(true)
  }, 60_000)

  test('a log that is damaged in its middle is refused, because commits follow', async () => {
    const dataDir = temporaryFolder()
    await worked(dataDir, 'SIGKILL')
    overwrite(`${database(dataDir)}-wal`, 32 + 24 + 100, garbage.subarray(0, 8))
    const program = await start(dataDir)
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/myna\.db-wal is damaged: page 1 of \d+ is wrong, so that \d+ commits/)
  }, 60_000)

  test('a log whose last commit was torn is used up to there', async () => {
    const dataDir = temporaryFolder()
    const key = await worked(dataDir, 'SIGKILL')
    const { size } = statSync(`${database(dataDir)}-wal`)
    overwrite(`${database(dataDir)}-wal`, size - 4096, garbage.subarray(0, 8))
    const program = await start(dataDir)
    expect(await accountOf(program, key)).toBe(200)
  }, 60_000)

  test('a full disk is called a full disk', async () => {
    const main = join(import.meta.dir, '..', '..', 'main.ts')
    const program = await start(temporaryFolder(), ['prlimit', '--fsize=0', process.execPath, main])
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/The server cannot start: the disk of .* is full\. Free some space/)
  }, 60_000)
})
