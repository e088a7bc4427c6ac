/** Accounts and keys behind the port `Accounts`. Rows are never deleted: what was charged must stay attributable. */
import { type Account, type Caller, type Key, noOwnLimits, type OwnLimits, type Role } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { Clock } from '../domain/time.ts'
import type { Accounts, NewAccount, NewKey } from '../service/ports.ts'
import type { Database, Sql } from './database.ts'
import { KeyUses } from './key-uses.ts'
import { KnownCallers } from './known-callers.ts'
import { book } from './ledger/entries.ts'
import { changeMetering } from './ledger/metering.ts'
import { fold } from './fold.ts'
import { lockAccount } from './ledger/admit.ts'
import { accountOf, callerOf, keyOf, scopesColumn } from './rows.ts'
import type { AccountRow, KeyRow } from './rows.ts'
import { countOwned } from './voice-rows.ts'

export interface AccountsOptions {
  clock: Clock
  random: (bytes: Uint8Array) => Uint8Array
}

export class SqlAccounts implements Accounts {
  readonly #database: Database
  readonly #clock: Clock
  readonly #random: AccountsOptions['random']
  readonly #uses: KeyUses
  readonly #callers: KnownCallers

  constructor(database: Database, { clock, random }: AccountsOptions) {
    this.#database = database
    this.#clock = clock
    this.#random = random
    this.#uses = new KeyUses(database, clock)
    this.#callers = new KnownCallers(database)
  }

  async findByKey(secretHash: string): Promise<Caller | null> {
    const row = await this.#callers.find(secretHash)
    return row === null ? null : callerOf(this.#uses.freshen(row))
  }

  async findSecretHash(keyId: string): Promise<string | null> {
    const row = await this.#database.get<{ hash: string }>('SELECT hash FROM keys WHERE id = $keyId', { keyId })
    return row?.hash ?? null
  }

  touchKey(keyId: string): void {
    this.#uses.touch(keyId)
  }

  /** @throws MynaError `validation_error` when the name is taken (case does not count) or unfit, or the balance is */
  async create(account: NewAccount): Promise<Account> {
    const name = account.name.trim()
    if (name === '' || name.length > 100) throw invalid('name', 'An account name has 1 to 100 characters.')
    if (account.balanceMicros !== null) requireMicros('balance_micros', account.balanceMicros, 0)
    const id = newId('acct', this.#clock.nowMs(), this.#random)
    try {
      return await this.#database.transaction((sql, again) => this.#insert(sql, { ...account, id, name }, again))
    } catch (error) {
      if (!this.#database.dialect.isUnique(error)) throw error
      throw invalid('name', `An account '${name}' already exists.`)
    }
  }

  async #insert(sql: Sql, account: NewAccount & { id: string }, again: boolean): Promise<Account> {
    const done = again ? await this.#find(sql, account.id) : null
    if (done !== null) return done
    const nowMs = this.#clock.nowMs()
    const { id } = account
    await sql.run(
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
    if (account.balanceMicros) await this.#bookCredit(sql, id, account.balanceMicros, null)
    return { ...account, limits: noOwnLimits, createdAtMs: nowMs, disabledAtMs: null }
  }

  async findByName(name: string): Promise<Account | null> {
    const row = await this.#database.get<AccountRow>('SELECT * FROM accounts WHERE folded_name = $foldedName', {
      foldedName: fold(name.trim()),
    })
    return row === null ? null : accountOf(row)
  }

  /** Oldest first. */
  async list(): Promise<Account[]> {
    const rows = await this.#database.all<AccountRow>('SELECT * FROM accounts ORDER BY created_at_ms, id')
    return rows.map(accountOf)
  }

  async count(): Promise<number> {
    const row = await this.#database.get<{ n: number }>('SELECT count(*) AS n FROM accounts')
    return row?.n ?? 0
  }

  /** @throws MynaError `validation_error` unless the amount is positive and the balance stays countable */
  async credit(accountId: string, amountMicros: number): Promise<Account | null> {
    requireMicros('amount_micros', amountMicros, 1)
    const creditId = newId('credit', this.#clock.nowMs(), this.#random)
    return this.#database.transaction(async (sql, again) => {
      await lockAccount(sql, accountId)
      const account = await this.#find(sql, accountId)
      if (again && (await isBooked(sql, creditId))) return account
      if (account === null || account.balanceMicros === null) return null
      requireMicros('amount_micros', account.balanceMicros + amountMicros, 1)
      await this.#bookCredit(sql, accountId, amountMicros, creditId)
      return this.#find(sql, accountId)
    })
  }

  setMetering(accountId: string, balanceMicros: number | null): Promise<Account | null> {
    if (balanceMicros !== null) requireMicros('balance_micros', balanceMicros, 0)
    const creditId = newId('credit', this.#clock.nowMs(), this.#random)
    return this.#database.transaction(async (sql, again) => {
      await lockAccount(sql, accountId)
      const account = await this.#find(sql, accountId)
      if (account === null || (again && (await isBooked(sql, creditId)))) return account
      if ((account.balanceMicros === null) === (balanceMicros === null)) return null
      await changeMetering(sql, { accountId, balanceMicros, creditId, nowMs: this.#clock.nowMs() })
      return this.#find(sql, accountId)
    })
  }

  async setLimits(accountId: string, limits: OwnLimits): Promise<void> {
    await this.#database.run(
      `UPDATE accounts SET speech_concurrency = $speechConcurrency,
         transcription_concurrency = $transcriptionConcurrency, speech_per_minute = $speechPerMinute,
         transcriptions_per_minute = $transcriptionsPerMinute, requests_per_minute = $requestsPerMinute
       WHERE id = $accountId`,
      { ...limits, accountId },
    )
  }

