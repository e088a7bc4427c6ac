/**
 * A voice that is made again: its cost, what changes, and that the voice stays as it was unless the remake completes.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { RemakeAdmission } from '../../service/ports.ts'
import { Auditor } from '../auditor.fixture.ts'
import { type Books, contents, expectRefused, newKey, openBooks, readyVoice } from '../books.fixture.ts'

// Every commit waits for the disk, which others may keep busy.
setDefaultTimeout(30_000)

let operations = 0
const admissionOf = (books: Books, voiceId: string, changes: Partial<RemakeAdmission> = {}): RemakeAdmission => ({
  operationId: `op_remake${operations++}`,
  accountId: books.account.id,
  keyId: books.key.id,
  voiceId,
  model: 'hibari',
  ...changes,
})
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
const check = async (books: Books) => expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
/** The voice of a removed model, in an account that could pay nothing and has no place for another voice. */
const flite = (books: Books) => readyVoice(books, { model: 'flite', aliases: ['Nova'], maxVoices: 1 })

test('it is free; the voice gets the new model and keeps the rest', async () => {
  const books = await openBooks(0)
  const id = await flite(books)
  const before = (await books.voices.find(id))!
  books.clock.advance(1000)
  const key = await newKey(books.accounts, books.account)
  const operation = await books.ledger.admitRemake(admissionOf(books, id, { keyId: key.id }))
  expect(operation).toMatchObject({ type: 'clone', voiceId: id, model: 'hibari', priceMicros: 0, outcome: null })
  expect(await books.voices.find(id)).toEqual(before)
  await check(books)
  await books.ledger.markStarted(operation.id)
  expect(await books.ledger.completeRemake(operation.id, 'full')).toBe(true)
  const updatedAtMs = books.clock.wallMs
  const changed = { model: 'hibari', fidelity: 'full', operationId: operation.id, updatedAtMs } as const
  expect(await books.voices.find(id)).toEqual({ ...before, ...changed })
  const usage = await books.database.all<object>('SELECT type, model, charged_micros, free FROM usage ORDER BY id')
  expect(usage).toEqual([
    { type: 'clone', model: 'flite', charged_micros: 0, free: 0 },
    { type: 'clone', model: 'hibari', charged_micros: 0, free: 0 },
  ])
  expect(await books.ledger.completeRemake(operation.id, 'approximate')).toBe(false)
  expect((await books.voices.find(id))?.fidelity).toBe('full')
  await check(books)
})

test.each(['failed', 'not_accepted', 'cancelled', 'crashed'] as const)('%s, it leaves the voice', async (ending) => {
  const books = await openBooks()
  const id = await flite(books)
  const before = await books.voices.find(id)
  const { id: operationId } = await books.ledger.admitRemake(admissionOf(books, id))
  if (ending === 'crashed') expect(await books.ledger.settleCrashed()).toBe(1)
  else expect(await books.ledger.failClone(operationId, ending, { code: 'x', message: 'No.' })).toBe(true)
  expect(await books.voices.find(id)).toEqual(before)
  expect(await books.ledger.completeRemake(operationId, 'full')).toBe(false)
  expect(await books.voices.find(id)).toEqual(before)
  expect(await codeOf(books.ledger.admitRemake(admissionOf(books, id)))).toBe('done')
  await check(books)
})

test('one clone at a time works on a ready voice, for its owner only', async () => {
  const books = await openBooks(null)
  const id = await flite(books)
  const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  const bobs = { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id }
  expect(await codeOf(books.ledger.admitRemake(admissionOf(books, id, bobs)))).toBe('voice_not_found')
  expect(await codeOf(books.ledger.admitRemake(admissionOf(books, 'voice_none')))).toBe('voice_not_found')
  await books.ledger.admitRemake(admissionOf(books, id))
  const before = await contents(books.database)
  expect(await codeOf(books.ledger.admitRemake(admissionOf(books, id)))).toBe('voice_not_ready')
  expect(await contents(books.database)).toEqual(before)
})

test('removing the voice ends it', async () => {
  const books = await openBooks()
  const id = await flite(books)
  const { id: operationId } = await books.ledger.admitRemake(admissionOf(books, id))
  expect(await books.voices.remove(id, books.account.id)).toEqual({ cancelledOperationId: operationId })
  expect(await books.ledger.find(books.account.id, operationId)).toMatchObject({ outcome: 'cancelled' })
  expect(await books.ledger.completeRemake(operationId, 'full')).toBe(false)
  await check(books)
})

test('the schema allows a new model only through a completed remake', async () => {
  const books = await openBooks()
  const id = await flite(books)
  const other = await readyVoice(books)
  const { id: operationId } = await books.ledger.admitRemake(admissionOf(books, id))
  const take = (voice: string, model: string) =>
    `UPDATE voices SET model = '${model}', operation_id = '${operationId}' WHERE id = '${voice}'`
  const refused = (sql: string) => expectRefused(books.database, sql, 'what was admitted never changes')
  await refused(take(id, 'hibari'))
  await refused(`UPDATE voices SET model = 'hibari' WHERE id = '${id}'`)
  await books.ledger.completeRemake(operationId, 'approximate')
  await refused(take(other, 'hibari'))
  await refused(take(id, 'kokoro'))
  await refused(`UPDATE voices SET fidelity = 'full' WHERE id = '${id}'`)
  await expectRefused(
    books.database,
    `INSERT INTO operations (id, account_id, key_id, type, model, voice_id, input_chars, price_micros, charged_micros,
       key_supplied, created_at_ms)
     SELECT 'op_' || n, '${books.account.id}', '${books.key.id}', 'clone', 'hibari', '${id}', 0, 0, 0, 0, 1
     FROM (SELECT 'a' AS n UNION SELECT 'b' AS n) AS two`,
    /operations.voice_id/,
  )
})
