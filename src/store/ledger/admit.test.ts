/** The table of idempotency row by row, and the order of the refusals. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  admission,
  blockWriters,
  cloneAdmission,
  contents,
  newKey,
  openBooks,
  settlement,
  sha256,
} from '../books.fixture.ts'
import type { Books } from '../books.fixture.ts'
import { childCommand, startChild } from '../children.fixture.ts'
import { SqlLedger } from './ledger.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const dayMs = 86_400_000
const keyHash = sha256('a key of a client')
const fingerprint = sha256('hello')
const otherFingerprint = sha256('something else')

/** The result of a new submission under the key: by admission, and by the early look, which must agree. */
async function verdict(books: Books, print: string): Promise<string> {
  const codeOf = (error: { code: string }) => error.code
  const look = books.ledger.checkKey(books.account.id, 'speech', keyHash, print)
  const early = await look.then(() => 'new work', codeOf)
  const admitted = books.ledger.admitSpeech(admission(books, { keyHash, fingerprint: print }))
  const late = await admitted.then(() => 'new work', codeOf)
  return early === late ? late : `${early}, then ${late}`
}

async function submitted(): Promise<{ books: Books; id: string }> {
  const books = await openBooks()
  const { id } = await books.ledger.admitSpeech(admission(books, { keyHash, fingerprint }))
  return { books, id }
}

test('none: new work', async () => {
  expect(await verdict(await openBooks(), fingerprint)).toBe('new work')
})

test.each([
  ['pending', null, false],
  ['completed', settlement('completed', 1500), false],
  ['charged after a disconnect', settlement('stream_failed', 1), false],
  ['charged after a cancel', settlement('cancelled', 1500), false],
  ['terminal, not completed, charged 0', settlement('stream_failed', 0), true],
  ['cancelled, charged 0', settlement('cancelled', 0), true],
  ['failed', settlement('failed', 0), true],
  ['not accepted', settlement('not_accepted', 0), true],
] as const)('%s', async (_state, end, released) => {
  for (const [print, refusal] of [
    [fingerprint, 'duplicate_request'],
    [otherFingerprint, 'idempotency_conflict'],
  ] as const) {
    const { books, id } = await submitted()
    if (end !== null) await books.ledger.settle(id, end)
    expect(await verdict(books, print)).toBe(released ? 'new work' : refusal)
    await books.database.close()
  }
})

test('a released key is taken by a new operation with a new id', async () => {
  const { books, id } = await submitted()
  await books.ledger.settle(id, settlement('failed', 0))
  const second = await books.ledger.admitSpeech(admission(books, { keyHash, fingerprint }))
  expect(second.id).not.toBe(id)
  expect(await verdict(books, fingerprint)).toBe('duplicate_request')
})

test('expired: new work, even before the sweep', async () => {
  for (const print of [fingerprint, otherFingerprint]) {
    const { books, id } = await submitted()
    await books.ledger.settle(id, settlement('completed', 1500))
    books.clock.advance(dayMs - 1)
    expect(await verdict(books, fingerprint)).toBe('duplicate_request')
    books.clock.advance(1)
    expect(await verdict(books, print)).toBe('new work')
    expect(await books.ledger.find(books.account.id, id)).toBeNull()
    expect(await books.database.all('SELECT id FROM operations')).toHaveLength(1)
  }
})

test('pending records never expire', async () => {
  const { books } = await submitted()
  books.clock.advance(100 * dayMs)
  expect(await verdict(books, fingerprint)).toBe('duplicate_request')
})

test('no key: always new work', async () => {
  const books = await openBooks()
  for (let count = 0; count < 3; count++) await books.ledger.admitSpeech(admission(books))
  expect(await books.ledger.pendingCount()).toBe(3)
})

test('other API keys of the account share the idempotency keys; other accounts and types do not', async () => {
  const { books } = await submitted()
  const sibling = await newKey(books.accounts, books.account)
  const bySibling = books.ledger.admitSpeech(admission(books, { keyHash, keyId: sibling.id }))
  await expect(bySibling).rejects.toMatchObject({ code: 'duplicate_request' })

  const stranger = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  const strangersKey = await newKey(books.accounts, stranger)
  await books.ledger.checkKey(stranger.id, 'speech', keyHash, otherFingerprint)
  await books.ledger.admitSpeech(admission(books, { keyHash, accountId: stranger.id, keyId: strangersKey.id }))
  await books.ledger.checkKey(books.account.id, 'clone', keyHash, null)
  expect(await books.ledger.pendingCount()).toBe(2)
})

test('a clone holds its key by the key alone, and a speech request may use the same key', async () => {
  const books = await openBooks()
  await books.ledger.admitClone(cloneAdmission(books, { operationId: 'op_clone', keyHash }))
  const look = books.ledger.checkKey(books.account.id, 'clone', keyHash, null)
  await expect(look).rejects.toMatchObject({ code: 'duplicate_request', extras: { operation_id: 'op_clone' } })
  expect(await verdict(books, fingerprint)).toBe('new work')
})

test('a balance that is too low is refused, with the missing amount', async () => {
  const books = await openBooks(1499)
  const before = await contents(books.database)
  await expect(books.ledger.admitSpeech(admission(books))).rejects.toMatchObject({
    code: 'insufficient_balance',
    extras: { required_micros: 1500, balance_micros: 1499 },
  })
  expect(await contents(books.database)).toEqual(before)
  await books.accounts.credit(books.account.id, 1)
  await books.ledger.admitSpeech(admission(books))
  expect((await books.accounts.findByName('ada'))?.balanceMicros).toBe(0)
})

test('the key is checked before the balance, and a refusal brings an expired record back', async () => {
  const books = await openBooks(1500)
  const { id } = await books.ledger.admitSpeech(admission(books, { keyHash }))
  await books.ledger.settle(id, settlement('completed', 1500))
  expect(await verdict(books, fingerprint)).toBe('duplicate_request')
  books.clock.advance(dayMs)
  const before = await contents(books.database)
  const refused = books.ledger.admitSpeech(admission(books, { keyHash }))
  await expect(refused).rejects.toMatchObject({ code: 'insufficient_balance' })
  expect(await contents(books.database)).toEqual(before)
})

test('two connections admit under one key at the same time: one wins', async () => {
  const books = await openBooks()
  const second = await books.again()
  const ledgers = [books.ledger, new SqlLedger(second, { clock: books.clock })]
  // Another writer holds the lock first, so that both are waiting when it is released.
  const letGo = await blockWriters(books)
  const both = ledgers.map((ledger) => ledger.admitSpeech(admission(books, { keyHash })))
  await letGo()
  const results = await Promise.allSettled(both)
  expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected'])
  const refusal = results.find((result) => result.status === 'rejected')
  expect(refusal).toMatchObject({ reason: { code: 'duplicate_request' } })
  expect(await books.ledger.pendingCount()).toBe(1)
  await second.close()
})

test('processes that admit under one key at the same time: one wins', async () => {
  const books = await openBooks()
  const children = [1, 2, 3, 4].map(() => startChild(childCommand('admit', books.place, keyHash)))
  for (const child of children) expect(await child.line()).toBe('ready')
  for (const child of children) await child.process.stdin.end()
  const outcomes = await Promise.all(children.map((child) => child.line()))
  expect(outcomes.sort()).toEqual(['admitted', 'duplicate_request', 'duplicate_request', 'duplicate_request'])
  expect(await books.ledger.pendingCount()).toBe(1)
  expect((await books.accounts.findByName('ada'))?.balanceMicros).toBe(1_000_000 - 150)
})
