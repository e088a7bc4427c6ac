/**
 * What happens to a piece of work when its connection is lost, before the COMMIT or with the answer to it: it is done
 * once, and the caller learns the result.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import { noPostgres, testPostgres } from '../../testing/postgres.ts'
import { Relay } from '../../testing/relay.ts'
import { SqlAccounts } from '../accounts.ts'
import { Auditor } from '../auditor.fixture.ts'
import {
  admission,
  type Books,
  cloneAdmission,
  contents,
  engine,
  openBooks,
  seededBytes,
  settlement,
  sha256,
} from '../books.fixture.ts'
import { SqlLedger } from '../ledger/ledger.ts'
import { SqlVoices } from '../voices.ts'
import { openPostgres, type PostgresDatabase } from './postgres.ts'

setDefaultTimeout(60_000)

beforeAll(() => void (engine.name = 'postgres'))
afterAll(() => void (engine.name = 'sqlite'))

/** A box that reaches the database over a connection that can be lost. */
interface Box {
  books: Books
  relay: Relay
  wired: PostgresDatabase
  accounts: SqlAccounts
  ledger: SqlLedger
  voices: SqlVoices
}

async function openBox(deadlineMs = 5000): Promise<Box> {
  const books = await openBooks()
  const relay = await Relay.open((await testPostgres()).port)
  const url = new URL(books.place)
  url.port = String(relay.port)
  const wired = await openPostgres(url.href, { connections: 2, deadlineMs, patienceMs: 20_000 })
  onTestFinished(async () => {
    relay.mend()
    await wired.close()
    relay.close()
  })
  const options = { clock: books.clock, box: ownBox }
  const accounts = new SqlAccounts(wired, { clock: books.clock, random: seededBytes(7) })
  return { books, relay, wired, accounts, ledger: new SqlLedger(wired, options), voices: new SqlVoices(wired, options) }
}

const ownBox = { boxId: 'box_1', requireHeld: () => {} }

const heard = ({ account, key }: Books) => ({ id: 'req_1', accountId: account.id, keyId: key.id, model: 'whisper' })
const refusal = { code: 'clip_refused', message: 'Too noisy.' }
const keyHash = sha256('a key')
const spoken = (books: Books) => admission(books, { operationId: 'op_1', keyHash })
const cloned = (books: Books) => cloneAdmission(books, { operationId: 'op_1', voiceId: 'voice_1', keyHash })

/** A box's call, its preparation, and the result that it must get. */
const works: Record<string, [(books: Books) => Promise<unknown>, (box: Box) => Promise<unknown>, unknown]> = {
  'an admission': [
    async () => {},
    ({ books, ledger }) => ledger.admitSpeech(spoken(books)),
    expect.objectContaining({ id: 'op_1', outcome: null }),
  ],
  'an admission of a clone': [
    async () => {},
    ({ books, ledger }) => ledger.admitClone(cloned(books)),
    expect.objectContaining({ id: 'op_1', outcome: null }),
  ],
  'a settlement': [
    (books) => books.ledger.admitSpeech(spoken(books)),
    ({ ledger }) => ledger.settle('op_1', settlement('stream_failed', 700)),
    true,
  ],
  'a clone that completes': [
    (books) => books.ledger.admitClone(cloned(books)),
    ({ ledger }) => ledger.completeClone('op_1'),
    true,
  ],
  'a clone that fails': [
    (books) => books.ledger.admitClone(cloned(books)),
    ({ ledger }) => ledger.failClone('op_1', 'failed', refusal),
    true,
  ],
  'a voice that is removed while it is made': [
    (books) => books.ledger.admitClone(cloned(books)),
    ({ books, voices }) => voices.remove('voice_1', books.account.id),
    { cancelledOperationId: 'op_1' },
  ],
  'a voice that is removed': [
    async (books) => {
      await books.ledger.admitClone(cloned(books))
      await books.ledger.completeClone('op_1')
    },
    ({ books, voices }) => voices.remove('voice_1', books.account.id),
    { cancelledOperationId: null },
  ],
  'a credit': [
    async () => {},
    ({ books, accounts }) => accounts.credit(books.account.id, 5),
    expect.objectContaining({ balanceMicros: 1_000_005 }),
  ],
  'an account that becomes unmetered': [
    async () => {},
    ({ books, accounts }) => accounts.setMetering(books.account.id, null),
    expect.objectContaining({ balanceMicros: null }),
  ],
  'an account that becomes prepaid': [
    async ({ accounts, account }) => void (await accounts.setMetering(account.id, null)),
    ({ books, accounts }) => accounts.setMetering(books.account.id, 5),
    expect.objectContaining({ balanceMicros: 5 }),
  ],
  'an account': [
    async () => {},
    ({ accounts }) => accounts.create({ name: 'bob', role: 'user', balanceMicros: 5 }),
    expect.objectContaining({ name: 'bob' }),
  ],
  'a key': [
    async () => {},
    ({ books, accounts }) => {
      const order = { name: 'k', scopes: null, expiresAtMs: null, secretHash: sha256('s'), prefix: 'p' }
      return accounts.createKey({ ...order, accountId: books.account.id })
    },
    expect.objectContaining({ name: 'k' }),
  ],
  'a transcription that begins': [
    async () => {},
    ({ books, ledger }) => ledger.beginTranscription(heard(books)),
    undefined,
  ],
  'a transcription that ends': [
    (books) => books.ledger.beginTranscription(heard(books)),
    ({ ledger }) => ledger.endTranscription('req_1', { outcome: 'completed', errorCode: null, heardMs: 900 }),
    true,
  ],
}

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null).each(Object.keys(works))('%s', (name) => {
  const [prepare, act, told] = works[name]!

  test.each([1, 2])('is done once and reported as done when the answers to %d COMMITs are lost', async (count) => {
    const box = await openBox()
    await prepare(box.books)
    const before = await contents(box.books.database)
    box.relay.loseCommits(count)
    expect(await act(box)).toEqual(told)
    // The second attempt finds it done, and its COMMIT is lost as well.
    expect(box.relay.commitsToLose).toBe(0)
    const after = await contents(box.books.database)
    expect(after).not.toEqual(before)
    expect(await new Auditor(box.books.database).faults(box.books.account.id)).toEqual([])
    const changed = Object.entries(after).flatMap(([table, rows]) =>
      rows.length > before[table]!.length ? [table] : [],
    )
    for (const table of changed) {
      const most = table === 'entries' ? 2 : 1
      expect([table, after[table]!.length - before[table]!.length <= most]).toEqual([table, true])
    }
  })

  test('is done when the connection is lost before it', async () => {
    const box = await openBox()
    await prepare(box.books)
    box.relay.cut()
    const done = act(box)
    box.relay.mend()
    expect(await done).toEqual(told)
    expect(await new Auditor(box.books.database).faults(box.books.account.id)).toEqual([])
  })
})

