/** `myna accounts`: who may use the service, and with which balance. */
import { Command } from 'commander'
import type { Account } from '../domain/account.ts'
import { withAdministration } from './administration.ts'
import { day, dollars } from './terminal/format.ts'
import { globalsOf, wholeNumber } from './globals.ts'
import { table } from './terminal/table.ts'
import { report } from './terminal/terminal.ts'

export function accountsCommand(): Command {
  return new Command('accounts')
    .description('list, create, credit and disable accounts')
    .addHelpText(
      'after',
      `
An account owns keys, usage and voices. It is unmetered (usage is summed, nobody is
stopped) or prepaid: its balance is held against before any work is done.
Amounts are in micro-dollars: 1000000 is 1 dollar.

Examples:
  myna accounts create alice
  myna accounts create bob --prepaid 5000000
  myna accounts credit bob 2500000
  myna accounts disable alice`,
    )
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(creditCommand())
    .addCommand(disableCommand())
}

const listCommand = (): Command =>
  new Command('list')
    .alias('ls')
    .description('every account with its role, balance and state')
    .action(async (_options, command: Command) => {
      const { json, config } = globalsOf(command)
      const accounts = await withAdministration(config, false, (verbs) => verbs.listAccounts())
      report(json, accounts, () => accountTable(accounts))
    })

const createCommand = (): Command =>
  new Command('create')
    .description('create an account; keys for it: myna keys create --account <name>')
    .argument('<name>', '1 to 64 printable characters')
    .option('--admin', 'an administrator: never charged, no cap on voices')
    .option(
      '--prepaid <micros>',
      'prepaid, with this opening balance; without it the account is unmetered',
      wholeNumber,
    )
    .action(async (name: string, options: { admin?: boolean; prepaid?: number }, command: Command) => {
      const { json, config } = globalsOf(command)
      const wanted = {
        name,
        role: options.admin === true ? 'admin' : 'user',
        balanceMicros: options.prepaid ?? null,
      } as const
      const account = await withAdministration(config, true, (verbs) => verbs.createAccount(wanted))
      report(json, account, () => `Created the account '${account.name}' (${kind(account)}).`)
    })

const creditCommand = (): Command =>
  new Command('credit')
    .description('add to the balance of a prepaid account')
    .argument('<name>', 'the account')
    .argument('<micros>', 'micro-dollars to add', wholeNumber)
    .action(async (name: string, amountMicros: number, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => verbs.credit({ name, amountMicros }))
      report(json, account, () => `The balance of '${account.name}' is now ${balance(account)}.`)
    })

const disableCommand = (): Command =>
  new Command('disable')
    .description('refuse all keys of an account from now on; its records stay')
    .argument('<name>', 'the account')
    .action(async (name: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => verbs.disableAccount({ name }))
      report(json, account, () => `The account '${account.name}' is disabled.`)
    })

const balance = (account: Account): string =>
  account.balanceMicros === null ? 'unmetered' : dollars(account.balanceMicros)

const kind = (account: Account): string =>
  `${account.role}, ${account.balanceMicros === null ? 'unmetered' : `prepaid, ${balance(account)}`}`

function accountTable(accounts: readonly Account[]): string {
  if (accounts.length === 0) return 'There are no accounts yet. Create one: myna accounts create NAME'
  const columns = [
    { title: 'NAME' },
    { title: 'ROLE' },
    { title: 'BALANCE', right: true },
    { title: 'CREATED' },
    { title: 'STATE' },
    { title: 'ID' },
  ]
  const rows = accounts.map((account) => [
    account.name,
    account.role,
    balance(account),
    day(account.createdAtMs),
    account.disabledAtMs === null ? 'active' : `disabled ${day(account.disabledAtMs)}`,
    account.id,
  ])
  return table(columns, rows)
}
