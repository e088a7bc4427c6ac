/** What the auditor makes of a lease that was given back, and of one that was taken away. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newId } from '../../domain/id.ts'
import { SqlAccounts } from '../../store/accounts.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { noPostgres, testPostgres } from '../postgres.ts'
import { Seeded } from '../seeded.ts'
import { BoxesAuditor } from './auditor.ts'
import { nobodyTold, SimulatedBox } from './box.ts'

setDefaultTimeout(30_000)

const openingMicros = 60_000

/** Two boxes, and an operation that the first admitted and never settled, a while after its lease was renewed. */
async function twoBoxes() {
  const server = await testPostgres()
  const database = await server.create()
  const url = server.urlOf(database)
  const admin = await openPostgres(url, { connections: 1 })
  const random = new Seeded(1)
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const accounts = new SqlAccounts(admin, { clock, random: random.fill })
  const { id: accountId } = await accounts.create({ name: 'a', role: 'user', balanceMicros: openingMicros })
  const order = { accountId, name: 'k', scopes: null, expiresAtMs: null, prefix: 'p', secretHash: '0'.repeat(64) }
  const { id: keyId } = await accounts.createKey(order)
  const told = nobodyTold([accountId])
  const wire = { host: '127.0.0.1', port: server.port, cable: 0 }
  // The last to start has the newest lease, which must outlast all that follows, also on a busy machine.
  const second = await SimulatedBox.start('box_2', database, wire, told, random)
  const first = await SimulatedBox.start('box_1', database, wire, told, random)
  const operationId = newId('op', Date.now(), random.fill)
  const what = { model: 'hibari', voiceId: 'wren', inputChars: 20, priceMicros: 300 }
  const how = { keyHash: null, fingerprint: 'f'.repeat(64), maxPending: 4 }
  await first.ledger.admitSpeech({ operationId, accountId, keyId, ...what, ...how })
  const renewedMs = told.renewals.get('box_1')?.[0]?.answeredMs ?? Infinity
  while (second.clock.nowMs() < renewedMs + 100) await second.keeper.tick()
  const audit = async () => {
    await second.keeper.tick()
    const auditor = new BoxesAuditor(url, { concurrency: 4, openingMicros })
    const { faults, seen } = await auditor.findings(told)
    await auditor.close()
    return { faults, settledForOthers: seen.settledForOthers }
  }
  return { admin, first, second, audit }
}

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('the auditor of three boxes', () => {
  test('lets others settle for a box that gave its lease back', async () => {
    const { admin, first, second, audit } = await twoBoxes()
    await first.stop()
    expect(await audit()).toEqual({ faults: [], settledForOthers: 1 })
    await second.stop()
    await admin.close()
  })

  test('finds a lease that was taken away', async () => {
    const { admin, first, second, audit } = await twoBoxes()
    await first.kill()
    await admin.run("DELETE FROM boxes WHERE id = 'box_1'")
    const { faults, settledForOthers } = await audit()
    expect(settledForOthers).toBe(1)
    expect(faults.join('\n')).toMatch(/^op_\S+ of box_1 was settled \d+ ms after a renewal, by box_2 settled for box_1/)
    await second.stop()
    await admin.close()
  })
})
