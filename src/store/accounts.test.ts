/** Accounts, keys, and the time of their last use. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { noOwnLimits } from '../domain/account.ts'
import { brokenRules, type Row } from '../audit/rules.ts'
import { Auditor } from './auditor.fixture.ts'
import {
  admission,
  cloneAdmission,
  newKey,
  openBooks,
  readyVoice,
  openingMicros,
  seededBytes,
  sha256,
  ruleOf,
  settlement,
} from './books.fixture.ts'
import type { Books } from './books.fixture.ts'
import { until } from '../testing/until.ts'
import { SqlAccounts } from './accounts.ts'
import { KeyUses } from './key-uses.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

describe('accounts', () => {
  test('are created with an opening balance, which has an entry', async () => {
    const { accounts, database, clock } = await openBooks()
    const bob = await accounts.create({ name: ' bob ', role: 'admin', balanceMicros: 42 })
    expect(bob).toEqual({
      id: expect.stringMatching(/^acct_[0-9A-Z]{26}$/),
      name: 'bob',
      role: 'admin',
      balanceMicros: 42,
      limits: noOwnLimits,
      createdAtMs: clock.wallMs,
      disabledAtMs: null,
    })
    expect(await accounts.findByName('bob')).toEqual(bob)
    expect(await new Auditor(database).faults(bob.id)).toEqual([])
    const unmetered = await accounts.create({ name: 'carol', role: 'user', balanceMicros: null })
    expect(unmetered.balanceMicros).toBeNull()
    expect((await accounts.list()).map((account) => account.name).sort()).toEqual(['ada', 'bob', 'carol'])
    expect(await accounts.count()).toBe(3)
  })

  test('have limits of their own, which arrive with their callers', async () => {
    const { accounts, account } = await openBooks()
    const secretHash = sha256('of the one with limits')
    const order = { accountId: account.id, name: 'k', scopes: null, secretHash, prefix: 'p', expiresAtMs: null }
    await accounts.createKey(order)
    expect((await accounts.findByKey(secretHash))?.account.limits).toEqual(noOwnLimits)
    const limits = { ...noOwnLimits, speechConcurrency: 4, requestsPerMinute: 60 }
    await accounts.setLimits(account.id, limits)
    expect((await accounts.findByKey(secretHash))?.account.limits).toEqual(limits)
    expect((await accounts.findByName(account.name))?.limits).toEqual(limits)
    expect((await accounts.list()).find(({ id }) => id === account.id)?.limits).toEqual(limits)
    await expect(accounts.setLimits(account.id, { ...limits, speechConcurrency: 0 })).rejects.toThrow('positive')
    await accounts.setLimits(account.id, noOwnLimits)
    expect((await accounts.findByKey(secretHash))?.account.limits).toEqual(noOwnLimits)
  })

  test('have names that differ by more than case', async () => {
    const { accounts } = await openBooks()
    await accounts.create({ name: 'Zoë', role: 'user', balanceMicros: null })
    expect((await accounts.findByName('ZOË'))?.name).toBe('Zoë')
    expect(await accounts.findByName('zoe')).toBeNull()
    for (const name of ['ADA', 'zoë', ' Zoe\u0308']) {
      const again = accounts.create({ name, role: 'user', balanceMicros: null })
      await expect(again).rejects.toMatchObject({ code: 'validation_error', param: 'name' })
    }
    for (const name of ['', '  ', 'x'.repeat(101)]) {
      const unfit = accounts.create({ name, role: 'user', balanceMicros: null })
      await expect(unfit).rejects.toMatchObject({ code: 'validation_error', param: 'name' })
    }
    expect(await accounts.count()).toBe(2)
  })

  test('are credited when prepaid', async () => {
    const { accounts, account, database } = await openBooks()
    expect(await accounts.credit(account.id, 5)).toEqual({ ...account, balanceMicros: openingMicros + 5 })
    expect(await new Auditor(database).faults(account.id)).toEqual([])
    const unmetered = await accounts.create({ name: 'carol', role: 'user', balanceMicros: null })
    expect(await accounts.credit(unmetered.id, 5)).toBeNull()
    expect(await accounts.credit('acct_none', 5)).toBeNull()
    for (const amount of [0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER]) {
      const refused = accounts.credit(account.id, amount)
      await expect(refused).rejects.toMatchObject({ code: 'validation_error', param: 'amount_micros' })
    }
    const negative = accounts.create({ name: 'dan', role: 'user', balanceMicros: -1 })
    await expect(negative).rejects.toMatchObject({ code: 'validation_error', param: 'balance_micros' })
    expect((await accounts.findByName('ada'))?.balanceMicros).toBe(openingMicros + 5)
  })

  test('become unmetered and prepaid again, and owe nothing for the time between', async () => {
    const books = await openBooks()
    const { accounts, account, ledger, database, clock } = books
    const faults = async () => {
      const broken = await brokenRules((sql) => database.all<Row>(sql))
      return [...(await new Auditor(database).faults(account.id)), ...broken.map(({ words }) => words)]
    }
    const use = async (micros: number) => {
      const { id } = await ledger.admitSpeech(admission(books, { priceMicros: micros }))
      return async () => void (await ledger.settle(id, settlement('completed', micros)))
    }
    await (
      await use(300)
    )()
    const across = await use(200)
    expect(await accounts.setMetering(account.id, null)).toEqual({ ...account, balanceMicros: null })
    expect(await faults()).toEqual([])
    await (
      await use(openingMicros * 2)
    )()
    await across()
    const running = await use(700)
    expect(await accounts.setMetering(account.id, null)).toBeNull()
    const tooSmall = accounts.setMetering(account.id, 699)
    await expect(tooSmall).rejects.toMatchObject({ code: 'validation_error', param: 'balance_micros' })
    expect(await accounts.setMetering(account.id, 1000)).toEqual({ ...account, balanceMicros: 300 })
    expect(await faults()).toEqual([])
    await running()
    expect((await accounts.findByName('ada'))?.balanceMicros).toBe(300)
    expect(await accounts.setMetering(account.id, 5)).toBeNull()
    clock.advance(48 * 3_600_000)
    await ledger.sweep()
    expect(await accounts.credit(account.id, 5)).toMatchObject({ balanceMicros: 305 })
    expect(await faults()).toEqual([])
    const booked = await database.all<{ kind: string; amount_micros: number }>(
      "SELECT kind, amount_micros FROM entries WHERE kind IN ('prepaid', 'unmetered') ORDER BY id",
    )
    expect(booked).toEqual([
      { kind: 'unmetered', amount_micros: openingMicros - 500 },
      { kind: 'prepaid', amount_micros: -2 * openingMicros - 1000 },
    ])
    expect(await accounts.setMetering('acct_none', 5)).toBeNull()
  })

  test('are disabled once, and still known', async () => {
    const { accounts, account, clock } = await openBooks()
    const disabledAtMs = clock.wallMs
    await accounts.disable(account.id)
    clock.advance(1000)
    await accounts.disable(account.id)
    await accounts.disable('acct_none')
    expect(await accounts.findByName('ada')).toEqual({ ...account, disabledAtMs })
  })

  test('count the voices that have not failed', async () => {
    const books = await openBooks()
    const { accounts, account, ledger } = books
    await readyVoice(books)
    await ledger.admitClone(cloneAdmission(books))
    const { id } = await ledger.admitClone(cloneAdmission(books))
    expect(await accounts.countVoices(account.id)).toBe(3)
    await ledger.failClone(id, 'failed', { code: 'clip_refused', message: 'Too noisy.' })
    expect(await accounts.countVoices(account.id)).toBe(2)
    expect(await accounts.countVoices('acct_none')).toBe(0)
  })
})

describe('keys', () => {
  test('are found by the hash of their secret, with their account', async () => {
    const { accounts, account, clock } = await openBooks()
    const secretHash = sha256('secret')
    const key = await accounts.createKey({
      accountId: account.id,
      name: 'laptop',
      scopes: ['voices', 'tts'],
      expiresAtMs: clock.wallMs + 1,
      secretHash,
      prefix: 'sk-myna-AbCd',
    })
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Z]{26}$/),
      accountId: account.id,
      name: 'laptop',
      prefix: 'sk-myna-AbCd',
      scopes: ['tts', 'voices'],
      createdAtMs: clock.wallMs,
      expiresAtMs: clock.wallMs + 1,
      revokedAtMs: null,
      lastUsedAtMs: null,
    })
    expect(await accounts.findByKey(secretHash)).toEqual({ account, key })
    expect(await accounts.findByKey(sha256('other'))).toBeNull()
  })

  test('stay known when revoked, expired or disabled, because the refusal says which', async () => {
    const { accounts, account, clock } = await openBooks()
    const secretHash = sha256('secret')
    const order = { accountId: account.id, name: 'k', scopes: [], secretHash, prefix: 'p' }
    const key = await accounts.createKey({ ...order, expiresAtMs: clock.wallMs })
    const revokedAtMs = clock.wallMs
    expect(await accounts.revokeKey(key.id)).toBe(true)
    clock.advance(1000)
    expect(await accounts.revokeKey(key.id)).toBe(true)
    expect(await accounts.revokeKey('key_none')).toBe(false)
    await accounts.disable(account.id)
    expect(await accounts.findByKey(secretHash)).toEqual({
      account: { ...account, disabledAtMs: clock.wallMs },
      key: { ...key, revokedAtMs },
    })
  })

  test('are unique by secret and belong to an existing account', async () => {
    const { accounts, account } = await openBooks()
    const order = { name: 'k', scopes: null, expiresAtMs: null, secretHash: sha256('secret'), prefix: 'p' }
    await accounts.createKey({ ...order, accountId: account.id })
    const again = accounts.createKey({ ...order, accountId: account.id })
    expect(await again.catch(ruleOf)).toContain('keys.hash')
    const orphan = accounts.createKey({ ...order, secretHash: sha256('x'), accountId: 'acct_none' })
    expect(await orphan.catch(ruleOf)).toContain('FOREIGN KEY')
  })

  test('are listed for one account or for all', async () => {
    const { accounts, account, key } = await openBooks()
    const bob = await accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
    const bobsKey = await newKey(accounts, bob)
    expect(await accounts.listKeys(account.id)).toEqual([key])
    expect((await accounts.listKeys(null)).map(({ id }) => id).sort()).toEqual([key.id, bobsKey.id].sort())
  })
})

describe('the last use of a key', () => {
  const stored = async (books: Books) =>
    (await books.database.get<{ last_used_at_ms: number | null }>('SELECT * FROM keys WHERE id = $id', {
      id: books.key.id,
    }))!.last_used_at_ms
  const told = async (books: Books) => (await books.accounts.listKeys(books.account.id))[0]?.lastUsedAtMs

  test('is visible at once and written once a minute', async () => {
    const books = await openBooks()
    const firstMs = books.clock.wallMs
    books.accounts.touchKey(books.key.id)
    expect(await told(books)).toBe(firstMs)
    await until('the use is written', async () => (await stored(books)) === firstMs)
    books.clock.advance(59_999)
    books.accounts.touchKey(books.key.id)
    expect([await stored(books), await told(books)]).toEqual([firstMs, firstMs + 59_999])
    books.clock.advance(1)
    books.accounts.touchKey(books.key.id)
    expect(await told(books)).toBe(firstMs + 60_000)
    await until('the use is written', async () => (await stored(books)) === firstMs + 60_000)
  })

  test('is visible in a row that was read before it was written', async () => {
    const { database, clock, key } = await openBooks()
    const uses = new KeyUses(database, clock)
    const row: { id: string; last_used_at_ms: number | null } = { id: key.id, last_used_at_ms: null }
    uses.touch(key.id)
    await uses.save()
    expect(uses.freshen(row).last_used_at_ms).toBe(clock.wallMs)
    const later = clock.wallMs + 5
    expect(uses.freshen({ ...row, last_used_at_ms: later }).last_used_at_ms).toBe(later)
  })

  test('is written at the end', async () => {
    const books = await openBooks()
    books.accounts.touchKey(books.key.id)
    books.clock.advance(5)
    books.accounts.touchKey(books.key.id)
    await books.accounts.close()
    await books.database.close()
    const database = await books.again()
    const accounts = new SqlAccounts(database, { clock: books.clock, random: seededBytes(2) })
    expect((await accounts.listKeys(null))[0]?.lastUsedAtMs).toBe(books.clock.wallMs)
    await database.close()
  })

  test('cannot fail a request, even when the database is closed', async () => {
    const books = await openBooks()
    await books.database.close()
    books.accounts.touchKey(books.key.id)
    await books.accounts.close()
  })
})
