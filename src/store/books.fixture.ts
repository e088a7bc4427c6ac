/** Books for tests: a real database in a temporary folder, one prepaid account with a key, a clock that stands. */
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
import { SqlLedger } from './ledger.ts'
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

export interface Books {
  dataDir: string
  clock: FixedClock
  database: Database
  accounts: SqlAccounts
  ledger: SqlLedger
  voices: SqlVoices
  account: Account
  key: Key
}

export const openingMicros = 1_000_000

/** Made once and copied: to make books waits for the disk several times. */
let empty: Uint8Array | undefined

async function makeEmpty(): Promise<Uint8Array> {
  const dataDir = temporaryFolder()
  const database = await openSqlite(dataDir)
  await database.close()
  return readFileSync(join(dataDir, 'myna.db'))
}

export async function openBooks(balanceMicros: number | null = openingMicros): Promise<Books> {
  const dataDir = temporaryFolder()
  writeFileSync(join(dataDir, 'myna.db'), (empty ??= await makeEmpty()))
  const clock = new FixedClock()
  const database = await openSqlite(dataDir)
  // These books need not survive a power failure, and hundreds of them would keep the disk busy for long.
  await database.script('PRAGMA synchronous = OFF')
  const accounts = new SqlAccounts(database, { clock, random: seededBytes(1) })
  const ledger = new SqlLedger(database, { clock })
  const voices = new SqlVoices(database, { clock })
  const account = await accounts.create({ name: 'ada', role: 'user', balanceMicros })
  const key = await newKey(accounts, account)
  return { dataDir, clock, database, accounts, ledger, voices, account, key }
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
    model: 'flite',
    voiceId: 'slt',
    inputChars: 100,
    priceMicros: 1500,
    keyHash: null,
    fingerprint: sha256('hello'),
    ...changes,
  }
}

export const clonePriceMicros = 500_000

/** A clone past the allowance, unless that is changed. */
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
    model: 'flite',
    fidelity: 'approximate',
    clip: { fileName: 'ada.wav', mimeType: 'audio/wav', sizeBytes: 320_044, durationMs: 10_000, hash: sha256('clip') },
    priceMicros: clonePriceMicros,
    freeClones: 0,
    maxVoices: 100,
    ...changes,
  }
}

/** A voice that is ready, free of charge. @returns its id */
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

/** Everything that the books say, to be compared before and after. */
export async function contents(database: Database): Promise<Record<string, unknown[]>> {
  const tables = [
    'accounts',
    'keys',
    'operations',
    'entries',
    'usage',
    'voices',
    'voice_aliases',
    'agents',
    'transcriptions',
  ]
  const found: Record<string, unknown[]> = {}
  for (const table of tables) found[table] = await database.all(`SELECT * FROM ${table}`)
  return found
}
