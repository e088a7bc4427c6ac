/**
 * How many operations the database takes in a second: admitted, marked and settled, each step synced to the disk.
 * On SQLite, and on PostgreSQL where that is installed, in one run.
 */
import { rmSync, statfsSync } from 'node:fs'
import { newId, systemRandom } from '../../src/domain/id.ts'
import { systemClock } from '../../src/domain/time.ts'
import { SqlAccounts } from '../../src/store/accounts.ts'
import type { Database } from '../../src/store/database.ts'
import { SqlLedger } from '../../src/store/ledger/ledger.ts'
import { openPostgres } from '../../src/store/postgres/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { durablePostgres, noPostgres } from '../../src/testing/postgres.ts'
import { printTable, spreadOf } from './figures.ts'
import { openingMicros, temporaryFolder } from './subject.ts'

/** From linux/magic.h and the file systems' own headers. */
const fileSystems: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x01021994: 'tmpfs',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x794c7630: 'overlay',
  0x2fc12fc1: 'zfs',
}

const fileSystemOf = (path: string): string => {
  const { type } = statfsSync(path)
  return fileSystems[type] ?? `type 0x${type.toString(16)}`
}

interface Shape {
  clients: number
  accounts: number
}

const shapes: readonly Shape[] = [
  { clients: 1, accounts: 1 },
  { clients: 8, accounts: 1 },
  { clients: 8, accounts: 50 },
]

export async function measureBooks(seconds: number): Promise<object> {
  const dataDir = temporaryFolder()
  const fileSystem = fileSystemOf(dataDir)
  const records = []
  const sqlite = await openSqlite(dataDir)
  for (const shape of shapes) records.push(await measured('SQLite', sqlite, shape, seconds))
  await sqlite.close()
  rmSync(dataDir, { recursive: true, force: true })
  if (noPostgres === null) {
    const server = await durablePostgres()
    const postgres = await openPostgres(server.urlOf(await server.create()), { connections: 10 })
    const box = { boxId: 'box_bench', requireHeld: () => {} }
    for (const shape of shapes) records.push(await measured('PostgreSQL', postgres, shape, seconds, box))
    await postgres.close()
    await server.kill()
  }
  printTable(`The books: whole operations, three synced transactions each, on ${fileSystem}`, [
    ['engine', 'clients', 'accounts', 'operations/s', 'ms', 'p95', 'max', 'ms CPU'],
    ...records.map(({ engine, clients, accounts, perSecond, ms, cpuMs }) => [
      engine,
      clients,
      accounts,
      perSecond,
      ms.median,
      ms.p95,
      ms.max,
      cpuMs,
    ]),
  ])
  return { fileSystem, records }
}

type Box = NonNullable<ConstructorParameters<typeof SqlLedger>[1]['box']>

async function measured(engine: string, database: Database, shape: Shape, seconds: number, box: Box | null = null) {
  const world = { clock: systemClock, random: systemRandom, box }
  const accounts = new SqlAccounts(database, world)
  const ledger = new SqlLedger(database, world)
  const payers: { accountId: string; keyId: string }[] = []
  for (let n = 0; n < shape.accounts; n++) {
    const name = newId('acct', systemClock.nowMs(), systemRandom)
    const account = await accounts.create({ name, role: 'user', balanceMicros: openingMicros })
    const secretHash = new Bun.CryptoHasher('sha256').update(name).digest('hex')
    const key = { accountId: account.id, name: 'bench', prefix: 'x', secretHash, scopes: null, expiresAtMs: null }
    payers.push({ accountId: account.id, keyId: (await accounts.createKey(key)).id })
  }
  const pairMs: number[] = []
  const began = process.cpuUsage()
  const deadlineMs = performance.now() + seconds * 1000
  const client = async (first: number) => {
    for (let turn = first; performance.now() < deadlineMs; turn += shape.clients) {
      const beganMs = performance.now()
      await oneOperation(ledger, payers[turn % payers.length]!)
      pairMs.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: shape.clients }, (_, first) => client(first)))
  const { user, system } = process.cpuUsage(began)
  const cpuMs = (user + system) / 1000 / pairMs.length
  return { engine, ...shape, perSecond: pairMs.length / seconds, ms: spreadOf(pairMs), cpuMs }
}

async function oneOperation(ledger: SqlLedger, payer: { accountId: string; keyId: string }): Promise<void> {
  const operationId = newId('op', systemClock.nowMs(), systemRandom)
  const order = { operationId, ...payer, model: 'hibari', voiceId: 'lark', inputChars: 40, priceMicros: 600 }
  await ledger.admitSpeech({ ...order, keyHash: null, fingerprint: '0'.repeat(64), maxPending: 1000 })
  await ledger.markFirstAudio(operationId)
  const audio = { audioMs: 2500, completionBytes: 120_000 }
  const outcome = { outcome: 'completed', chargedMicros: 600, usedChars: 40, error: null } as const
  if (!(await ledger.settle(operationId, { ...outcome, ...audio }))) throw new Error('it was settled already')
}
