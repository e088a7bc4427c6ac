/**
 * Does what the owner of the data folder may do to accounts and keys. The command line uses these verbs whether or not
 * a server runs (if one does, through its local socket). They check the input, because what comes through the socket
 * is as raw as what was typed.
 */
import {
  type Account,
  displayPrefix,
  hashSecret,
  type Key,
  keyPrefix,
  type LimitName,
  limitNames,
  newSecret,
  noOwnLimits,
  type OwnLimits,
  type Role,
  type Scope,
  scopes,
} from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { Clock } from '../domain/time.ts'
import { momentForms, momentMs } from '../domain/time.ts'
import type { Accounts, Ledger } from './ports.ts'
import type { UsageQuery, UsageRow } from './ports/records.ts'

export interface IssuedKey {
  key: Key
  account: Account
  accountCreated: boolean
  /** Shown once: only its hash is kept. */
  secret: string
}

/** A key with the name of its account. */
export type ListedKey = Key & { accountName: string }
/** Sums with the names behind the ids; null where the id is null. */
export type ListedUsage = UsageRow & { accountName: string | null; keyName: string | null }

export interface UsageRequest extends Omit<UsageQuery, 'accountId'> {
  /** By name; null: all accounts. */
  account: string | null
}

/** Every verb takes one plain object and gives plain data: they travel as JSON. All throw MynaError. */
export interface Administration {
  /** @throws `validation_error` also when the name is taken (case does not count) */
  createAccount(request: { name: string; role: Role; balanceMicros: number | null }): Promise<Account>
  listAccounts(): Promise<Account[]>
  /** @returns the account after it @throws `validation_error` also for an unmetered account */
  credit(request: { name: string; amountMicros: number }): Promise<Account>
  /**
   * Makes it prepaid with this balance (what it used before is forgiven), or unmetered (what is left is forfeited).
   * @param request.balanceMicros null: unmetered
   * @returns the account after it @throws `validation_error` also when it is so already
   */
  setMetering(request: { name: string; balanceMicros: number | null }): Promise<Account>
  /**
   * Holds from the account's next request.
   * @param request.limits those that change: null is the server's own setting; absent: all are that again
   * @returns the account after it
   */
  setLimits(request: { name: string; limits: Partial<OwnLimits> | null }): Promise<Account>
  /** @throws `validation_error` also for the last active administrator, as do `setRole` and `removeAccount` */
  disableAccount(request: { name: string }): Promise<Account>
  enableAccount(request: { name: string }): Promise<Account>
  /** @throws `validation_error` also when the new name is taken (case does not count) */
  renameAccount(request: { name: string; to: string }): Promise<Account>
  setRole(request: { name: string; role: Role }): Promise<Account>
  /**
   * Disables it, revokes its keys, deletes its voices and consents, and frees its name. What it was charged stays on
   * record.
   */
  removeAccount(request: { name: string }): Promise<{ voicesDeleted: number }>
  /**
   * Creates the account, unmetered and with the role user, if the name is new.
   * @param request.scopes null: unrestricted
   * @param request.expires a span from now or a date; null: never
   */
  createKey(request: {
    account: string
    name: string
    scopes: readonly string[] | null
    expires: string | null
  }): Promise<IssuedKey>
  /** @param request.account null: every account */
  listKeys(request: { account: string | null }): Promise<ListedKey[]>
  revokeKey(request: { id: string }): Promise<void>
  usage(request: UsageRequest): Promise<ListedUsage[]>
}

/** A billion dollars: far above any real balance, far below where whole numbers end. */
const maxMicros = 1_000_000_000_000_000
const maxBuckets = 10_000
/** As of the settings. */
const maxLimit = 1_000_000
const groupings: UsageQuery['groupBy'] = ['model', 'api_key_id', 'account']

export interface AdminParts {
  clock: Clock
  /** Fills the given bytes; cryptographically strong outside tests. */
  random: (bytes: Uint8Array) => Uint8Array
  /** Deletes every voice of an account. @returns how many there were */
  deleteVoices: (accountId: string) => Promise<number>
}

