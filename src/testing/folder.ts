/**
 * Temporary folders for tests. All of a test process lie in one folder that bears its number; each process removes what
 * processes before it left. Nobody else could: Bun has no hook for the end of all test files, and runs `afterAll` of a
 * module that several files share after the first of them.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'myna-test-'
const root = join(tmpdir(), `${prefix}${process.pid}`)

for (const name of readdirSync(tmpdir())) {
  const pid = new RegExp(`^${prefix}(\\d+)$`).exec(name)?.[1]
  if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/** Makes an empty folder. */
export function temporaryFolder(): string {
  mkdirSync(root, { recursive: true })
  return mkdtempSync(join(root, 'folder-'))
}
