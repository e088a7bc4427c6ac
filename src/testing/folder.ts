/**
 * Temporary folders for tests. All folders of a test process are inside one folder named after its process id. Each
 * process removes the folders of earlier processes, because nothing else can: Bun has no hook for the end of all test
 * files, and it runs `afterAll` of a module that several files share after the first of them.
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
