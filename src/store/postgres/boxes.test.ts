/** Boxes that share a database: what a dead one leaves, what they report to each other, what they count together. */
import { afterAll, beforeAll, describe, expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import type { Clock } from '../../domain/time.ts'
import type { BoxNews } from '../../service/ports/boxes.ts'
import { noPostgres } from '../../testing/postgres.ts'
import { until } from '../../testing/until.ts'
import { Auditor } from '../auditor.fixture.ts'
import { admission, type Books, cloneAdmission, contents, engine, openBooks, settlement } from '../books.fixture.ts'
import { SqlLedger } from '../ledger/ledger.ts'
import { PostgresBoxes } from './boxes.ts'
import { DatabaseClock } from './database-clock.ts'
import { openPostgres, type PostgresDatabase } from './postgres.ts'
import { SqlSessions } from '../sessions.ts'
import { PostgresVoiceFiles, SharedPreviewFiles } from './voice-files.ts'

setDefaultTimeout(60_000)

beforeAll(() => void (engine.name = 'postgres'))
afterAll(() => void (engine.name = 'sqlite'))

interface TestBox {
  boxes: PostgresBoxes
  ledger: SqlLedger
  database: PostgresDatabase
}

async function openBox(books: Books, id: string, clock: Clock = books.clock): Promise<TestBox> {
  const database = await openPostgres(books.place, { connections: 4 })
  onTestFinished(() => database.close())
  const options = { id, name: id, url: books.place, clock, leaseMs: 90_000, graceMs: 0 }
  const boxes = new PostgresBoxes(database, options)
  await boxes.renew(null)
  const ledger = new SqlLedger(database, { clock, box: { boxId: id, requireHeld: () => {} } })
  return { boxes, ledger, database }
}

/** As after 90 seconds without a renewal. */
const expire = (books: Books, id: string) =>
  books.database.run('UPDATE boxes SET lease_until_ms = myna_now_ms() - 1 WHERE id = $id', { id })

const faults = (books: Books) => new Auditor(books.database).faults(books.account.id)
const outcomeOf = async (books: Books, id: string) => (await books.ledger.find(books.account.id, id))?.outcome
const heard = ({ account, key }: Books, id: string) => ({ id, accountId: account.id, keyId: key.id, model: 'whisper' })

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('the work of a box', () => {
  test('is its own while its lease is valid, and settled once by any other box after that', async () => {
    const books = await openBooks()
    const [dead, ...others] = await Promise.all(['box_1', 'box_2', 'box_3'].map((id) => openBox(books, id)))
    const spoken = await dead!.ledger.admitSpeech(admission(books))
    const cloned = await dead!.ledger.admitClone(cloneAdmission(books))
    await dead!.ledger.beginTranscription(heard(books, 'req_1'))
    const own = await others[0]!.ledger.admitSpeech(admission(books))

    for (const { boxes } of others) expect(await boxes.settleLost()).toEqual({ operations: 0, transcriptions: 0 })
    await expire(books, 'box_1')
    const settled = await Promise.all([...others, ...others].map(({ boxes }) => boxes.settleLost()))
    const sum = (of: 'operations' | 'transcriptions') => settled.reduce((all, one) => all + one[of], 0)
    expect([sum('operations'), sum('transcriptions')]).toEqual([2, 1])
    expect(await Promise.all([spoken, cloned, own].map(({ id }) => outcomeOf(books, id)))).toEqual([
      'failed',
      'not_accepted',
      null,
    ])
    expect(await faults(books)).toEqual([])
  })

  test('is not settled again by the box itself when it comes back', async () => {
    const books = await openBooks()
    const [late, other] = [await openBox(books, 'box_1'), await openBox(books, 'box_2')]
    const { id } = await late.ledger.admitSpeech(admission(books))
    const clone = await late.ledger.admitClone(cloneAdmission(books))
    await late.ledger.beginTranscription(heard(books, 'req_1'))
    await expire(books, 'box_1')
    await other.boxes.settleLost()
    const before = await contents(books.database)
    expect(await late.ledger.settle(id, settlement('completed', 1500))).toBe(false)
    expect(await late.ledger.completeClone(clone.id)).toBe(false)
    const end = { outcome: 'completed', errorCode: null, heardMs: 900 } as const
    expect(await late.ledger.endTranscription('req_1', end)).toBe(false)
    expect(await contents(books.database)).toEqual(before)
    expect(await faults(books)).toEqual([])
  })

  test('stays its own when it comes back before another box has settled it', async () => {
    const books = await openBooks()
    const [late, other] = [await openBox(books, 'box_1'), await openBox(books, 'box_2')]
    const { id } = await late.ledger.admitSpeech(admission(books))
    await expire(books, 'box_1')
    await late.boxes.renew(null)
    expect(await other.boxes.settleLost()).toEqual({ operations: 0, transcriptions: 0 })
    expect(await late.ledger.settle(id, settlement('completed', 1500))).toBe(true)
  })

  test('is also found when the box shut down in order, or when no box knows it any more', async () => {
    const books = await openBooks()
    const [gone, other] = [await openBox(books, 'box_1'), await openBox(books, 'box_2')]
    const { id } = await gone.ledger.admitSpeech(admission(books))
    await gone.boxes.leave()
    expect(await other.boxes.settleLost()).toEqual({ operations: 1, transcriptions: 0 })
    expect(await outcomeOf(books, id)).toBe('failed')
  })

  test('waits if the database itself was unreachable a moment ago', async () => {
    const books = await openBooks()
    const dead = await openBox(books, 'box_1')
    await dead.ledger.admitSpeech(admission(books))
    await expire(books, 'box_1')
    const hour = 3_600_000
    const options = { id: 'box_2', name: 'b', url: books.place, clock: books.clock, leaseMs: 90_000, graceMs: hour }
    const patient = new PostgresBoxes(dead.database, options)
    expect(await patient.settleLost()).toEqual({ operations: 0, transcriptions: 0 })
  })

  test('without a worker is an orphan of this box, and can be settled by it', async () => {
    const books = await openBooks()
    const box = await openBox(books, 'box_1')
    const { id } = await box.ledger.admitSpeech(admission(books))
    await box.ledger.beginTranscription(heard(books, 'req_1'))
    const pending = await box.boxes.ownPending()
    expect(pending.map((row) => [row.id, row.cancelRequested])).toEqual([
      [id, false],
      ['req_1', false],
    ])
    for (const row of pending) await box.boxes.settleOrphan(row.id)
    expect(await box.boxes.ownPending()).toEqual([])
    expect(await faults(books)).toEqual([])
  })
})

// Likewise.
describe.skipIf(noPostgres !== null)('boxes whose clocks differ', () => {
  test('agree on the time, and neither settle nor forget anything early', async () => {
    const books = await openBooks()
    const skewed = (byMs: number): Clock => ({
      nowMs: () => Date.now() + byMs,
      monotonicMs: () => performance.now() + byMs,
    })
    const clocks = await Promise.all([-60_000, 60_000].map((ms) => DatabaseClock.open(skewed(ms), books.database)))
    expect(Math.abs(clocks[0]!.nowMs() - clocks[1]!.nowMs())).toBeLessThan(5000)
    expect(Math.abs(clocks[0]!.nowMs() - Date.now())).toBeLessThan(5000)
    const [slow, fast] = [await openBox(books, 'box_1', clocks[0]), await openBox(books, 'box_2', clocks[1])]
    const { id } = await slow.ledger.admitSpeech(admission(books))
    expect(await fast.boxes.settleLost()).toEqual({ operations: 0, transcriptions: 0 })
    expect(await slow.ledger.settle(id, settlement('completed', 1500))).toBe(true)
    expect(await fast.ledger.sweep()).toBe(0)
    expect(await fast.ledger.find(books.account.id, id)).not.toBeNull()
  })
})

// Likewise.
describe.skipIf(noPostgres !== null)('the messages between boxes', () => {
  test('arrive at the others at once, and missed ones are in the tables', async () => {
    const books = await openBooks()
    const [asking, working] = [await openBox(books, 'box_1'), await openBox(books, 'box_2')]
    const { id } = await working.ledger.admitSpeech(admission(books))
    const news: BoxNews[] = []
    const own: BoxNews[] = []
    let listened = 0
    const stops = [
      await working.boxes.listen(
        (one) => void news.push(one),
        () => void listened++,
      ),
      await asking.boxes.listen(
        (one) => void own.push(one),
        () => {},
      ),
    ]
    onTestFinished(async () => void (await Promise.all(stops.map((stop) => stop()))))
    await asking.boxes.askToCancel(id)
    await until('the news arrive', () => news.length > 0)
    expect(news).toEqual([{ kind: 'cancel', operationId: id }])
    expect(await working.boxes.ownPending()).toMatchObject([{ id, cancelRequested: true }])

    const listeners = "SELECT pg_terminate_backend(pid) AS gone FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    await books.database.all(`${listeners} AND datname = current_database()`)
    await until('it listens again', () => listened === 2)
    await asking.boxes.tell({ kind: 'voice removed', voiceId: 'voice_1' })
    await until('the news arrive again', () => news.length > 1)
    expect(news[1]).toEqual({ kind: 'voice removed', voiceId: 'voice_1' })
    expect(own).toEqual([])
  })
})

// Likewise.
describe.skipIf(noPostgres !== null)('the limits of an account', () => {
  test('on concurrent work hold exactly over all boxes', async () => {
    const books = await openBooks()
    const boxes = await Promise.all(['box_1', 'box_2', 'box_3'].map((id) => openBox(books, id)))
    const admit = (n: number) => boxes[n % 3]!.ledger.admitSpeech(admission(books, { maxPending: 5 }))
    const results = await Promise.allSettled(Array.from({ length: 18 }, (_, n) => admit(n)))
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(refused).toEqual(Array(13).fill('concurrency_limit_exceeded'))
    const listen = (n: number) =>
      boxes[n % 3]!.ledger.beginTranscription({ ...heard(books, `req_${n}`), maxPending: 2 })
    const heardOf = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => listen(n)))
    expect(heardOf.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(await faults(books)).toEqual([])
  })

  test('on money hold exactly over all boxes', async () => {
    const books = await openBooks(5 * 1500)
    const boxes = await Promise.all(['box_1', 'box_2', 'box_3'].map((id) => openBox(books, id)))
    const admitted = Array.from({ length: 18 }, (_, n) => boxes[n % 3]!.ledger.admitSpeech(admission(books)))
    const results = await Promise.allSettled(admitted)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    expect((await books.accounts.findByName('ada'))!.balanceMicros).toBe(0)
    expect(await faults(books)).toEqual([])
  })
})

