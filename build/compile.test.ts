/** The executable alone in an empty folder, as a user has it. */
import { beforeAll, expect, test } from 'bun:test'
import { copyFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../package.json' with { type: 'json' }
import { temporaryFolder } from '../src/testing/folder.ts'
import { freshExecutable } from './compile.ts'
import { notices } from './notices.ts'

const folder = temporaryFolder()
const myna = join(folder, 'myna')

beforeAll(async () => copyFileSync(await freshExecutable(), myna), 60_000)

/** What people download, models and all. */
const mostBytes = 190_000_000

test('it is smaller than 190 MB', () => {
  expect(statSync(myna).size).toBeLessThan(mostBytes)
})

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, HOME: folder }
  const child = Bun.spawn([myna, ...args], { cwd: folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

test('it prints its version', async () => {
  expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('it contains the notices that the source gathers', async () => {
  expect(await run('licenses')).toEqual({ code: 0, stdout: await notices(), stderr: '' })
})

test('it reads no settings from files of the current folder', async () => {
  writeFileSync(join(folder, '.env'), `MYNA_NATIVE_DIR=${join(folder, '.env', 'no-folder')}\n`)
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./absent.ts"]\n')
  expect(await run('selfcheck-native')).toMatchObject({ code: 0, stderr: '' })
})
