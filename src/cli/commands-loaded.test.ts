import { expect, test } from 'bun:test'
import { Command } from 'commander'
import { cards } from '../catalog/cards.ts'
import { runCommand } from '../testing/command.ts'
import { addCommands } from './commands.ts'

async function commandsFor(...argv: string[]): Promise<readonly Command[]> {
  const program = new Command('myna')
  await addCommands(program, argv, async () => cards)
  return program.commands
}

/** Whether it has more than a name and a sentence. */
const isWhole = (command: Command): boolean =>
  command.commands.length + command.options.length + command.registeredArguments.length > 0

test('a command is imported only when the command line names it', async () => {
  const named = await commandsFor('--data', '/tmp', 'keys', 'list')
  expect(named.filter(isWhole).map((command) => command.name())).toEqual(['keys'])
  expect((await commandsFor('help', 'keys')).filter(isWhole)).toHaveLength(1)
  expect((await commandsFor('--help')).filter(isWhole)).toEqual([])
})

test('every command is listed under its own name', async () => {
  const names = (commands: readonly Command[]) => commands.map((command) => command.name())
  expect(names(await commandsFor())).toEqual(names(await commandsFor('completion')))
})

test('help for one command lists all of its arguments, wherever help is asked for', async () => {
  const [behind, before] = await Promise.all([runCommand(['keys', '--help']), runCommand(['help', 'keys'])])
  expect(before.stdout).toBe(behind.stdout)
  expect(before.stdout).toContain('create, list and revoke API keys')
  expect(before.stdout).toContain('myna keys revoke key_01KAJ...')
})