// Likewise.
describe.skipIf(noPostgres !== null)('shared data', () => {
  test('includes the files of voices, in pieces, until their voice is deleted', async () => {
    const books = await openBooks()
    const [one, other] = [await openBox(books, 'box_1'), await openBox(books, 'box_2')]
    const { voiceId } = await one.ledger.admitClone(cloneAdmission(books))
    const bytes = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7) % 251)
    const put = { clip: bytes(700_000), 'reference.wav': bytes(262_144), state: bytes(0), 'preview.wav': bytes(5) }
    await new PostgresVoiceFiles(one.database).put(voiceId!, put)
    const files = new PostgresVoiceFiles(other.database)
    for (const [name, whole] of Object.entries(put)) {
      expect(Bun.hash((await files.read(voiceId!, name as 'clip'))!)).toBe(Bun.hash(whole))
    }
    const made = new SharedPreviewFiles(other.database, neverUsed, () => false)
    await made.write(voiceId!, 'preview.mp3', bytes(9))
    expect(await made.read(voiceId!, 'preview.mp3')).toHaveLength(9)
    await made.remove(voiceId!)
    expect(await made.read(voiceId!, 'preview.mp3')).toBeNull()
    await books.voices.remove(voiceId!, books.account.id)
    expect(await files.read(voiceId!, 'clip')).toBeNull()
    await made.write(voiceId!, 'preview.mp3', bytes(9))
    expect(await books.database.all('SELECT name FROM voice_files')).toEqual([])
  })

  test('includes a console session, until it is closed or was idle too long', async () => {
    const books = await openBooks()
    const [one, other] = [await openBox(books, 'box_1'), await openBox(books, 'box_2')]
    const sessions = [one, other].map(({ database }) => new SqlSessions(database, books.clock, 60_000))
    await sessions[0]!.open('token', 'a'.repeat(64))
    expect(await sessions[1]!.use('token')).toBe('a'.repeat(64))
    expect(JSON.stringify(await books.database.all('SELECT * FROM sessions'))).not.toContain('"token"')
    await books.database.run('UPDATE sessions SET used_at_ms = used_at_ms - 60000')
    expect(await sessions[1]!.use('token')).toBeNull()
    await sessions[0]!.open('next', 'b'.repeat(64))
    await sessions[1]!.close('next')
    expect(await sessions[0]!.use('next')).toBeNull()
  })
})

const neverUsed = {
  read: () => Promise.reject(new Error('no preset')),
  write: () => Promise.reject(new Error('no preset')),
  remove: () => Promise.reject(new Error('no preset')),
  removeOrphans: () => Promise.reject(new Error('no preset')),
}
