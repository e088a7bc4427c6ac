/** The program as its users run it: a process of its own, with its arguments, streams and exit code. */
import { join } from 'node:path'
import { buildCache } from '../../build/model-files.ts'

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

export interface CommandOptions {
  /** What runs, instead of the program from source. */
  program?: readonly string[]
  /** Besides PATH, HOME and the build cache; nothing else of the test's own environment gets through. */
  env?: Record<string, string>
  stdin?: string | Uint8Array<ArrayBuffer>
}

const main = join(import.meta.dir, '..', 'main.ts')

/** Run from source, the built-in models are found there. */
const fromSource = { MYNA_BUILD_CACHE: buildCache() }

/** Starts `myna <args>`; its process is in the result for tests that signal it. */
export function startCommand(
  args: readonly string[],
  { program = [process.execPath, main], env = {}, stdin = '' }: CommandOptions = {},
) {
  return Bun.spawn([...program, ...args], {
    // A home that does not exist: a command that forgot its data folder must not find the developer's.
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...fromSource, ...env },
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return finished(startCommand(args, options))
}

export async function finished(command: ReturnType<typeof startCommand>): Promise<CommandResult> {
  const [code, stdout, stderr] = await Promise.all([
    command.exited,
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
  ])
  return { code, stdout, stderr }
}
