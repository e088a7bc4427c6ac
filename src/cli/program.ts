/** The command line: its options, its help, and what becomes of an error. */
import { Command, CommanderError, Help } from 'commander'
import { version } from '../../package.json' with { type: 'json' }
import { ConfigError } from '../config.ts'
import type { Card } from '../domain/card.ts'
import { requireOpen } from './closed-folder.ts'
import { addCommands } from './commands.ts'
import { globalOptions } from './globals.ts'
import { interruptedCode } from './terminal/interrupt.ts'
import { misuse } from './terminal/misuse.ts'
import { reflow } from './terminal/reflow.ts'
import { bold, complain, cyan, Failure } from './terminal/terminal.ts'

/**
 * @param given the arguments, without the program's name
 * @param cards every model that there is; those of this program unless a test gives others
 * @returns the exit code: 0 done, 1 failed, 2 misuse, 130 stopped by Ctrl-C, 143 by SIGTERM
 */
export async function main(given: string[], cards?: readonly Card[]): Promise<number> {
  const argv = given[0] === 'version' || given[0] === '-v' ? ['--version'] : given
  const program = new Command('myna').version(version, '-V, --version', 'print the version').exitOverride()
  program
    .description('A voice service in one program: it speaks and transcribes behind an OpenAI-compatible API.')
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ ...helpForm, formatHelp, styleTitle: bold, styleSubcommandTerm: cyan, styleOptionTerm: cyan })
    .configureOutput({
      writeOut: (text) => void process.stdout.write(reflow(text, helpWidth(process.stdout))),
      writeErr: (text) => void process.stderr.write(reflow(text, helpWidth(process.stderr))),
    })
    .addHelpCommand(new Command('help').argument('[command]').description(aboutHelp).helpGroup('More:'))
  for (const option of globalOptions()) program.addOption(option)
  await addCommands(program, argv, async () => cards ?? (await import('../catalog/cards.ts')).cards)
  inherit(program, argv.includes('--json'))
  program.hook('preAction', (_program, command) => requireOpen(command))
  program.configureHelp({ ...program.configureHelp(), formatHelp: frontPage })
  process.stdout.on('error', endWithReader)
  try {
    await program.parseAsync(askingForHelp(program, argv), { from: 'user' })
    return typeof process.exitCode === 'number' ? process.exitCode : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    complain(program.opts<{ json?: boolean }>().json === true, error)
    return interruptedCode() ?? (error instanceof ConfigError ? 2 : 1)
  }
}

const helpForm = { showGlobalOptions: true, minWidthToWrap: 20 }
/** As commander has it. */
const helpWidth = (stream: NodeJS.WriteStream): number => (stream.isTTY ? stream.columns : 80)

/** The reader of our output has closed it (`| head`): not a failure, and there is no one to report it to. */
function endWithReader(error: Error & { code?: string }): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

/** Commands that are added, rather than created by their parent, inherit its settings only on request. */
function inherit(parent: Command, json: boolean, path = parent.name()): void {
  parent.configureOutput({ outputError: (text) => complain(json, new Failure(misuse(text, path), 'misuse')) })
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent)
    inherit(command, json, `${path} ${command.name()}`)
  }
}

/** `help` before any command, however deep. Commander takes neither that nor `--help` behind an unknown command. */
function askingForHelp(program: Command, argv: readonly string[]): readonly string[] {
  // Of the options that may come before a command, one has a value.
  const words = argv.filter((word, at) => !word.startsWith('-') && argv[at - 1] !== '--data')
  if (words[0] === 'help') {
    const rest = argv.toSpliced(argv.indexOf('help'), 1)
    return askingForHelp(program, rest.includes('--help') ? rest : [...rest, '--help'])
  }
  // Commander would show the help of the parent, as if nothing were wrong.
  return isThere(program, words) ? argv : argv.filter((word) => word !== '--help' && word !== '-h')
}

function isThere(parent: Command, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || name === 'help' || parent.commands.length === 0) return true
  const command = parent.commands.find((one) => one.name() === name || one.aliases().includes(name))
  return command !== undefined && isThere(command, rest)
}

const steps: readonly (readonly [command: string, does: string])[] = [
  ['myna serve', 'start the service; its first start prints a key'],
  ['myna speak "Hello there."', 'hear it, or write it to a file with -o hello.mp3'],
  ['myna transcribe talk.mp3', 'turn a recording into text'],
  ['myna models pull pocket-tts', 'install a better voice'],
  ['myna doctor', 'find out why something does not work'],
]

const aboutHelp = 'show what a command does and takes'

/** What a command takes before what every command takes. */
const sections = ['Arguments:', 'Commands:', 'More:', 'Options:', 'Server Options:', 'Global Options:']

function formatHelp(command: Command, form: Help): string {
  const place = (section: string) => sections.indexOf(Bun.stripANSI(section.split('\n', 1)[0] ?? ''))
  const usual = Help.prototype.formatHelp.call(form, command, form).trimEnd().split('\n\n')
  return `${usual.toSorted((a, b) => place(a) - place(b)).join('\n\n')}\n`
}

/** What `myna --help` shows: the steps of the first day before everything that there is. */
function frontPage(program: Command, form: Help): string {
  const width = Math.max(...steps.map(([command]) => command.length))
  const first = steps.map(([command, does]) => `  ${cyan(command.padEnd(width))}  ${does}`)
  const usual = Help.prototype.formatHelp.call(form, program, form)
  const setting = 'Every setting is also an environment variable: MYNA_PORT, MYNA_DATA and so on.'
  const [usage = '', description = '', options = '', ...groups] = usual.trimEnd().split(/\n\n/)
  const begin = `${bold('First steps:')}\n${first.join('\n')}`
  return [description, usage, begin, ...groups, options, `${setting}\n`].join('\n\n')
}
