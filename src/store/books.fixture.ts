/** A database for tests: a real one in a temporary folder, with one prepaid account with a key, and a fixed clock. */
import { expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account, Key } from '../domain/account.ts'
import type { Outcome, Settlement } from '../domain/operation.ts'
import type { Clock } from '../domain/time.ts'
import type { CloneAdmission, SpeechAdmission } from '../service/ports.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { Seeded } from '../testing/seeded.ts'
import { SqlAccounts } from './accounts.ts'
import { openSqlite } from './sqlite.ts'
import type { Database } from './database.ts'
import { SqlLedger } from './ledger/ledger.ts'
import { lendPostgres } from './postgres.fixture.ts'
import { recordTables } from './tables.ts'
import { SqlVoices } from './voices.ts'

class FixedClock implements Clock {
  wallMs = 1_763_712_000_000
  steadyMs = 1000

  nowMs(): number {
    return this.wallMs
  }
  monotonicMs(): number {
    return this.steadyMs
  }
  advance(ms: number): void {
    this.wallMs += ms
    this.steadyMs += ms
  }
}

/** Random bytes that are the same in every run. */
export function seededBytes(seed: number): (bytes: Uint8Array) => Uint8Array {
  const next = seededNumbers(seed)
  return (bytes) => bytes.map(() => Math.floor(next() * 256))
}

/** Numbers from 0 up to 1. */
export function seededNumbers(seed: number): () => number {
  const random = new Seeded(seed)
  return () => random.next()
}

export const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/**
 * How a database reports a broken rule, in the words of SQLite, so that a test names the rule once for both engines.
 * Named rules have the same name in both.
 */
export function ruleOf(error: unknown): string {
  const { errno, detail, table, column, message } = error as Record<string, string | undefined>
  if (errno === '23502') return `NOT NULL constraint failed: ${table}.${column}`
  if (errno === '23503') return 'FOREIGN KEY constraint failed'
  if (errno === '22P02') return 'cannot store TEXT value in INTEGER column'
  if (errno !== '23505') return String(message)
  const columns = /^Key \(([^)]*)\)=/.exec(detail ?? '')?.[1] ?? ''
  return `UNIQUE constraint failed: ${columns
    .split(', ')
    .map((name) => `${table}.${name}`)
    .join(', ')}`
}

/** Expects a refusal for that reason and no change. */
export async function expectRefused(database: Database, sql: string, reason: string | RegExp): Promise<void> {
  const before = await contents(database)
  const error: unknown = await database.script(sql).then(
    () => 'it was allowed',
    (refusal: unknown) => refusal,
  )
  const rules = engine.name === 'postgres' ? await rulesBehind(database, sql) : [ruleOf(error)]
  expect(error).toBeInstanceOf(Error)
  expect(rules.join('\n')).toMatch(reason)
  expect(await contents(database)).toEqual(before)
}

/**
 * Every rule that refuses the statement. PostgreSQL checks the constraints of a table by name and SQLite in the order
 * of the schema, so the first reported one means nothing.
 */
async function rulesBehind(database: Database, sql: string): Promise<string[]> {
  const rules: string[] = []
  const tried = database.transaction(async (inside) => {
    for (;;) {
      await inside.run('SAVEPOINT before')
      const error: unknown = await inside.run(sql).then(
        () => null,
        (refusal: unknown) => refusal,
      )
      if (error !== null) rules.push(ruleOf(error))
      const { errno, table, constraint } = (error ?? {}) as Record<string, string | undefined>
      if (errno !== '23514') throw new Error('all of it is taken back')
      await inside.run('ROLLBACK TO before')
      await inside.run(`ALTER TABLE ${table} DROP CONSTRAINT ${constraint}`)
    }
  })
  await tried.catch(() => {})
  return rules
}

/** The tests of the store run on SQLite, and `on-postgres.test.ts` runs them again on PostgreSQL. */
export const engine: { name: 'sqlite' | 'postgres' } = { name: 'sqlite' }

export interface Books {
  /** For SQLite. */
  dataDir: string
  /** The data folder, or the address of the database, for another process. */
  place: string
  clock: FixedClock
  database: Database
  /** The same database, as another process sees it. */
  again: () => Promise<Database>
  accounts: SqlAccounts
  ledger: SqlLedger
  voices: SqlVoices
  account: Account
  key: Key
}

export const openingMicros = 1_000_000

/** Created once and copied, because creating a database waits for the disk several times. */
let empty: Uint8Array | undefined

async function makeEmpty(): Promise<Uint8Array> {
  const dataDir = temporaryFolder()
  const database = await openSqlite(dataDir)
  await database.close()
  return readFileSync(join(dataDir, 'myna.db'))
}

