/** Clones in the database: what they cost, how many there may be, and every event in every state of a clone. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Voice } from '../../domain/voice.ts'
import type { CloneAdmission } from '../../service/ports.ts'
import { Auditor } from '../auditor.fixture.ts'
import {
  blockWriters,
  cloneAdmission,
  clonePriceMicros,
  contents,
  newKey,
  openBooks,
  openingMicros,
  readyVoice,
  sha256,
} from '../books.fixture.ts'
import type { Books } from '../books.fixture.ts'
import { SqlLedger } from './ledger.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const keyHash = sha256('a key of a client')
const refusal = { code: 'clip_refused', message: 'Too noisy.' }

const check = async (books: Books) => expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
const balance = async (books: Books) => (await books.accounts.findByName('ada'))!.balanceMicros
const admit = (books: Books, changes: Partial<CloneAdmission> = {}) =>
  books.ledger.admitClone(cloneAdmission(books, changes))
const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )

describe('admission', () => {
  test('writes a pending operation and a processing voice', async () => {
    const books = await openBooks()
    const order = cloneAdmission(books, {
      name: ' Zoë ',
      description: 'Calm.',
      labels: { accent: 'Yorkshire' },
      language: 'en-GB',
      aliases: ['Nova', 'me'],
      isPublic: true,
      keyHash,
    })
    const atMs = books.clock.wallMs
    expect(await books.ledger.admitClone(order)).toEqual({
      id: order.operationId,
      accountId: books.account.id,
      keyId: books.key.id,
      type: 'clone',
      model: 'hibari',
      voiceId: order.voiceId,
      inputChars: 0,
      priceMicros: clonePriceMicros,
      chargedMicros: clonePriceMicros,
      outcome: null,
      completionBytes: null,
      error: null,
      keySupplied: true,
      createdAtMs: atMs,
      startedAtMs: null,
      firstAudioAtMs: null,
      settledAtMs: null,
    })
    const voice: Voice = {
      id: order.voiceId,
      ownerId: books.account.id,
      isPublic: true,
      name: ' Zoë ',
      description: 'Calm.',
      labels: { accent: 'Yorkshire' },
      language: 'en-GB',
      category: 'cloned',
      model: 'hibari',
      fidelity: 'approximate',
      status: 'processing',
      error: null,
      aliases: ['Nova', 'me'],
      clip: order.clip,
      operationId: order.operationId,
      createdAtMs: atMs,
      updatedAtMs: atMs,
    }
    expect(await books.voices.find(order.voiceId)).toEqual(voice)
    const kept = await books.database.get<object>('SELECT consent, key_id FROM voices')
    expect(kept).toEqual({ consent: 'I am Ada.', key_id: books.key.id })
    expect(await balance(books)).toBe(openingMicros - clonePriceMicros)
    await check(books)
  })

  test('is free within the allowance; failed voices do not use it, and deleted ones give it back', async () => {
    const books = await openBooks()
    const price = async () => (await admit(books, { freeClones: 2 })).priceMicros
    const first = await admit(books, { freeClones: 2 })
    expect(first.priceMicros).toBe(0)
    expect([await price(), await price()]).toEqual([0, clonePriceMicros])
    await books.ledger.failClone(first.id, 'failed', refusal)
    expect(await price()).toBe(clonePriceMicros)
    for (const id of (await books.voices.ids()).slice(0, 2)) await books.voices.remove(id, books.account.id)
    expect([await price(), await price()]).toEqual([0, clonePriceMicros])
    await check(books)
  })

  test('is refused past the cap; failed voices do not count, and deleted ones give their place back', async () => {
    const books = await openBooks(null)
    const attempt = () => code(admit(books, { maxVoices: 2 }))
    const { id } = await admit(books)
    expect([await attempt(), await attempt()]).toEqual(['done', 'voice_limit_reached'])
    const before = await contents(books.database)
    await expect(admit(books, { maxVoices: 2 })).rejects.toMatchObject({ extras: { limit: 2, owned: 2 } })
    expect(await contents(books.database)).toEqual(before)
    await books.ledger.failClone(id, 'failed', refusal)
    expect([await attempt(), await attempt()]).toEqual(['done', 'voice_limit_reached'])
    await books.voices.remove((await books.voices.ids())[1]!, books.account.id)
    expect([await attempt(), await attempt()]).toEqual(['done', 'voice_limit_reached'])
  })

  test('counts the voices of its own account only', async () => {
    const books = await openBooks(null)
    const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
    const bobs = { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id, freeClones: 1, maxVoices: 1 }
    await admit(books, { freeClones: 1, maxVoices: 1 })
    expect((await admit(books, bobs)).priceMicros).toBe(0)
  })

  test('costs an administrator nothing and has no cap', async () => {
    const books = await openBooks(0)
    const admin = { isAdmin: true, freeClones: 1, maxVoices: 0 }
    for (let count = 0; count < 3; count++) {
      const { id, priceMicros } = await admit(books, admin)
      expect(priceMicros).toBe(0)
      await books.ledger.completeClone(id)
    }
    expect(await books.database.all<unknown>('SELECT charged_micros, free FROM usage GROUP BY 1, 2')).toEqual([
      { charged_micros: 0, free: 0 },
    ])
    await check(books)
  })

  test('is refused if its account was removed while the clip arrived, for its voices are deleted already', async () => {
    const books = await openBooks()
    await books.accounts.remove(books.account.id)
    const before = await contents(books.database)
    expect(await code(admit(books))).toBe('account_disabled')
    expect(await contents(books.database)).toEqual(before)
  })

  test('is refused as a whole if the balance is too low', async () => {
    const books = await openBooks(clonePriceMicros - 1)
    const before = await contents(books.database)
    await expect(admit(books, { aliases: ['me'] })).rejects.toMatchObject({
      code: 'insufficient_balance',
      extras: { required_micros: clonePriceMicros, balance_micros: clonePriceMicros - 1 },
    })
    expect(await contents(books.database)).toEqual(before)
  })

  test('refuses an alias that the account already uses, in any case, and names it', async () => {
    const books = await openBooks()
    await admit(books, { aliases: ['Zoë'] })
    for (const aliases of [['new', 'ZOË'], ['zoe\u0308']]) {
      await expect(admit(books, { aliases })).rejects.toMatchObject({
        code: 'validation_error',
        param: 'aliases',
        message: expect.stringContaining(`'${aliases.at(-1)}'`),
      })
    }
    await expect(admit(books, { aliases: ['x', 'X'] })).rejects.toThrow("'X' is given twice")
    const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
    await admit(books, { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id, aliases: ['zoë'] })
    await check(books)
  })

  test('checks the key first, then the aliases, then the cap, then the balance', async () => {
    const books = await openBooks(clonePriceMicros)
    const { id } = await admit(books, { keyHash, aliases: ['me'] })
    const wrong = { keyHash, aliases: ['me'], maxVoices: 1 }
    expect(await code(admit(books, wrong))).toBe('duplicate_request')
    expect(await code(admit(books, { ...wrong, keyHash: null }))).toBe('validation_error')
    expect(await code(admit(books, { maxVoices: 1 }))).toBe('voice_limit_reached')
    expect(await code(admit(books))).toBe('insufficient_balance')
    await books.ledger.completeClone(id)
    expect(await code(admit(books, wrong))).toBe('duplicate_request')
    // An expired record no longer blocks the key, and comes back when the admission is refused for another reason.
    books.clock.advance(86_400_000)
    const before = await contents(books.database)
    expect(await code(admit(books, wrong))).toBe('validation_error')
    expect(await contents(books.database)).toEqual(before)
    expect(await code(admit(books, { keyHash, freeClones: 9 }))).toBe('done')
    expect(await books.ledger.find(books.account.id, id)).toBeNull()
  })

  test.each([
    ['the cap', { maxVoices: 3 }, ['done', 'voice_limit_reached']],
    ['the allowance', { freeClones: 3 }, ['done', 'done']],
    ['the key', { keyHash }, ['done', 'duplicate_request']],
    ['an alias', { aliases: ['me'] }, ['done', 'validation_error']],
  ])('lets one of two connections win the last place of %s', async (_of, limits, outcomes) => {
    const books = await openBooks()
    await readyVoice(books)
    await readyVoice(books)
    const second = await books.again()
    const ledgers = [books.ledger, new SqlLedger(second, { clock: books.clock })]
    // Another writer holds the lock first, so that both are waiting when it is released.
    const letGo = await blockWriters(books)
    const both = ledgers.map((ledger) => code(ledger.admitClone(cloneAdmission(books, limits))))
    await letGo()
    expect((await Promise.all(both)).sort()).toEqual(outcomes)
    const prices = await books.database.all<{ price_micros: number }>(
      'SELECT price_micros FROM operations WHERE outcome IS NULL ORDER BY 1',
    )
    const free = 'freeClones' in limits
    expect(prices.map((row) => row.price_micros)).toEqual(free ? [0, clonePriceMicros] : [clonePriceMicros])
    await check(books)
    await second.close()
  })
})

const states = [
  'admitted',
  'started',
  'ready',
  'failed',
  'not_accepted',
  'cancelled',
  'deleted',
  'deleted later',
] as const
type State = (typeof states)[number]
const pendingStates: readonly State[] = ['admitted', 'started']

/** A paid clone under a key, and its ids. */
async function reach(books: Books, state: State): Promise<{ id: string; voiceId: string }> {
  const { id, voiceId } = await admit(books, { keyHash, aliases: ['me'] })
  if (state !== 'admitted') await books.ledger.markStarted(id)
  if (state === 'ready' || state === 'deleted later') expect(await books.ledger.completeClone(id)).toBe(true)
  if (state === 'failed' || state === 'not_accepted' || state === 'cancelled') {
    expect(await books.ledger.failClone(id, state, refusal)).toBe(true)
  }
  if (state.startsWith('deleted')) await books.voices.remove(voiceId!, books.account.id)
  return { id, voiceId: voiceId! }
}

