/** Every event in every state of an operation, and every query about it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Operation, Settlement } from '../../domain/operation.ts'
import { Auditor } from '../auditor.fixture.ts'
import {
  admission,
  cloneAdmission,
  contents,
  newKey,
  openBooks,
  openingMicros,
  settlement,
  sha256,
} from '../books.fixture.ts'
import type { Books } from '../books.fixture.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const hourMs = 3_600_000
const keyHash = sha256('a key of a client')

/** How an operation gets into each state; all except the pending ones are terminal. */
const states: Record<string, Settlement | 'started' | 'sounding'> = {
  started: 'started',
  sounding: 'sounding',
  completed: settlement('completed', 1500),
  'left by the client after some audio': settlement('stream_failed', 700),
  'broken by us': settlement('stream_failed', 0),
  'cancelled after some audio': settlement('cancelled', 1),
  'cancelled before any': settlement('cancelled', 0),
  failed: settlement('failed', 0),
  'not accepted': settlement('not_accepted', 0),
}
const releasing = new Set(['broken by us', 'cancelled before any', 'failed', 'not accepted'])
const crashed: Record<string, string> = { started: 'failed', sounding: 'stream_failed' }

async function reach(books: Books, state: string, supplied: boolean): Promise<Operation> {
  const { id } = await books.ledger.admitSpeech(admission(books, { keyHash: supplied ? keyHash : null }))
  const step = states[state]
  if (step === 'sounding') await books.ledger.markFirstAudio(id)
  if (typeof step === 'object') expect(await books.ledger.settle(id, step)).toBe(true)
  return (await books.ledger.find(books.account.id, id))!
}

const check = async (books: Books) => expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
const balance = async (books: Books) => (await books.accounts.findByName('ada'))!.balanceMicros

describe.each(Object.keys(states))('an operation that is %s', (state) => {
  const terminal = typeof states[state] === 'object'

  test('is found in its state, by its owner only', async () => {
    const books = await openBooks()
    const operation = await reach(books, state, true)
    const step = states[state]
    const end = typeof step === 'object' ? step : null
    expect(operation).toMatchObject({
      accountId: books.account.id,
      keyId: books.key.id,
      type: 'speech',
      priceMicros: 1500,
      keySupplied: true,
      outcome: end?.outcome ?? null,
      chargedMicros: end?.chargedMicros ?? 1500,
      completionBytes: end?.completionBytes ?? null,
      error: end?.error ?? null,
      createdAtMs: books.clock.wallMs,
      startedAtMs: books.clock.wallMs,
      firstAudioAtMs: step === 'sounding' ? books.clock.wallMs : null,
      settledAtMs: terminal ? books.clock.wallMs : null,
    })
    expect(await balance(books)).toBe(openingMicros - operation.chargedMicros)
    expect(await books.ledger.pendingCount()).toBe(terminal ? 0 : 1)
    const stranger = await books.accounts.create({ name: 'bob', role: 'admin', balanceMicros: null })
    expect(await books.ledger.find(stranger.id, operation.id)).toBeNull()
    expect(await books.ledger.find(books.account.id, 'op_unknown')).toBeNull()
    await check(books)
  })

  test('answers a second submission under its key', async () => {
    const books = await openBooks()
    const operation = await reach(books, state, true)
    const again = books.ledger.admitSpeech(admission(books, { keyHash }))
    if (releasing.has(state)) {
      expect((await again).outcome).toBeNull()
    } else {
      await expect(again).rejects.toMatchObject({
        code: 'duplicate_request',
        extras: {
          operation_id: operation.id,
          state: terminal ? 'terminal' : 'pending',
          outcome: operation.outcome,
        },
      })
      expect(await balance(books)).toBe(openingMicros - operation.chargedMicros)
    }
    await check(books)
  })

  test('is marked only while pending, and once', async () => {
    const books = await openBooks()
    const operation = await reach(books, state, false)
    books.clock.advance(5)
    await books.ledger.markStarted(operation.id)
    await books.ledger.markFirstAudio(operation.id)
    const now = await books.ledger.find(books.account.id, operation.id)
    if (terminal) {
      expect(now).toEqual(operation)
    } else {
      const firstAudioAtMs = operation.firstAudioAtMs ?? books.clock.wallMs
      expect(now).toEqual({ ...operation, firstAudioAtMs })
    }
  })

  test('is settled once, whatever comes second', async () => {
    for (const end of Object.values(states).filter((step) => typeof step === 'object')) {
      const books = await openBooks()
      const operation = await reach(books, state, true)
      const before = await contents(books.database)
      expect(await books.ledger.settle(operation.id, end)).toBe(!terminal)
      if (terminal) expect(await contents(books.database)).toEqual(before)
      else expect(await books.ledger.find(books.account.id, operation.id)).toMatchObject({ outcome: end.outcome })
      await check(books)
      await books.database.close()
    }
  })

  test('is reported truthfully after a crash', async () => {
    const books = await openBooks()
    const operation = await reach(books, state, true)
    const before = await contents(books.database)
    expect(await books.ledger.settleCrashed()).toBe(terminal ? 0 : 1)
    if (terminal) {
      expect(await contents(books.database)).toEqual(before)
    } else {
      expect(await books.ledger.find(books.account.id, operation.id)).toMatchObject({
        outcome: crashed[state],
        chargedMicros: 0,
        error: { code: 'server_stopped' },
      })
      expect(await balance(books)).toBe(openingMicros)
      expect(await books.ledger.pendingCount()).toBe(0)
    }
    await check(books)
  })

  test.each([
    [true, 24 * hourMs],
    [false, hourMs],
  ])('expires when it is due (key supplied: %p)', async (supplied, keptMs) => {
    const books = await openBooks()
    const operation = await reach(books, state, supplied)
    const money = async () => [
      await books.database.all('SELECT * FROM entries'),
      await books.database.all('SELECT * FROM usage'),
    ]
    const before = await money()
    books.clock.advance(keptMs - 1)
    expect(await books.ledger.sweep()).toBe(0)
    expect(await books.ledger.find(books.account.id, operation.id)).toEqual(operation)
    books.clock.advance(1)
    expect((await books.ledger.find(books.account.id, operation.id)) === null).toBe(terminal)
    expect(await books.ledger.sweep()).toBe(terminal ? 1 : 0)
    expect(await books.ledger.sweep()).toBe(0)
    expect(await books.database.all('SELECT id FROM operations')).toHaveLength(terminal ? 0 : 1)
    expect(await money()).toEqual(before)
  })
})

