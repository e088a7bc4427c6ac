/** How many operations the books take in a second: admitted, marked twice and settled, each step synced to the disk. */
import { rmSync, statfsSync } from 'node:fs'
import { newId, systemRandom } from '../../src/domain/id.ts'
import { systemClock } from '../../src/domain/time.ts'
import { SqlAccounts } from '../../src/store/accounts.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { SqlLedger } from '../../src/store/ledger.ts'
import { printTable, spreadOf } from './figures.ts'
import { openingMicros, temporaryFolder } from './subject.ts'

/** Of linux/magic.h and the file systems' own headers. */
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

export async function measureBooks(seconds: number): Promise<object> {
  const dataDir = temporaryFolder()
  const database = await openSqlite(dataDir)
  try {
    const world = { clock: systemClock, random: systemRandom }
    const accounts = new SqlAccounts(database, world)
    const ledger = new SqlLedger(database, world)
    const account = await accounts.create({ name: 'bench', role: 'user', balanceMicros: openingMicros })
    const key = { accountId: account.id, name: 'bench', prefix: 'x', secretHash: '0'.repeat(64), scopes: null }
    const { id: keyId } = await accounts.createKey({ ...key, expiresAtMs: null })
    const pairMs: number[] = []
    const deadlineMs = performance.now() + seconds * 1000
    while (performance.now() < deadlineMs) {
      const beganMs = performance.now()
      await oneOperation(ledger, account.id, keyId)
      pairMs.push(performance.now() - beganMs)
    }
    const record = { fileSystem: fileSystemOf(dataDir), perSecond: pairMs.length / seconds, ms: spreadOf(pairMs) }
    printTable(`The books: whole operations, four synced transactions each, on ${record.fileSystem}`, [
      ['operations/s', 'ms', 'p95', 'max'],
      [record.perSecond, record.ms.median, record.ms.p95, record.ms.max],
    ])
    return record
  } finally {
    await database.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function oneOperation(ledger: SqlLedger, accountId: string, keyId: string): Promise<void> {
  const operationId = newId('op', systemClock.nowMs(), systemRandom)
  const order = { operationId, accountId, keyId, model: 'flite', voiceId: 'rms', inputChars: 40, priceMicros: 600 }
  await ledger.admitSpeech({ ...order, keyHash: null, fingerprint: '0'.repeat(64) })
  await ledger.markStarted(operationId)
  await ledger.markFirstAudio(operationId)
  const audio = { audioMs: 2500, completionBytes: 120_000 }
  const outcome = { outcome: 'completed', chargedMicros: 600, usedChars: 40, error: null } as const
  if (!(await ledger.settle(operationId, { ...outcome, ...audio }))) throw new Error('it was settled already')
}