/** The location of the database, and how to open it as often as needed. */
async function makeBooks(lasting: boolean): Promise<{ place: string; open: () => Promise<Database> }> {
  if (engine.name === 'postgres') {
    const { url, open } = await lendPostgres(lasting)
    return { place: url, open }
  }
  const dataDir = temporaryFolder()
  writeFileSync(join(dataDir, 'myna.db'), (empty ??= await makeEmpty()))
  const open = async () => {
    const database = await openSqlite(dataDir)
    // These databases need not survive a power failure, and hundreds of them would keep the disk busy.
    await database.script('PRAGMA synchronous = OFF')
    return database
  }
  return { place: dataDir, open }
}

/** @param lasting whether several tests use them */
export async function openBooks(balanceMicros: number | null = openingMicros, lasting = false): Promise<Books> {
  const { place, open } = await makeBooks(lasting)
  const clock = new FixedClock()
  const database = await open()
  const accounts = new SqlAccounts(database, { clock, random: seededBytes(1) })
  const ledger = new SqlLedger(database, { clock })
  const voices = new SqlVoices(database, { clock })
  const account = await accounts.create({ name: 'ada', role: 'user', balanceMicros })
  const key = await newKey(accounts, account)
  return { dataDir: place, place, clock, database, again: open, accounts, ledger, voices, account, key }
}

/** Another writer that blocks all changes of the account's records. @returns how to release it */
export async function blockWriters(books: Books): Promise<() => Promise<void>> {
  const other = await books.again()
  const blocked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const writing = other.transaction(async (sql) => {
    await sql.run('UPDATE accounts SET role = role WHERE id = $id', { id: books.account.id })
    blocked.resolve()
    await released.promise
  })
  await blocked.promise
  return async () => {
    released.resolve()
    await writing
    await other.close()
  }
}

let keys = 0

export function newKey(accounts: SqlAccounts, account: Account): Promise<Key> {
  const secretHash = sha256(`key ${keys++}`)
  const prefix = 'sk-myna-test'
  return accounts.createKey({
    accountId: account.id,
    name: 'test',
    scopes: null,
    expiresAtMs: null,
    secretHash,
    prefix,
  })
}

let operations = 0

export function admission(books: Books, changes: Partial<SpeechAdmission> = {}): SpeechAdmission {
  return {
    operationId: `op_${String(operations++).padStart(8, '0')}`,
    accountId: books.account.id,
    keyId: books.key.id,
    model: 'hibari',
    voiceId: 'wren',
    inputChars: 100,
    priceMicros: 1500,
    keyHash: null,
    fingerprint: sha256('hello'),
    ...changes,
  }
}

export const clonePriceMicros = 500_000

/** By default, a clone past the allowance. */
export function cloneAdmission(books: Books, changes: Partial<CloneAdmission> = {}): CloneAdmission {
  const number = String(operations++).padStart(8, '0')
  return {
    operationId: `op_${number}`,
    voiceId: `voice_${number}`,
    accountId: books.account.id,
    keyId: books.key.id,
    isAdmin: false,
    keyHash: null,
    name: 'Ada',
    description: null,
    labels: {},
    language: null,
    aliases: [],
    isPublic: false,
    consent: 'I am Ada.',
    model: 'hibari',
    fidelity: 'approximate',
    clip: { fileName: 'ada.wav', mimeType: 'audio/wav', sizeBytes: 320_044, durationMs: 10_000, hash: sha256('clip') },
    priceMicros: clonePriceMicros,
    freeClones: 0,
    maxVoices: 100,
    ...changes,
  }
}

/** A voice that is ready and free of charge. @returns its id */
export async function readyVoice(books: Books, changes: Partial<CloneAdmission> = {}): Promise<string> {
  const admitted = cloneAdmission(books, { priceMicros: 0, ...changes })
  const { id } = await books.ledger.admitClone(admitted)
  if (!(await books.ledger.completeClone(id))) throw new Error('The clone did not complete')
  return admitted.voiceId
}

export function settlement(outcome: Outcome, chargedMicros: number): Settlement {
  const completed = outcome === 'completed'
  return {
    outcome,
    chargedMicros,
    completionBytes: completed ? 48_000 : null,
    error: completed || outcome === 'cancelled' ? null : { code: 'test_failure', message: 'As the test wished.' },
    usedChars: chargedMicros > 0 ? 100 : 0,
    audioMs: chargedMicros > 0 ? 1000 : 0,
  }
}

/** Everything in the database, to compare before and after. */
export async function contents(database: Database): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of recordTables) found[table] = await database.all(`SELECT * FROM ${table}`)
  return found
}
