/** The program as its users run it: in a process of its own, with its arguments, streams and exit code. */
import { buildCache } from '../../build/cache.ts'
import { ownProgram } from './own-program.ts'

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

export interface CommandOptions {
  /** The command that runs instead of the program alone. */
  program?: readonly string[]
  /** Added to PATH, HOME and the build cache. No other variable of the test's environment is passed on. */
  env?: Record<string, string>
  stdin?: string | Uint8Array<ArrayBuffer>
}

/** When run from source, the program finds the built-in models there. */
const fromSource = { MYNA_BUILD_CACHE: buildCache() }

/** Starts `myna <args>`; the result has the process, for tests that send it signals. */
export function startCommand(
  args: readonly string[],
  { program = ownProgram, env = {}, stdin = '' }: CommandOptions = {},
) {
  return Bun.spawn([...program, ...args], {
    // A home that does not exist, so that a command that forgot its data folder cannot find the developer's.
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
