/**
 * Every command by name, with the sentence that help lists it by. A command's file is imported when the command line
 * names it, because the server alone is two thirds of the program: `myna --help` would spend most of its time on it.
 */
import { Command } from 'commander'
import type { Card } from '../domain/card.ts'

interface Entry {
  about: string
  /** Another name. */
  alias?: string
  /** For the program itself: neither listed nor completed. */
  hidden?: true
  /** @param cards gives every model that there is; reading all of them takes time, and few commands need them */
  load: (cards: () => Promise<readonly Card[]>) => Promise<Command>
}

const entries: Readonly<Record<string, Entry>> = {
  serve: {
    about: 'run the voice service',
    load: async (cards) => (await import('./serve/serve.ts')).serveCommand(await cards()),
  },
  speak: {
    about: 'speak a text, a Markdown file or a book, through a running server',
    alias: 'say',
    load: async () => (await import('./speak.ts')).speakCommand(),
  },
  transcribe: {
    about: 'transcribe a recording, through a running server',
    load: async () => (await import('./transcribe.ts')).transcribeCommand(),
  },
  voices: {
    about: 'list, clone, show, hear, mix, publish and remove voices, through a running server',
    load: async () => (await import('./voices/voices.ts')).voicesCommand(),
  },
  mcp: {
    about: 'offer speech and transcription to language models, as a Model Context Protocol server on stdio',
    load: async () => (await import('./mcp/mcp.ts')).mcpCommand(),
  },
  accounts: {
    about: 'list, create, change and remove accounts',
    load: async () => (await import('./accounts.ts')).accountsCommand(),
  },
  keys: {
    about: 'create, list and revoke API keys',
    load: async () => (await import('./keys.ts')).keysCommand(),
  },
  models: {
    about: 'list, show, download, verify and remove models',
    load: async (cards) => (await import('./models/models.ts')).modelsCommand(await cards()),
  },
  runtime: {
    about: 'install, show and remove what models need to run on an NVIDIA card',
    load: async () => (await import('./runtime/runtime.ts')).runtimeCommand(),
  },
  usage: {
    about: 'show usage and charges by account and day',
    load: async () => (await import('./usage.ts')).usageCommand(),
  },
  ps: {
    about: 'show engines, loaded models, devices and active requests',
    load: async () => (await import('./ps.ts')).psCommand(),
  },
  doctor: {
    about: 'find out why something does not work, and how to fix it',
    load: async (cards) => (await import('./doctor/doctor.ts')).doctorCommand(await cards()),
  },
  audit: {
    about: 'check that balances, charges, usage, keys and voices fit together',
    load: async () => (await import('./audit.ts')).auditCommand(),
  },
  backup: {
    about: 'write accounts, keys, records, voices and consents to one file, and verify it',
    load: async () => (await import('./backup.ts')).backupCommand(),
  },
  restore: {
    about: 'replace what is in the data folder with a backup',
    load: async () => (await import('./backup.ts')).restoreCommand(),
  },
  db: {
    about: 'move accounts, keys, records, voices and consents into PostgreSQL',
    load: async () => (await import('./db.ts')).dbCommand(),
  },
  service: {
    about: 'run Myna as a service of systemd',
    load: async () => (await import('./service-unit.ts')).serviceCommand(),
  },
  completion: {
    about: 'print completions for a shell',
    load: async () => (await import('./completion.ts')).completionCommand(),
  },
  licenses: {
    about: 'print the licenses of everything inside this program',
    load: async () => (await import('./licenses.ts')).licensesCommand(),
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
  for (const [name, { about, alias, hidden, load }] of Object.entries(entries)) {
    const command = isMeant(name) || isMeant(alias ?? name) ? await load(cards) : new Command(name)
    if (alias !== undefined) command.alias(alias)
    program.addCommand(command.description(about), { hidden: hidden === true })
  }
}
