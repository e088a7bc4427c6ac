import { expect, test } from 'bun:test'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { startCommand } from '../../testing/command.ts'
import { until } from '../../testing/until.ts'

const main = join(import.meta.dir, '..', '..', 'main.ts')

/** A server whose output goes to the journal. */
function startUnit(dataDir: string) {
  const journal = join(temporaryFolder(), 'journal')
  const output = openSync(journal, 'w')
  const { dev, ino } = fstatSync(output)
  const child = Bun.spawn([process.execPath, main, 'serve', '--port', '0', '--data', dataDir], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', JOURNAL_STREAM: `${dev}:${ino}` },
    stdout: output,
    stderr: 'pipe',
  })
  closeSync(output)
  return { child, journal }
}

test('under systemd the first key is in a file of its owner, not in the journal', async () => {
  const dataDir = temporaryFolder()
  const { child, journal } = startUnit(dataDir)
  await until('the banner is printed', () => readFileSync(journal, 'utf8').includes('administrator key'))
  child.kill('SIGKILL')
  await child.exited
  const path = join(dataDir, 'first-key')
  const key = readFileSync(path, 'utf8').trim()
  expect([key.startsWith('sk-myna-'), statSync(path).mode & 0o777]).toEqual([true, 0o600])
  expect(readFileSync(journal, 'utf8')).toContain(`is in ${path}: copy it, then delete the file`)
  expect(readFileSync(journal, 'utf8')).not.toContain(key)
}, 30_000)

test('the key of a database that is gone makes room for that of the new one', async () => {
  const dataDir = temporaryFolder()
  const path = join(dataDir, 'first-key')
  writeFileSync(path, 'sk-myna-old\n', { mode: 0o644 })
  const { child, journal } = startUnit(dataDir)
  await until('the banner is printed', () => readFileSync(journal, 'utf8').includes('administrator key'))
  child.kill('SIGKILL')
  await child.exited
  expect(readFileSync(path, 'utf8')).toMatch(/^sk-myna-(?!old)\S{20,}\n$/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
}, 30_000)

test('a server whose first key cannot be kept ends, and says why', async () => {
  const dataDir = temporaryFolder()
  mkdirSync(join(dataDir, 'first-key', 'full'), { recursive: true })
  const { child } = startUnit(dataDir)
  expect(await child.exited).toBe(1)
  expect(await new Response(child.stderr).text()).toContain(join(dataDir, 'first-key'))
}, 30_000)

test('at a terminal, or piped elsewhere, it is shown', async () => {
  const dataDir = temporaryFolder()
  const env = { JOURNAL_STREAM: '1:2' }
  const child = startCommand(['serve', '--port', '0', '--data', dataDir, '--json'], { env })
  const { value } = await child.stdout.getReader().read()
  child.kill('SIGKILL')
  await child.exited
  expect(new TextDecoder().decode(value)).toContain('"first_key":"sk-myna-')
}, 30_000)
