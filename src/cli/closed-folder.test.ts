import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../testing/command.ts'
import { ownProgram } from '../testing/own-program.ts'
import { temporaryFolder } from '../testing/folder.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const unshare = Bun.which('unshare')
// Root may read everything: the commands run as a user who may not.
const other = [unshare ?? '', '-r', '--map-user=1000']
const canBeOther = unshare !== null && Bun.spawnSync([...other, 'true']).success
const closed = join(temporaryFolder(), 'data')
const myna = (...args: string[]) =>
  runCommand([...args, '--data', closed], { program: [...other, ...ownProgram], env: { MYNA_PORT: '0' } })

beforeAll(async () => {
  await runCommand(['accounts', 'create', 'ada', '--data', closed])
  chmodSync(closed, 0)
})

// Skipped where the system does not allow becoming another user (no user namespaces).
test.skipIf(!canBeOther)("another user's data folder is not taken for an empty one", async () => {
  for (const args of [['ps'], ['keys', 'list'], ['models', 'list'], ['audit'], ['voices', 'list'], ['serve']]) {
    const { code, stdout, stderr } = await myna(...args)
    expect([args, code, stdout, stderr]).toEqual([args, 1, '', expect.stringContaining('belongs to another user')])
  }
  const named = await myna('voices', 'list', '--url', 'http://127.0.0.1:1')
  expect(named.stderr).toContain('No server answers at http://127.0.0.1:1')
})

// Skipped where the system does not allow becoming another user (no user namespaces).
test.skipIf(!canBeOther)('doctor says so and stops there', async () => {
  const { code, stdout, stderr } = await myna('doctor')
  expect([code, stderr]).toEqual([1, ''])
  expect(stdout).toContain(`FAIL  data folder  ${closed} cannot be written`)
  expect(stdout).not.toContain('no database')
})
