/** The command line: every command is a file of its own, gathered here. */
import { Command, CommanderError } from 'commander'
import { version } from '../../package.json' with { type: 'json' }
import { cards as knownCards } from '../catalog/cards.ts'
import { ConfigError, loadConfig } from '../config.ts'
import type { Card } from '../domain/card.ts'
import { NativeError, setNativeDir } from '../engine/native.ts'
import { accountsCommand } from './accounts.ts'
import { auditCommand } from './audit.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { dbCommand } from './db.ts'
import { completionCommand } from './completion.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { globalOptions } from './globals.ts'
import { keysCommand } from './keys.ts'
import { mcpCommand } from './mcp/mcp.ts'
import { modelsCommand } from './models/models.ts'
import { psCommand } from './ps.ts'
import { runtimeCommand } from './runtime/runtime.ts'
import { engineCommand } from './serve/engine.ts'
import { gpuProbeCommand } from './serve/gpu-probe.ts'
import { serveCommand } from './serve/serve.ts'
import { serviceCommand } from './service-unit.ts'
import { speakCommand } from './speak.ts'
import { complain } from './terminal/terminal.ts'
import { transcribeCommand } from './transcribe.ts'
import { usageCommand } from './usage.ts'
import { voicesCommand } from './voices/voices.ts'

/**
 * @param argv the arguments, without the program's name
 * @param cards every model that there is: those of this program, except in tests
 * @returns the exit code: 0 done, 1 failed, 2 misuse
 */
export async function main(argv: string[], cards: readonly Card[] = knownCards): Promise<number> {
  const program = new Command('myna').version(version, '-V, --version').exitOverride()
  program
    .description('A voice service in one program: it speaks and transcribes behind an OpenAI-compatible API.')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', firstSteps)
  for (const option of globalOptions()) program.addOption(option)
  program
    .addCommand(serveCommand(cards))
    .addCommand(speakCommand())
    .addCommand(transcribeCommand())
    .addCommand(voicesCommand())
    .addCommand(mcpCommand())
    .addCommand(accountsCommand())
    .addCommand(keysCommand())
    .addCommand(modelsCommand(cards))
    .addCommand(runtimeCommand())
    .addCommand(usageCommand())
    .addCommand(psCommand())
    .addCommand(doctorCommand(cards))
    .addCommand(auditCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(dbCommand())
    .addCommand(serviceCommand())
    .addCommand(completionCommand())
    .addCommand(licenses())
    .addCommand(engineCommand(cards), { hidden: true })
    .addCommand(gpuProbeCommand(), { hidden: true })
    .addCommand(selfcheckNative(), { hidden: true })
  inherit(program)
  process.stdout.on('error', endWithReader)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return typeof process.exitCode === 'number' ? process.exitCode : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    complain(program.opts<{ json?: boolean }>().json === true, error)
    return error instanceof ConfigError ? 2 : 1
  }
}

/** The reader of our output has closed it (`| head`): not a failure, and there is no one to report it to. */
function endWithReader(error: Error & { code?: string }): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

/** Commands that are added, rather than created by their parent, inherit its settings only on request. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent)
    inherit(command)
  }
}

const firstSteps = `
First steps:
  myna serve                              start the service; the first start prints a key once
  myna keys create --account alice        create a key for someone else
  myna speak "Hello there." -o hello.mp3  create speech
  myna transcribe talk.mp3                transcribe a recording
  myna doctor                             find out why something does not work

Every setting is also an environment variable: MYNA_PORT, MYNA_DATA and so on.`

// `myna licenses`: the notices of everything that is inside the executable.
const licenses = (): Command =>
  new Command('licenses').description('print the licenses of everything inside this program').action(async () => {
    const { notices } = await import('../embedded/notices.ts')
    await Bun.write(Bun.stdout, await notices())
  })

// `myna selfcheck-native` (hidden): unpacks and loads the native libraries, and prints where they are from. Tests of
// the executable run it; it also helps to find out why an engine does not start.
const selfcheckNative = (): Command =>
  new Command('selfcheck-native').description('load the native libraries').action(async () => {
    setNativeDir(loadConfig().nativeDir)
    try {
      const { env } = await import('onnxruntime-node')
      const { default: sharp } = await import('sharp')
      const result = { onnxruntime: env.versions.node ?? env.versions.common, libvips: sharp.versions.vips }
      process.stdout.write(`${JSON.stringify(result)}\n`)
    } catch (error) {
      if (!(error instanceof NativeError)) throw error
      process.stderr.write(`myna: ${error.message}\n`)
      process.exitCode = 1
    }
  })
