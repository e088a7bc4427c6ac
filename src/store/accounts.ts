/** Accounts and keys behind the port `Accounts`. Rows are never deleted: what was charged must stay attributable. */
import type { Account, Caller, Key } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { Clock } from '../domain/time.ts'
import type { Accounts, NewAccount, NewKey } from '../service/ports.ts'
import type { StoreDatabase } from './database.ts'
import { codeOf } from './errors.ts'
import { KeyUses } from './key-uses.ts'
import { book } from './entries.ts'
import { fold } from './fold.ts'
import { accountOf, callerOf, keyOf, scopesColumn } from './rows.ts'
import type { AccountRow, CallerRow, KeyRow } from './rows.ts'
import { countOwned } from './voice-rows.ts'

export interface AccountsOptions {
  clock: Clock
  random: (bytes: Uint8Array) => Uint8Array
}

export class SqliteAccounts implements Accounts {
  readonly #database: StoreDatabase
  readonly #clock: Clock
  readonly #random: AccountsOptions['random']
  readonly #uses: KeyUses

  constructor(database: StoreDatabase, { clock, random }: AccountsOptions) {
    this.#database = database
    this.#clock = clock
    this.#random = random
    this.#uses = new KeyUses(database, clock)
  }

  async findByKey(secretHash: string): Promise<Caller | null> {
    const row = await this.#database.read(() =>
      this.#database.get<CallerRow>(
        `SELECT keys.*, accounts.name AS account_name, role AS account_role, balance_micros AS account_balance_micros,
           accounts.created_at_ms AS account_created_at_ms, disabled_at_ms AS account_disabled_at_ms
         FROM keys JOIN accounts ON accounts.id = account_id WHERE hash = $secretHash`,
        { secretHash },
      ),
    )
    return row === null ? null : callerOf(this.#uses.freshen(row))
  }

  touchKey(keyId: string): void {
    this.#uses.touch(keyId)
  }

  /** @throws MynaError `validation_error` when the name is taken (case does not count) or unfit, or the balance is */
  async create(account: NewAccount): Promise<Account> {
    const name = account.name.trim()
    if (name === '' || name.length > 100) throw invalid('name', 'An account name has 1 to 100 characters.')
    if (account.balanceMicros !== null) requireMicros('balance_micros', account.balanceMicros, 0)
    try {
      return await this.#database.transaction(() => this.#insert({ ...account, name }))
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
      throw invalid('name', `There is an account '${name}' already.`)
    }
  }

  #insert(account: NewAccount): Account {
    const nowMs = this.#clock.nowMs()
    const id = newId('acct', nowMs, this.#random)
    this.#database.run(
      `INSERT INTO accounts (id, name, folded_name, role, balance_micros, created_at_ms)
       VALUES ($id, $name, $foldedName, $role, $balanceMicros, $nowMs)`,
      {
        id,
        name: account.name,
        foldedName: fold(account.name),
        role: account.role,
        // Begins empty; the opening balance is booked like every later credit.
        balanceMicros: account.balanceMicros === null ? null : 0,
        nowMs,
      },
    )
    if (account.balanceMicros) this.#bookCredit(id, account.balanceMicros)
    return { ...account, id, createdAtMs: nowMs, disabledAtMs: null }
  }

  async findByName(name: string): Promise<Account | null> {
    const row = await this.#database.read(() =>
      this.#database.get<AccountRow>('SELECT * FROM accounts WHERE folded_name = $foldedName', {
        foldedName: fold(name.trim()),
      }),
    )
    return row === null ? null : accountOf(row)
  }

  /** Oldest first. */
  async list(): Promise<Account[]> {
    const rows = await this.#database.read(() =>
      this.#database.all<AccountRow>('SELECT * FROM accounts ORDER BY created_at_ms, id'),
    )
    return rows.map(accountOf)
  }

  count(): Promise<number> {
    return this.#database.read(() => this.#count('SELECT count(*) AS n FROM accounts'))
  }

  /** @throws MynaError `validation_error` unless the amount is positive and the balance stays countable */
  async credit(accountId: string, amountMicros: number): Promise<Account | null> {
    requireMicros('amount_micros', amountMicros, 1)
    return this.#database.transaction(() => {
      const account = this.#find(accountId)
      if (account === null || account.balanceMicros === null) return null
      requireMicros('amount_micros', account.balanceMicros + amountMicros, 1)
      this.#bookCredit(accountId, amountMicros)
      return this.#find(accountId)
    })
  }

  #bookCredit(accountId: string, amountMicros: number): void {
    const nowMs = this.#clock.nowMs()
    book(this.#database, { accountId, operationId: null, kind: 'credit', amountMicros: -amountMicros, nowMs })
  }

  #find(accountId: string): Account | null {
    const row = this.#database.get<AccountRow>('SELECT * FROM accounts WHERE id = $accountId', { accountId })
    return row === null ? null : accountOf(row)
  }

  /** The time of the first disabling stays. */
  async disable(accountId: string): Promise<void> {
    await this.#database.transaction(() =>
      this.#database.run(
        'UPDATE accounts SET disabled_at_ms = coalesce(disabled_at_ms, $nowMs) WHERE id = $accountId',
        {
          accountId,
          nowMs: this.#clock.nowMs(),
        },
      ),
    )
  }

  async createKey(key: NewKey): Promise<Key> {
    const nowMs = this.#clock.nowMs()
    const id = newId('key', nowMs, this.#random)
    const row = await this.#database.transaction(() =>
      this.#database.get<KeyRow>(
        `INSERT INTO keys (id, account_id, name, prefix, hash, scopes, created_at_ms, expires_at_ms)
         VALUES ($id, $accountId, $name, $prefix, $secretHash, $scopes, $nowMs, $expiresAtMs) RETURNING *`,
        { ...key, id, nowMs, scopes: scopesColumn(key.scopes) },
      ),
    )
    if (row === null) throw new Error('The key was not written')
    return keyOf(row)
  }

  /** Oldest first. @param accountId null: of every account */
  async listKeys(accountId: string | null): Promise<Key[]> {
    const rows = await this.#database.read(() =>
      this.#database.all<KeyRow>(
        'SELECT * FROM keys WHERE $accountId IS NULL OR account_id = $accountId ORDER BY created_at_ms, id',
        { accountId },
      ),
    )
    return rows.map((row) => keyOf(this.#uses.freshen(row)))
  }

  /** The time of the first revocation stays. */
  async revokeKey(keyId: string): Promise<boolean> {
    const changed = await this.#database.transaction(() =>
      this.#database.run('UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, $nowMs) WHERE id = $keyId', {
        keyId,
        nowMs: this.#clock.nowMs(),
      }),
    )
    return changed > 0
  }

  countVoices(accountId: string): Promise<number> {
    return this.#database.read(() => countOwned(this.#database, accountId))
  }

  /** Writes what `touchKey` only remembered. To be called before the database is closed. */
  close(): Promise<void> {
    return this.#uses.save()
  }

  #count(sql: string, parameters: Record<string, string> = {}): number {
    return this.#database.get<{ n: number }>(sql, parameters)?.n ?? 0
  }
}

const invalid = (param: string, message: string): MynaError => new MynaError('validation_error', message, { param })

function requireMicros(param: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw invalid(param, `'${param}' is a whole number of micro-dollars, at least ${least}, and no balance exceeds 2^53.`)
}