export class AdminVerbs implements Administration {
  readonly #accounts: Accounts
  readonly #ledger: Pick<Ledger, 'usage'>
  readonly #clock: Clock
  readonly #random: (bytes: Uint8Array) => Uint8Array
  readonly #deleteVoices: AdminParts['deleteVoices']

  constructor(accounts: Accounts, ledger: Pick<Ledger, 'usage'>, parts: AdminParts) {
    this.#accounts = accounts
    this.#ledger = ledger
    this.#clock = parts.clock
    this.#random = parts.random
    this.#deleteVoices = parts.deleteVoices
  }

  async createAccount(request: { name: string; role: Role; balanceMicros: number | null }): Promise<Account> {
    const name = checkName(request.name, 'account name')
    const role = checkRole(request.role)
    const balanceMicros = request.balanceMicros === null ? null : checkMicros(request.balanceMicros, 0)
    if ((await this.#accounts.findByName(name)) !== null) throw invalid(`An account '${name}' already exists.`)
    return this.#accounts.create({ name, role, balanceMicros })
  }

  listAccounts(): Promise<Account[]> {
    return this.#accounts.list()
  }

  async credit(request: { name: string; amountMicros: number }): Promise<Account> {
    const account = await this.#account(request.name)
    const amountMicros = checkMicros(request.amountMicros, 1)
    if (account.balanceMicros === null) {
      throw invalid(
        `The account '${account.name}' is unmetered: it has no balance to credit. Make it prepaid: ` +
          `myna accounts prepaid ${account.name} 5usd`,
      )
    }
    if (account.balanceMicros + amountMicros > maxMicros) {
      throw invalid(`The balance of '${account.name}' would exceed ${maxMicros} micro-dollars.`)
    }
    return (await this.#accounts.credit(account.id, amountMicros)) ?? account
  }

  async setMetering(request: { name: string; balanceMicros: number | null }): Promise<Account> {
    const account = await this.#account(request.name)
    const balanceMicros = request.balanceMicros === null ? null : checkMicros(request.balanceMicros, 0)
    const changed = await this.#accounts.setMetering(account.id, balanceMicros)
    if (changed !== null) return changed
    if (balanceMicros === null) throw invalid(`The account '${account.name}' is unmetered already.`)
    throw invalid(
      `The account '${account.name}' is prepaid already. Add to its balance: myna accounts credit ${account.name} 5usd`,
    )
  }

  async setLimits(request: { name: string; limits: Partial<OwnLimits> | null }): Promise<Account> {
    const account = await this.#account(request.name)
    const limits = request.limits === null ? noOwnLimits : { ...account.limits, ...checkLimits(request.limits) }
    await this.#accounts.setLimits(account.id, limits)
    return this.#account(request.name)
  }

  async disableAccount(request: { name: string }): Promise<Account> {
    const account = await this.#account(request.name)
    if (!(await this.#accounts.disable(account.id))) throw lastAdmin(account, 'disabled')
    return this.#account(request.name)
  }

  async enableAccount(request: { name: string }): Promise<Account> {
    const account = await this.#account(request.name)
    await this.#accounts.enable(account.id)
    return this.#account(request.name)
  }

  async renameAccount(request: { name: string; to: string }): Promise<Account> {
    const account = await this.#account(request.name)
    const name = checkName(request.to, 'account name')
    const other = await this.#accounts.findByName(name)
    if (other !== null && other.id !== account.id) throw invalid(`An account '${other.name}' already exists.`)
    await this.#accounts.rename(account.id, name)
    return this.#account(name)
  }

  async setRole(request: { name: string; role: Role }): Promise<Account> {
    const account = await this.#account(request.name)
    const role = checkRole(request.role)
    if (!(await this.#accounts.setRole(account.id, role))) throw lastAdmin(account, 'made an ordinary user')
    return this.#account(request.name)
  }

  /** The account is closed first, so that no voice is added while they are deleted. */
  async removeAccount(request: { name: string }): Promise<{ voicesDeleted: number }> {
    const account = await this.#account(request.name)
    if (!(await this.#accounts.remove(account.id))) throw lastAdmin(account, 'removed')
    return { voicesDeleted: await this.#deleteVoices(account.id) }
  }

  /** @param secret a given secret, for a key that was made elsewhere */
  async createKey(
    request: { account: string; name: string; scopes: readonly string[] | null; expires: string | null },
    secret = newSecret(this.#random),
  ): Promise<IssuedKey> {
    const accountName = checkName(request.account, 'account name')
    const name = checkName(request.name, 'name of the key')
    const allowed = checkScopes(request.scopes)
    const expiresAtMs = checkExpiry(request.expires, this.#clock.nowMs())
    const known = await this.#accounts.findByName(accountName)
    if (known !== null && known.disabledAtMs !== null) {
      throw invalid(`The account '${known.name}' is disabled. Enable it first: myna accounts enable ${known.name}`)
    }
    const account = known ?? (await this.#accounts.create({ name: accountName, role: 'user', balanceMicros: null }))
    const key = await this.#accounts.createKey({
      accountId: account.id,
      name,
      scopes: allowed,
      expiresAtMs,
      secretHash: hashSecret(secret),
      prefix: displayPrefix(secret),
    })
    return { key, account, accountCreated: known === null, secret }
  }

  async listKeys(request: { account: string | null }): Promise<ListedKey[]> {
    const account = request.account === null ? null : await this.#account(request.account)
    const names = await this.#accountNames()
    const keys = await this.#accounts.listKeys(account?.id ?? null)
    return keys.map((key) => ({ ...key, accountName: names.get(key.accountId) ?? key.accountId }))
  }

  async revokeKey(request: { id: string }): Promise<void> {
    const { id } = request
    if (typeof id === 'string' && id.startsWith(keyPrefix)) {
      throw invalid('This is the key itself. Give its id, which starts with key_ (see: myna keys list).')
    }
    if (typeof id === 'string' && (await this.#accounts.revokeKey(id))) return
    throw invalid(`There is no key '${id}'. List the keys with: myna keys list`)
  }

  async usage(request: UsageRequest): Promise<ListedUsage[]> {
    const { startMs, endMs, bucketMs, groupBy } = request
    if (![startMs, endMs, bucketMs].every((value) => Number.isSafeInteger(value) && value > 0) || endMs <= startMs) {
      throw invalid('The time span must begin before it ends.')
    }
    if (!Array.isArray(groupBy) || !groupBy.every((field) => groupings.includes(field))) {
      throw invalid(`Usage can be grouped by ${groupings.join(', ')}.`)
    }
    if ((endMs - startMs) / bucketMs > maxBuckets) throw invalid('The time span is too long for such small buckets.')
    const account = request.account === null ? null : await this.#account(request.account)
    const rows = await this.#ledger.usage({ accountId: account?.id ?? null, startMs, endMs, bucketMs, groupBy })
    const names = await this.#accountNames()
    const keys = new Map((await this.#accounts.listKeys(account?.id ?? null)).map((key) => [key.id, key.name]))
    return rows.map((row) => ({
      ...row,
      accountName: row.accountId === null ? null : (names.get(row.accountId) ?? row.accountId),
      keyName: row.keyId === null ? null : (keys.get(row.keyId) ?? row.keyId),
    }))
  }

  async #account(given: string): Promise<Account> {
    const name = checkName(given, 'account name')
    const account = await this.#accounts.findByName(name)
    if (account !== null) return account
    throw invalid(`There is no account '${name}'. List the accounts with: myna accounts list`)
  }

  async #accountNames(): Promise<Map<string, string>> {
    return new Map((await this.#accounts.list()).map((account) => [account.id, account.name]))
  }
}

/**
 * A database without any administrator gets one, so that the person who starts the service can manage it at once, also
 * after `myna keys create` made the first account. Nothing is done where the name admin is taken: the banner and
 * `myna doctor` then say what to do.
 * @param given the secret of its key, where the operator has chosen one; null: one is made
 * @returns its key, whose secret must be shown now or never; null when there is any administrator, or a given secret
 * @throws MynaError `validation_error` when the given secret could be guessed or not be sent
 */
export async function ensureFirstAdmin(
  accounts: Accounts,
  verbs: AdminVerbs,
  given: string | null = null,
): Promise<IssuedKey | null> {
  if (given !== null && !/^[\x21-\x7e]{32,256}$/.test(given)) {
    throw invalid("The administrator's key must have 32 to 256 printable characters without spaces.")
  }
  const known = await accounts.list()
  if (known.some(({ role }) => role === 'admin') || (await accounts.findByName('admin')) !== null) return null
  await verbs.createAccount({ name: 'admin', role: 'admin', balanceMicros: null })
  const request = { account: 'admin', name: 'first key', scopes: null, expires: null }
  if (given === null) return verbs.createKey(request)
  await verbs.createKey(request, given)
  return null
}

/** What to do if no account can manage the service; null: an active administrator exists. */
export function adminRemedy(accounts: readonly Pick<Account, 'name' | 'role' | 'disabledAtMs'>[]): string | null {
  const admins = accounts.filter(({ role }) => role === 'admin')
  if (admins.some(({ disabledAtMs }) => disabledAtMs === null)) return null
  const disabled = admins[0]
  if (disabled !== undefined) return `myna accounts enable ${disabled.name}`
  const name = accounts.find(({ disabledAtMs }) => disabledAtMs === null)?.name
  return name === undefined
    ? 'myna accounts create boss --admin && myna keys create --account boss'
    : `myna accounts role ${name} admin`
}

/** NFC, so that two names that look the same are the same. */
function checkName(given: unknown, what: string): string {
  const name = typeof given === 'string' ? given.normalize('NFC') : ''
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u.test(name) && name.trim() === name) return name
  throw invalid(`The ${what} must have 1 to 64 printable characters and no spaces at its ends.`)
}

function checkRole(given: unknown): Role {
  if (given === 'user' || given === 'admin') return given
  throw invalid('The role must be user or admin.')
}

const lastAdmin = ({ name }: Account, what: string): MynaError =>
  invalid(
    `'${name}' is the last active administrator and cannot be ${what}, because then no account could manage this ` +
      'service. Create another first: myna accounts create NAME --admin',
  )

function checkMicros(given: unknown, min: number): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= min && given <= maxMicros) return given
  throw invalid(`The amount must be a whole number of micro-dollars from ${min} to ${maxMicros} (1000000 is 1 dollar).`)
}

function checkLimits(given: unknown): Partial<OwnLimits> {
  if (typeof given !== 'object' || given === null) throw invalid('The limits must be an object.')
  const checked = Object.entries(given).map(([name, count]: [string, unknown]) => {
    if (!limitNames.some((known): known is LimitName => known === name)) {
      throw invalid(`There is no limit '${name}'. The limits are ${limitNames.join(', ')}.`)
    }
    const isCount = typeof count === 'number' && Number.isSafeInteger(count) && count >= 1 && count <= maxLimit
    if (count !== null && !isCount) throw invalid(`The limit ${name} must be a whole number from 1 to ${maxLimit}.`)
    return [name, count]
  })
  return Object.fromEntries(checked) as Partial<OwnLimits>
}

function checkScopes(given: readonly string[] | null): readonly Scope[] | null {
  if (given === null) return null
  const known = `The scopes are ${scopes.join(', ')}; a key without any may do everything.`
  if (!Array.isArray(given) || given.length === 0) throw invalid(`No scope was given. ${known}`)
  const unknown = given.find((scope) => !scopes.some((one) => one === scope))
  if (unknown !== undefined) throw invalid(`There is no scope '${unknown}'. ${known}`)
  return scopes.filter((scope) => given.includes(scope))
}

function checkExpiry(given: unknown, nowMs: number): number | null {
  if (given === null) return null
  const expiresAtMs = typeof given === 'string' ? momentMs(given, nowMs, 1) : null
  if (expiresAtMs === null) throw invalid(`'${given}' is not an expiry: write ${momentForms}.`)
  if (expiresAtMs <= nowMs) throw invalid(`The expiry '${given}' is not in the future.`)
  return expiresAtMs
}

const invalid = (message: string): MynaError => new MynaError('validation_error', message)
