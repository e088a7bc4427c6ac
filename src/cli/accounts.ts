/** `myna accounts`: who may use the service, and with which balance. */
import { Command } from 'commander'
import type { Account, Role } from '../domain/account.ts'
import type { Administration } from '../service/accounts.ts'
import { limitCommand, limitsText } from './account-limits.ts'
import { withAdministration } from './administration.ts'
import { counted, day, dollars } from './terminal/format.ts'
import { globalsOf, money } from './globals.ts'
import { table } from './terminal/table.ts'
import { Failure, report } from './terminal/terminal.ts'

export function accountsCommand(): Command {
  return new Command('accounts')
    .addHelpText(
      'after',
      `
An account owns keys, usage and voices. It is unmetered (usage is counted, nothing is
refused for its price) or prepaid: the price of a request is reserved before work starts.

Examples:
  myna accounts create alice
  myna accounts create bob --prepaid 5usd
  myna accounts credit bob 2.50usd
  myna accounts prepaid alice 5usd
  myna accounts limit alice --parallel-speech 4 --speech-per-minute 60
  myna accounts disable alice
  myna accounts rm alice`,
    )
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(creditCommand())
    .addCommand(prepaidCommand())
    .addCommand(unmeteredCommand())
    .addCommand(showCommand())
    .addCommand(limitCommand())
    .addCommand(
      changeCommand(
        'disable',
        'refuse all keys of an account from the next request on; its records stay',
        (verbs, name) => verbs.disableAccount({ name }),
      ),
    )
    .addCommand(
      changeCommand('enable', 'accept the keys of a disabled account again', (verbs, name) =>
        verbs.enableAccount({ name }),
      ),
    )
    .addCommand(renameCommand())
    .addCommand(roleCommand())
    .addCommand(removeCommand())
}

const listCommand = (): Command =>
  new Command('list')
    .alias('ls')
    .description('list accounts with role, balance and state')
    .action(async (_options, command: Command) => {
      const { json, config } = globalsOf(command)
      const accounts = await withAdministration(config, false, (verbs) => verbs.listAccounts())
      report(json, accounts, () => accountTable(accounts))
    })

const showCommand = (): Command =>
  new Command('show')
    .description('show one account, with its limits')
    .argument('<name>', 'the account')
    .action(async (name: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const accounts = await withAdministration(config, false, (verbs) => verbs.listAccounts())
      const account = accounts.find((known) => known.name.toLowerCase() === name.trim().toLowerCase())
      if (account === undefined) {
        throw new Failure(`There is no account '${name}'. List the accounts with: myna accounts list`, 'not_found')
      }
      report(json, account, () =>
        [accountTable([account]), '', `It may have at most: ${limitsText(account)}.`].join('\n'),
      )
    })

const createCommand = (): Command =>
  new Command('create')
    .description('create an account; then give it a key: myna keys create --account <name>')
    .argument('<name>', '1 to 64 printable characters')
    .option('--admin', 'an administrator: manages everything; clones are free, voices have no cap')
    .option(
      '--prepaid <amount>',
      'prepaid, with this opening balance, such as 5usd; without it the account is unmetered',
      money,
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
    .argument('<amount>', 'the amount to add, such as 5usd or 0.50usd', money)
    .action(async (name: string, amountMicros: number, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => verbs.credit({ name, amountMicros }))
      report(json, account, () => `The balance of '${account.name}' is now ${balance(account)}.`)
    })

const prepaidCommand = (): Command =>
  new Command('prepaid')
    .description('make an unmetered account prepaid: it can spend this balance, and what it used before is forgiven')
    .argument('<name>', 'the account')
    .argument('<amount>', 'its balance, such as 5usd or 0.50usd', money)
    .action(async (name: string, balanceMicros: number, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => verbs.setMetering({ name, balanceMicros }))
      report(
        json,
        account,
        () => `The account '${account.name}' is prepaid now, with a balance of ${balance(account)}.`,
      )
    })

const unmeteredCommand = (): Command =>
  new Command('unmetered')
    .description(
      'make a prepaid account unmetered: nothing is refused for its price; what is left of its balance lapses',
    )
    .argument('<name>', 'the account')
    .action(async (name: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) =>
        verbs.setMetering({ name, balanceMicros: null }),
      )
      report(json, account, () => `The account '${account.name}' is unmetered now.`)
    })

/** A change that needs no more than the account's name. */
const changeCommand = (
  verb: 'disable' | 'enable',
  description: string,
  change: (verbs: Administration, name: string) => Promise<Account>,
): Command =>
  new Command(verb)
    .description(description)
    .argument('<name>', 'the account')
    .action(async (name: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => change(verbs, name))
      report(json, account, () => `The account '${account.name}' is ${verb}d.`)
    })

const renameCommand = (): Command =>
  new Command('rename')
    .description('rename an account; its keys, voices and records stay')
    .argument('<name>', 'the account')
    .argument('<new-name>', '1 to 64 printable characters')
    .action(async (name: string, to: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => verbs.renameAccount({ name, to }))
      report(json, account, () => `The account '${name}' is now called '${account.name}'.`)
    })

const roleCommand = (): Command =>
  new Command('role')
    .description('make an account an administrator or an ordinary user')
    .argument('<name>', 'the account')
    .argument('<role>', 'admin or user')
    .action(async (name: string, role: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const account = await withAdministration(config, false, (verbs) => verbs.setRole({ name, role: role as Role }))
      report(json, account, () => `The account '${account.name}' is now ${roleName(account)}.`)
    })

const removeCommand = (): Command =>
  new Command('rm')
    .alias('remove')
    .description(
      'disable an account, revoke its keys, delete its voices and consents, and free its name; its records stay',
    )
    .argument('<name>', 'the account')
    .action(async (name: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const removed = await withAdministration(config, false, (verbs) => verbs.removeAccount({ name }))
      const voices = removed.voicesDeleted === 0 ? '' : ` ${counted(removed.voicesDeleted, 'voice')} deleted.`
      report(json, removed, () => `The account '${name}' is removed.${voices}`)
    })

const roleName = ({ role }: Account): string => (role === 'admin' ? 'an administrator' : 'an ordinary user')

const balance = (account: Account): string =>
  account.balanceMicros === null ? 'unmetered' : dollars(account.balanceMicros)

const kind = (account: Account): string =>
  `${account.role}, ${account.balanceMicros === null ? 'unmetered' : `prepaid, ${balance(account)}`}`

const hasOwnLimits = ({ limits }: Account): boolean => Object.values(limits).some((limit) => limit !== null)

function accountTable(accounts: readonly Account[]): string {
  if (accounts.length === 0) return 'There are no accounts yet. Create one: myna accounts create NAME'
  const columns = [
    { title: 'NAME' },
    { title: 'ROLE' },
    { title: 'BALANCE', right: true },
    { title: 'CREATED', leaves: 2 },
    { title: 'STATE' },
    { title: 'LIMITS', leaves: 3 },
    { title: 'ID', leaves: 1 },
  ]
  const rows = accounts.map((account) => [
    account.name,
    account.role,
    balance(account),
    day(account.createdAtMs),
    account.disabledAtMs === null ? 'active' : `disabled ${day(account.disabledAtMs)}`,
    hasOwnLimits(account) ? 'its own' : 'default',
    account.id,
  ])
  return table(columns, rows)
}
