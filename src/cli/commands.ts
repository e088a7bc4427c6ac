/**
 * Every command by name, with the sentence that help lists it by. A command's file is imported when the command line
 * names it, because the server alone is two thirds of the program: `myna --help` would spend most of its time on it.
 */
import { Command } from 'commander'
import type { Card } from '../domain/card.ts'

interface Entry {
  about: string
  /** Under which heading help lists it. */
  group?: 'Use' | 'Run' | 'Manage' | 'Keep' | 'More'
  /** Another name. */
  alias?: string
  /** For the program itself, or another way to say the same: neither listed nor completed. */
  hidden?: true
  /** @param cards gives every model that there is; reading all of them takes time, and few commands need them */
  load: (cards: () => Promise<readonly Card[]>) => Promise<Command>
}

const entries: Readonly<Record<string, Entry>> = {
  speak: {
    about: 'speak a text, a Markdown file or a book',
    group: 'Use',
    alias: 'say',
    load: async () => (await import('./speak.ts')).speakCommand(),
  },
  transcribe: {
    about: 'turn a recording into text',
    group: 'Use',
    load: async () => (await import('./transcribe.ts')).transcribeCommand(),
  },
  voices: {
    about: 'list, clone, hear, rename, mix, publish and remove voices',
    group: 'Use',
    load: async () => (await import('./voices/voices.ts')).voicesCommand(),
  },
  mcp: {
    about: 'offer speech and transcription to assistants (MCP)',
    group: 'Use',
    load: async () => (await import('./mcp/mcp.ts')).mcpCommand(),
  },
  serve: {
    about: 'run the voice service',
    group: 'Run',
    load: async (cards) => (await import('./serve/serve.ts')).serveCommand(await cards()),
  },
  ps: {
    about: 'show loaded models, devices and active requests',
    group: 'Run',
    load: async () => (await import('./ps.ts')).psCommand(),
  },
  doctor: {
    about: 'find out why something does not work, and how to fix it',
    group: 'Run',
    load: async (cards) => (await import('./doctor/doctor.ts')).doctorCommand(await cards()),
  },
  service: {
    about: 'run Myna as a service of systemd',
    group: 'Run',
    load: async () => (await import('./service-unit.ts')).serviceCommand(),
  },
  accounts: {
    about: 'list, create, change and remove accounts',
    group: 'Manage',
    load: async () => (await import('./accounts.ts')).accountsCommand(),
  },
  keys: {
    about: 'create, list and revoke API keys',
    group: 'Manage',
    load: async () => (await import('./keys.ts')).keysCommand(),
  },
  usage: {
    about: 'show usage and charges by account and day',
    group: 'Manage',
    load: async () => (await import('./usage.ts')).usageCommand(),
  },
  models: {
    about: 'list, show, download, verify and remove models',
    group: 'Manage',
    load: async (cards) => (await import('./models/models.ts')).modelsCommand(await cards()),
  },
  runtime: {
    about: 'what models need to run on an NVIDIA card',
    group: 'Manage',
    load: async () => (await import('./runtime/runtime.ts')).runtimeCommand(),
  },
  backup: {
    about: 'write records, voices and consents to one file, and verify it',
    group: 'Keep',
    load: async () => (await import('./backup.ts')).backupCommand(),
  },
  restore: {
    about: 'replace what is in the data folder with a backup',
    group: 'Keep',
    load: async () => (await import('./backup.ts')).restoreCommand(),
  },
  db: {
    about: 'move records, voices and consents into PostgreSQL',
    group: 'Keep',
    load: async () => (await import('./db.ts')).dbCommand(),
  },
  audit: {
    about: 'check that balances, charges and usage fit together',
    group: 'Keep',
    load: async () => (await import('./audit.ts')).auditCommand(),
  },
  completion: {
    about: 'print completions for a shell',
    group: 'More',
    load: async () => (await import('./completion.ts')).completionCommand(),
  },
  licenses: {
    about: 'print the licenses of everything inside this program',
    group: 'More',
    load: async () => (await import('./licenses.ts')).licensesCommand(),
  },
  pull: {
    about: 'the same as myna models pull',
    hidden: true,
    load: async (cards) => shortcut('pull', await cards()),
  },
  rm: {
    about: 'the same as myna models rm',
    hidden: true,
    load: async (cards) => shortcut('rm', await cards()),
  },
  list: {
    about: 'the same as myna models list',
    alias: 'ls',
    hidden: true,
    load: async (cards) => shortcut('list', await cards()),
  },
  engine: {
    about: 'one engine; started by the server',
    hidden: true,
    load: async (cards) => (await import('./serve/engine.ts')).engineCommand(await cards()),
  },
  'gpu-probe': {
    about: 'ask the NVIDIA driver for its devices',
    hidden: true,
    load: async () => (await import('./serve/gpu-probe.ts')).gpuProbeCommand(),
  },
  'selfcheck-native': {
    about: 'load the native libraries',
    hidden: true,
    load: async () => (await import('./selfcheck-native.ts')).selfcheckNativeCommand(),
  },
}

/**
 * Adds every command: whole where the command line may mean it, else by its name and its sentence.
 * @param argv a word anywhere in it counts, because options and `help` may come first
 */
export async function addCommands(
  program: Command,
  argv: readonly string[],
  cards: () => Promise<readonly Card[]>,
): Promise<void> {
  // Completions are made from everything that all commands take.
  const isMeant = (name: string) => argv.includes(name) || argv.includes('completion')
  for (const [name, { about, group = '', alias, hidden, load }] of Object.entries(entries)) {
    const command = isMeant(name) || isMeant(alias ?? name) ? await load(cards) : new Command(name)
    if (alias !== undefined && !command.aliases().includes(alias)) command.alias(alias)
    command.helpGroup(`${group}:`)
    program.addCommand(command.description(about), { hidden: hidden === true })
  }
}

/** A command of `models` by the short name that people know from ollama. */
async function shortcut(name: string, cards: readonly Card[]): Promise<Command> {
  const { modelsCommand } = await import('./models/models.ts')
  const command = modelsCommand(cards).commands.find((one) => one.name() === name)
  if (command === undefined) throw new Error(`myna models has no command ${name}`)
  return command
}