test('first audio cannot be sent before the work began', async () => {
  const books = await openBooks()
  const { id } = await books.ledger.admitClone(cloneAdmission(books))
  await expect(books.ledger.markFirstAudio(id)).rejects.toThrow('audio_after_start')
})

test('marking and settling a missing operation changes nothing', async () => {
  const books = await openBooks()
  const before = await contents(books.database)
  await books.ledger.markStarted('op_none')
  await books.ledger.markFirstAudio('op_none')
  expect(await books.ledger.settle('op_none', settlement('completed', 1500))).toBe(false)
  expect(await contents(books.database)).toEqual(before)
})

test('a settlement that breaks the rules is refused as a whole', async () => {
  const books = await openBooks()
  const { id } = await books.ledger.admitSpeech(admission(books))
  const before = await contents(books.database)
  await expect(books.ledger.settle(id, settlement('stream_failed', 1501))).rejects.toThrow('charge_within_price')
  await expect(books.ledger.settle(id, settlement('completed', 1))).rejects.toThrow('completed_costs_price')
  expect(await contents(books.database)).toEqual(before)
  expect(await books.ledger.settle(id, settlement('completed', 1500))).toBe(true)
})

test('an unmetered account is recorded but never refused', async () => {
  const books = await openBooks(null)
  const { id } = await books.ledger.admitSpeech(admission(books, { priceMicros: 10 ** 9 }))
  await books.ledger.settle(id, { ...settlement('stream_failed', 5), usedChars: 1 })
  expect(await balance(books)).toBeNull()
  expect(await books.database.all<unknown>('SELECT kind, amount_micros FROM entries')).toEqual([
    { kind: 'hold', amount_micros: 10 ** 9 },
    { kind: 'refund', amount_micros: 5 - 10 ** 9 },
  ])
  await check(books)
})

test('work that costs nothing has no entries, and counts when completed', async () => {
  const books = await openBooks(0)
  const { id } = await books.ledger.admitSpeech(admission(books, { priceMicros: 0 }))
  await books.ledger.settle(id, settlement('completed', 0))
  expect(await books.database.all('SELECT * FROM entries')).toEqual([])
  await check(books)
})

test('the clock may jump back between any two events', async () => {
  const books = await openBooks()
  for (const supplied of [true, false]) {
    const { id } = await books.ledger.admitSpeech(admission(books, { keyHash: supplied ? keyHash : null }))
    const createdAtMs = books.clock.wallMs
    books.clock.wallMs -= 3 * hourMs
    await books.ledger.markStarted(id)
    books.clock.wallMs -= 3 * hourMs
    await books.ledger.markFirstAudio(id)
    books.clock.wallMs -= 3 * hourMs
    expect(await books.ledger.settle(id, settlement('completed', 1500))).toBe(true)
    const settledAtMs = books.clock.wallMs
    expect(await books.ledger.find(books.account.id, id)).toMatchObject({ createdAtMs, settledAtMs })
    // Kept for an hour from the settlement by the present clock, or for a day from the creation by the clock of that
    // time.
    books.clock.wallMs = supplied ? createdAtMs + 24 * hourMs : settledAtMs + hourMs
    expect(await books.ledger.find(books.account.id, id)).toBeNull()
    expect(await books.ledger.sweep()).toBe(1)
  }
  await check(books)
})

test('a large sweep runs in steps and keeps what is not due', async () => {
  const books = await openBooks(null)
  const other = await newKey(books.accounts, books.account)
  for (let count = 0; count < 1203; count++) {
    const { id } = await books.ledger.admitSpeech(admission(books, { keyId: other.id }))
    if (count >= 3) await books.ledger.settle(id, settlement('failed', 0))
  }
  books.clock.advance(hourMs)
  expect(await books.ledger.sweep()).toBe(1200)
  expect(await books.ledger.pendingCount()).toBe(3)
})