// Likewise.
describe.skipIf(noPostgres !== null)('a settlement whose answer was lost', () => {
  test('is not confused with a settlement that another box has written', async () => {
    const box = await openBox()
    await box.books.ledger.admitClone(cloned(box.books))
    // This very box deletes the voice, and then the clone comes to its end.
    expect(await box.voices.remove('voice_1', box.books.account.id)).toEqual({ cancelledOperationId: 'op_1' })
    box.relay.loseCommits(1)
    expect(await box.ledger.completeClone('op_1')).toBe(false)
  })

  test('is still its own, also when the caller asks again and does not wait for the database', async () => {
    const box = await openBox()
    await box.books.ledger.admitSpeech(spoken(box.books))
    const impatient = await openPostgres(withPort(box.books.place, box.relay.port), { patienceMs: 0 })
    const ledger = new SqlLedger(impatient, { clock: box.books.clock, box: ownBox })
    box.relay.loseCommits(1)
    const end = settlement('completed', 1500)
    expect([await ledger.settle('op_1', end), await ledger.settle('op_1', end)]).toEqual([true, true])
    await impatient.close()
  })
})

function withPort(place: string, port: number): string {
  const url = new URL(place)
  url.port = String(port)
  return url.href
}

// Likewise.
describe.skipIf(noPostgres !== null)('a connection', () => {
  test('that was unplugged is given up at the deadline, and the work is done on another', async () => {
    const box = await openBox(400)
    await box.books.ledger.admitSpeech(spoken(box.books))
    await box.wired.get('SELECT 1 AS one')
    box.relay.hold()
    const beganMs = performance.now()
    expect(await box.ledger.settle('op_1', settlement('completed', 1500))).toBe(true)
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(400)
  })

  test('that ends within a transaction leaves nothing of it, and nothing outside of it', async () => {
    const box = await openBox()
    const { database, account } = box.books
    let runs = 0
    await box.wired.transaction(async (sql) => {
      await sql.run('UPDATE accounts SET balance_micros = balance_micros + 1 WHERE id = $id', { id: account.id })
      if (++runs > 1) return
      box.relay.cut()
      box.relay.mend()
      await sql.run('UPDATE accounts SET balance_micros = balance_micros + 100 WHERE id = $id', { id: account.id })
    })
    expect(runs).toBe(2)
    const found = await database.get<object>('SELECT balance_micros FROM accounts WHERE id = $id', { id: account.id })
    expect(found).toEqual({ balance_micros: 1_000_001 })
  })
})