  async #bookCredit(sql: Sql, accountId: string, amountMicros: number, creditId: string | null): Promise<void> {
    const nowMs = this.#clock.nowMs()
    await book(sql, { accountId, operationId: null, kind: 'credit', amountMicros: -amountMicros, creditId, nowMs })
  }

  async #find(sql: Sql, accountId: string): Promise<Account | null> {
    const row = await sql.get<AccountRow>('SELECT * FROM accounts WHERE id = $accountId', { accountId })
    return row === null ? null : accountOf(row)
  }

  disable(accountId: string): Promise<boolean> {
    return this.#unlessLastAdmin(accountId, (sql) => this.#disable(sql, accountId))
  }

  async #disable(sql: Sql, accountId: string): Promise<void> {
    await sql.run('UPDATE accounts SET disabled_at_ms = coalesce(disabled_at_ms, $nowMs) WHERE id = $accountId', {
      accountId,
      nowMs: this.#clock.nowMs(),
    })
  }

  async enable(accountId: string): Promise<void> {
    await this.#database.run('UPDATE accounts SET disabled_at_ms = NULL WHERE id = $accountId', { accountId })
  }

  async rename(accountId: string, name: string): Promise<void> {
    try {
      await this.#rename(this.#database, accountId, name)
    } catch (error) {
      if (!this.#database.dialect.isUnique(error)) throw error
      throw invalid('name', `An account '${name}' already exists.`)
    }
  }

  async #rename(sql: Sql, accountId: string, name: string): Promise<void> {
    await sql.run('UPDATE accounts SET name = $name, folded_name = $foldedName WHERE id = $accountId', {
      accountId,
      name,
      foldedName: fold(name),
    })
  }

  setRole(accountId: string, role: Role): Promise<boolean> {
    const change = async (sql: Sql) => {
      await sql.run('UPDATE accounts SET role = $role WHERE id = $accountId', { accountId, role })
    }
    if (role === 'user') return this.#unlessLastAdmin(accountId, change)
    return change(this.#database).then(() => true)
  }

  remove(accountId: string): Promise<boolean> {
    return this.#unlessLastAdmin(accountId, async (sql) => {
      const account = await this.#find(sql, accountId)
      if (account === null) return
      await this.#disable(sql, accountId)
      await sql.run('UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, $nowMs) WHERE account_id = $accountId', {
        accountId,
        nowMs: this.#clock.nowMs(),
      })
      // The end of an id is random, so the new name is as unique as the id.
      await this.#rename(sql, accountId, `${account.name} (removed ${accountId.slice(-8)})`)
    })
  }

  /** Locks all active administrators, always in the same order: of two changes at once the second sees the first. */
  #unlessLastAdmin(accountId: string, change: (sql: Sql) => Promise<void>): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      const admins = await sql.all<{ id: string }>(
        `SELECT id FROM accounts WHERE role = 'admin' AND disabled_at_ms IS NULL ORDER BY id${sql.dialect.forUpdate}`,
      )
      if (admins.length === 1 && admins[0]?.id === accountId) return false
      await change(sql)
      return true
    })
  }

  async createKey(key: NewKey): Promise<Key> {
    const nowMs = this.#clock.nowMs()
    const id = newId('key', nowMs, this.#random)
    const row = await this.#database.transaction(async (sql, again) => {
      const done = again ? await sql.get<KeyRow>('SELECT * FROM keys WHERE id = $id', { id }) : null
      return (
        done ??
        sql.get<KeyRow>(
          `INSERT INTO keys (id, account_id, name, prefix, hash, scopes, created_at_ms, expires_at_ms)
           VALUES ($id, $accountId, $name, $prefix, $secretHash, $scopes, $nowMs, $expiresAtMs) RETURNING *`,
          { ...key, id, nowMs, scopes: scopesColumn(key.scopes) },
        )
      )
    })
    if (row === null) throw new Error('The key was not written')
    return keyOf(row)
  }

  /** Oldest first. @param accountId null: of every account */
  async listKeys(accountId: string | null): Promise<Key[]> {
    const rows = await this.#database.all<KeyRow>(
      `SELECT * FROM keys ${accountId === null ? '' : 'WHERE account_id = $accountId'} ORDER BY created_at_ms, id`,
      accountId === null ? {} : { accountId },
    )
    return rows.map((row) => keyOf(this.#uses.freshen(row)))
  }

  /** The time of the first revocation stays. */
  async revokeKey(keyId: string): Promise<boolean> {
    const changed = await this.#database.run(
      'UPDATE keys SET revoked_at_ms = coalesce(revoked_at_ms, $nowMs) WHERE id = $keyId',
      { keyId, nowMs: this.#clock.nowMs() },
    )
    return changed > 0
  }

  countVoices(accountId: string): Promise<number> {
    return countOwned(this.#database, accountId)
  }

  /** Writes what `touchKey` only remembered. To be called before the database is closed. */
  close(): Promise<void> {
    return this.#uses.save()
  }
}

const isBooked = async (sql: Sql, creditId: string): Promise<boolean> =>
  (await sql.get('SELECT 1 AS found FROM entries WHERE credit_id = $creditId', { creditId })) !== null

const invalid = (param: string, message: string): MynaError => new MynaError('validation_error', message, { param })

function requireMicros(param: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw invalid(
    param,
    `'${param}' must be a whole number of micro-dollars, at least ${least}, and no balance may exceed 2^53.`,
  )
}