describe.each(states)('a clone that is %s', (state) => {
  const pending = pendingStates.includes(state)

  test('may complete once', async () => {
    const books = await openBooks()
    const { id, voiceId } = await reach(books, state)
    const before = await contents(books.database)
    expect(await books.ledger.completeClone(id)).toBe(pending)
    if (pending) {
      expect(await books.ledger.find(books.account.id, id)).toMatchObject({
        outcome: 'completed',
        chargedMicros: clonePriceMicros,
        voiceId,
      })
      expect(await books.voices.find(voiceId)).toMatchObject({ status: 'ready', error: null, aliases: ['me'] })
      expect(await balance(books)).toBe(openingMicros - clonePriceMicros)
      expect(await code(admit(books, { keyHash }))).toBe('duplicate_request')
    } else {
      expect(await contents(books.database)).toEqual(before)
    }
    await check(books)
  })

  test.each(['failed', 'not_accepted', 'cancelled'] as const)('may end as %s once', async (outcome) => {
    const books = await openBooks()
    const { id, voiceId } = await reach(books, state)
    const before = await contents(books.database)
    expect(await books.ledger.failClone(id, outcome, refusal)).toBe(pending)
    if (pending) {
      const operation = await books.ledger.find(books.account.id, id)
      expect(operation).toMatchObject({ outcome, chargedMicros: 0, error: refusal })
      const voice = await books.voices.find(voiceId)
      expect(voice).toMatchObject({ status: 'failed', error: refusal, aliases: [], operationId: id })
      expect(await balance(books)).toBe(openingMicros)
      expect(await code(admit(books, { keyHash, aliases: ['ME'] }))).toBe('done')
    } else {
      expect(await contents(books.database)).toEqual(before)
    }
    await check(books)
  })

  test('may be deleted once, which cancels a pending one', async () => {
    const books = await openBooks()
    const { id, voiceId } = await reach(books, state)
    const operation = await books.ledger.find(books.account.id, id)
    const gone = state.startsWith('deleted')
    const removed = await books.voices.remove(voiceId, books.account.id)
    expect(removed).toEqual(gone ? null : { cancelledOperationId: pending ? id : null })
    expect(await books.voices.find(voiceId)).toBeNull()
    expect(await books.voices.remove(voiceId, books.account.id)).toBeNull()
    const now = await books.ledger.find(books.account.id, id)
    if (pending) expect(now).toMatchObject({ outcome: 'cancelled', chargedMicros: 0, error: { code: 'voice_deleted' } })
    else expect(now).toEqual(operation)
    expect(await balance(books)).toBe(openingMicros - (now?.chargedMicros ?? 0))
    await check(books)
  })

  test('is reported truthfully after a crash', async () => {
    const books = await openBooks()
    const { id, voiceId } = await reach(books, state)
    const before = await contents(books.database)
    expect(await books.ledger.settleCrashed()).toBe(pending ? 1 : 0)
    if (pending) {
      const outcome = state === 'started' ? 'failed' : 'not_accepted'
      const errorCode = state === 'started' ? 'engine_failed' : 'not_started'
      const error = { code: 'server_stopped' }
      expect(await books.ledger.find(books.account.id, id)).toMatchObject({ outcome, chargedMicros: 0, error })
      const voice = await books.voices.find(voiceId)
      expect(voice).toMatchObject({ status: 'failed', error: { code: errorCode }, aliases: [] })
      expect(await balance(books)).toBe(openingMicros)
    } else {
      expect(await contents(books.database)).toEqual(before)
    }
    await check(books)
  })

  test('loses its operation when that record expires, with or without a sweep', async () => {
    const books = await openBooks()
    const { id, voiceId } = await reach(books, state)
    if (state.startsWith('deleted')) return
    expect((await books.voices.find(voiceId))?.operationId).toBe(id)
    books.clock.advance(86_400_000)
    expect((await books.voices.find(voiceId))?.operationId).toBe(pending ? id : null)
    await books.ledger.sweep()
    expect((await books.voices.find(voiceId))?.operationId).toBe(pending ? id : null)
    await check(books)
  })
})

