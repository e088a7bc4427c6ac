/** `myna keys`: the secrets that requests are authenticated with. A secret is printed once and never again. */
import { Command } from 'commander'
import type { Config } from '../config.ts'
import { type Key, scopes } from '../domain/account.ts'
import { systemClock } from '../domain/time.ts'
import type { IssuedKey, ListedKey } from '../service/accounts.ts'
import { momentForms } from '../domain/time.ts'
import { serverStatus, withAdministration } from './administration.ts'
import { day, time } from './terminal/format.ts'
import { globalsOf, nameList } from './globals.ts'
import { table } from './terminal/table.ts'
import { bold, report } from './terminal/terminal.ts'

export function keysCommand(): Command {
  return new Command('keys')
    .addHelpText(
      'after',
      `
Works whether or not the server runs; changes apply from the next request.

Examples:
  myna keys create --account alice
  myna keys create --account alice --scopes tts --expires 30d --name laptop
  myna keys list --account alice
  myna keys revoke key_01KAJ...`,
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
}

interface CreateOptions {
  account: string
  scopes?: string[]
  expires?: string
  name?: string
}

const createCommand = (): Command =>
  new Command('create')
    .description('create a key and print it once; creates the account if it is new')
    .requiredOption('--account <name>', 'the account that the key belongs to')
    .option(
      '--scopes <list>',
      `what it may do: ${scopes.join(',')} (default: everything); tts includes transcription`,
      nameList,
    )
    .option('--expires <when>', `${momentForms} (default: never)`)
    .option('--name <label>', 'a label to recognize it by (default: default)')
    .action(async (options: CreateOptions, command: Command) => {
      const { json, config } = globalsOf(command)
      const issued = await withAdministration(config, true, (verbs) =>
        verbs.createKey({
          account: options.account,
          name: options.name ?? 'default',
          scopes: options.scopes ?? null,
          expires: options.expires ?? null,
        }),
      )
      const running = await serverStatus(config.dataDir).catch(() => null)
      report(json, issued, () => issuedText(issued, running?.url ?? urlOf(config)))
    })

const listCommand = (): Command =>
  new Command('list')
    .alias('ls')
    .description('list keys with account, scopes and state; never the secret')
    .option('--account <name>', 'only the keys of this account')
    .action(async (options: { account?: string }, command: Command) => {
      const { json, config } = globalsOf(command)
      const request = { account: options.account ?? null }
      const keys = await withAdministration(config, false, (verbs) => verbs.listKeys(request))
      report(json, keys, () => keyTable(keys, systemClock.nowMs()))
    })

const revokeCommand = (): Command =>
  new Command('revoke')
    .description('refuse a key from the next request on')
    .argument('<id>', 'the id of the key, not the key itself')
    .action(async (id: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      await withAdministration(config, false, (verbs) => verbs.revokeKey({ id }))
      report(json, { id, revoked: true }, () => `The key ${id} is revoked.`)
    })

/** Where a server with these settings will listen. */
function urlOf(config: Config): string {
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port || 8790}`
}

/** How to use it, so that the user need not look it up with a secret on the screen. @param url without `/v1` */
function issuedText({ key, account, accountCreated, secret }: IssuedKey, url: string): string {
  const created = accountCreated ? `Created the account '${account.name}' (unmetered).\n` : ''
  return `${created}Key of '${account.name}' (${rights(key)}), shown only once:

  ${bold(secret)}

Use it with any OpenAI client, with the base URL ${url}/v1, or from here:

  export MYNA_API_KEY=${secret}
  myna speak "Hello." -o hello.mp3

Lost or leaked? myna keys revoke ${key.id}`
}

const rights = (key: Key): string =>
  `${key.scopes === null ? 'all scopes' : `scopes ${key.scopes.join(', ')}`}, ` +
  `${key.expiresAtMs === null ? 'no expiry' : `expires ${time(key.expiresAtMs)} UTC`}`

function keyTable(keys: readonly ListedKey[], nowMs: number): string {
  if (keys.length === 0) return 'There are no keys yet. Create one: myna keys create --account NAME'
  const columns = [
    { title: 'ID' },
    { title: 'ACCOUNT', least: 8 },
    { title: 'NAME', least: 8 },
    { title: 'KEY', leaves: 3 },
    { title: 'SCOPES', leaves: 4 },
    { title: 'CREATED', leaves: 1 },
    { title: 'LAST USED', leaves: 2 },
    { title: 'STATE' },
  ]
  const rows = keys.map((key) => [
    key.id,
    key.accountName,
    key.name,
    `${key.prefix}...`,
    key.scopes === null ? 'all' : key.scopes.join(','),
    day(key.createdAtMs),
    key.lastUsedAtMs === null ? 'never' : time(key.lastUsedAtMs),
    state(key, nowMs),
  ])
  return table(columns, rows)
}

function state(key: Key, nowMs: number): string {
  if (key.revokedAtMs !== null) return `revoked ${day(key.revokedAtMs)}`
  if (key.expiresAtMs === null) return 'active'
  return `${key.expiresAtMs <= nowMs ? 'expired' : 'until'} ${time(key.expiresAtMs)}`
}
