import { expect, test } from 'bun:test'
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { startCommand } from '../../testing/command.ts'
import { until } from '../../testing/until.ts'

const main = join(import.meta.dir, '..', '..', 'main.ts')

test('under systemd the first key is in a file of its owner, not in the journal', async () => {
  const dataDir = temporaryFolder()
  const journal = join(temporaryFolder(), 'journal')
  const output = openSync(journal, 'w')
  const { dev, ino } = fstatSync(output)
  const child = Bun.spawn([process.execPath, main, 'serve', '--port', '0', '--data', dataDir], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', JOURNAL_STREAM: `${dev}:${ino}` },
    stdout: output,
    stderr: 'ignore',
  })
  closeSync(output)
  await until('the banner is printed', () => readFileSync(journal, 'utf8').includes('administrator key'))
  child.kill('SIGKILL')
  await child.exited
  const path = join(dataDir, 'first-key')
  const key = readFileSync(path, 'utf8').trim()
  expect([key.startsWith('sk-myna-'), statSync(path).mode & 0o777]).toEqual([true, 0o600])
  expect(readFileSync(journal, 'utf8')).toContain(`is in ${path}: copy it, then delete the file`)
  expect(readFileSync(journal, 'utf8')).not.toContain(key)
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