test('an ending does not apply to an operation of another type', async () => {
  const books = await openBooks()
  expect(await books.ledger.completeClone('op_none')).toBe(false)
  expect(await books.ledger.failClone('op_none', 'failed', refusal)).toBe(false)
})

test('settling a clone like speech also settles its voice', async () => {
  const books = await openBooks()
  const { id, voiceId } = await admit(books)
  const settlement = { outcome: 'cancelled', chargedMicros: 0, completionBytes: null, error: null } as const
  expect(await books.ledger.settle(id, { ...settlement, usedChars: 0, audioMs: 0 })).toBe(true)
  expect(await books.voices.find(voiceId!)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  await check(books)
})

test('usage counts completed clones, how many were free, and the refunds', async () => {
  const books = await openBooks(10 * clonePriceMicros)
  const startMs = books.clock.wallMs
  const allowance = { freeClones: 1 }
  const ask = async () => {
    const query = { accountId: books.account.id, startMs, endMs: startMs + 1, bucketMs: 1, groupBy: [] }
    const [row, ...more] = await books.ledger.usage(query)
    expect(more).toEqual([])
    return row && [row.type, row.requests, row.free, row.chargedMicros, row.refundedMicros]
  }
  const free = await admit(books, allowance)
  await books.ledger.failClone(free.id, 'failed', refusal)
  expect(await ask()).toBeUndefined()
  const again = await admit(books, allowance)
  await books.ledger.completeClone(again.id)
  expect(await ask()).toEqual(['clone', 1, 1, 0, 0])
  const refused = await admit(books, allowance)
  await books.ledger.failClone(refused.id, 'not_accepted', refusal)
  expect(await ask()).toEqual(['clone', 1, 1, 0, clonePriceMicros])
  const deleted = await admit(books, allowance)
  await books.voices.remove(deleted.voiceId!, books.account.id)
  const paid = await admit(books, allowance)
  await books.ledger.completeClone(paid.id)
  expect(await ask()).toEqual(['clone', 2, 1, clonePriceMicros, 2 * clonePriceMicros])
  await admit(books, allowance)
  await books.ledger.settleCrashed()
  expect(await ask()).toEqual(['clone', 2, 1, clonePriceMicros, 3 * clonePriceMicros])
  await check(books)
})
