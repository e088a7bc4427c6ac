import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSecret, noOwnLimits } from '../domain/account.ts'
import { systemRandom } from '../domain/id.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { openSqlite, type SqliteDatabase } from '../store/sqlite.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { SqlVoices } from '../store/voices.ts'
import { adminRemedy, AdminVerbs, ensureFirstAdmin } from './accounts.ts'
import { deleteOwned } from './library.ts'

const nowMs = Date.UTC(2026, 10, 21, 12)
const clock = { nowMs: () => nowMs, monotonicMs: () => 0 }
const parts = {
  clock,
  random: systemRandom,
  deleteVoices: (id: string) => deleteOwned(new SqlVoices(database, { clock }), id),
}
const folder = mkdtempSync(join(tmpdir(), 'myna-accounts-'))
let database: SqliteDatabase
let accounts: SqlAccounts
let ledger: SqlLedger
let verbs: AdminVerbs

beforeAll(async () => {
  database = await openSqlite(folder)
  accounts = new SqlAccounts(database, parts)
  ledger = new SqlLedger(database, parts)
  verbs = new AdminVerbs(accounts, ledger, parts)
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

/** The message of the refusal, which must be a validation error. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ code: 'validation_error' })
  return (error as Error).message
}

test('an empty folder gets one administrator, and only once', async () => {
  const first = await ensureFirstAdmin(accounts, verbs)
  expect(first).toMatchObject({ account: { name: 'admin', role: 'admin', balanceMicros: null }, key: { scopes: null } })
  const caller = await accounts.findByKey(hashSecret(first?.secret ?? ''))
  expect(caller?.account.role).toBe('admin')
  expect(await ensureFirstAdmin(accounts, verbs)).toBeNull()
})

test('the first administrator may bring a key', async () => {
  const books = await openSqlite(mkdtempSync(join(tmpdir(), 'myna-accounts-')))
  const own = new SqlAccounts(books, parts)
  const ownVerbs = new AdminVerbs(own, new SqlLedger(books, parts), parts)
  for (const weak of ['', 'short', 'x'.repeat(31), `${'x'.repeat(32)} `, 'x'.repeat(257)]) {
    expect(await refusal(ensureFirstAdmin(own, ownVerbs, weak))).toContain('32 to 256')
  }
  const secret = 'chosen-by-the-operator-0123456789'
  expect(await ensureFirstAdmin(own, ownVerbs, secret)).toBeNull()
  expect((await own.findByKey(hashSecret(secret)))?.account.role).toBe('admin')
  expect(await ensureFirstAdmin(own, ownVerbs, 'another-one-does-not-matter-0123456789')).toBeNull()
  expect(await own.count()).toBe(1)
  await books.close()
})

test('an account is created once, prepaid or unmetered', async () => {
  const prepaid = await verbs.createAccount({ name: 'Anna', role: 'user', balanceMicros: 5_000_000 })
  expect(prepaid).toMatchObject({ name: 'Anna', balanceMicros: 5_000_000 })
  expect(await refusal(verbs.createAccount({ name: 'anna', role: 'user', balanceMicros: null }))).toContain('already')
  expect((await verbs.listAccounts()).map((account) => account.name).sort()).toEqual(['Anna', 'admin'])
})

test('invalid names, roles and amounts are refused', async () => {
  for (const name of ['', ' ', 'a\nb', ' a', 'a ', 'x'.repeat(65), 7 as unknown as string]) {
    expect(await refusal(verbs.createAccount({ name, role: 'user', balanceMicros: null }))).toContain('1 to 64')
  }
  for (const balanceMicros of [-1, 1.5, Number.NaN, 1e16, '5' as unknown as number]) {
    expect(await refusal(verbs.createAccount({ name: 'b', role: 'user', balanceMicros }))).toContain('whole number')
  }
  const role = 'root' as 'admin'
  expect(await refusal(verbs.createAccount({ name: 'b', role, balanceMicros: null }))).toContain('user or admin')
})

test('64 characters outside ASCII are a valid name', async () => {
  const account = await verbs.createAccount({ name: '日'.repeat(64), role: 'user', balanceMicros: null })
  expect(account.name).toBe('日'.repeat(64))
})

test('credit adds to a prepaid account and is refused for an unmetered one', async () => {
  expect(await verbs.credit({ name: 'Anna', amountMicros: 250 })).toMatchObject({ balanceMicros: 5_000_250 })
  expect(await refusal(verbs.credit({ name: 'admin', amountMicros: 250 }))).toContain(
    'myna accounts prepaid admin 5usd',
  )
  expect(await refusal(verbs.credit({ name: 'nobody', amountMicros: 250 }))).toContain("no account 'nobody'")
  expect(await refusal(verbs.credit({ name: 'Anna', amountMicros: 0 }))).toContain('from 1 to')
  expect(await refusal(verbs.credit({ name: 'Anna', amountMicros: 1e15 }))).toContain('would exceed')
})

test('an account becomes unmetered, and prepaid again', async () => {
  await verbs.createAccount({ name: 'Mia', role: 'user', balanceMicros: 7 })
  expect(await verbs.setMetering({ name: 'mia', balanceMicros: null })).toMatchObject({ balanceMicros: null })
  expect(await refusal(verbs.setMetering({ name: 'mia', balanceMicros: null }))).toContain('unmetered already')
  expect(await verbs.setMetering({ name: 'mia', balanceMicros: 9 })).toMatchObject({ name: 'Mia', balanceMicros: 9 })
  expect(await refusal(verbs.setMetering({ name: 'mia', balanceMicros: 9 }))).toContain('myna accounts credit Mia 5usd')
  expect(await refusal(verbs.setMetering({ name: 'mia', balanceMicros: -1 }))).toContain('from 0 to')
  expect(await refusal(verbs.setMetering({ name: 'nobody', balanceMicros: 9 }))).toContain("no account 'nobody'")
  await verbs.removeAccount({ name: 'Mia' })
})

test('a key is issued with its scopes and expiry, for a new account too', async () => {
  const issued = await verbs.createKey({ account: 'Ben', name: 'laptop', scopes: ['usage', 'tts'], expires: '30d' })
  expect(issued.secret).toMatch(/^sk-myna-[0-9A-Za-z]{43}$/)
  expect(issued.accountCreated).toBe(true)
  expect(issued.account).toMatchObject({ name: 'Ben', role: 'user', balanceMicros: null })
  expect(issued.key).toMatchObject({ name: 'laptop', scopes: ['tts', 'usage'], expiresAtMs: nowMs + 30 * 86_400_000 })
  const again = await verbs.createKey({ account: 'Ben', name: 'phone', scopes: null, expires: null })
  expect(again.accountCreated).toBe(false)
  expect(again.key).toMatchObject({ scopes: null, expiresAtMs: null, accountId: issued.account.id })
})

test('keys that could never work are refused, and no account is created for them', async () => {
  const key = { account: 'Carl', name: 'x', scopes: null, expires: null }
  expect(await refusal(verbs.createKey({ ...key, scopes: ['tts', 'fly'] }))).toContain("no scope 'fly'")
  expect(await refusal(verbs.createKey({ ...key, scopes: [] }))).toContain('No scope')
  expect(await refusal(verbs.createKey({ ...key, expires: 'soon' }))).toContain('not an expiry')
  expect(await refusal(verbs.createKey({ ...key, expires: '2020-01-01' }))).toContain('not in the future')
  expect((await verbs.listAccounts()).map((account) => account.name)).not.toContain('Carl')
})

test('keys are listed with their account and revoked by id', async () => {
  const keys = (await verbs.listKeys({ account: 'ben' })).sort((a, b) => a.name.localeCompare(b.name))
  expect(keys.map((key) => [key.accountName, key.name, key.revokedAtMs])).toEqual([
    ['Ben', 'laptop', null],
    ['Ben', 'phone', null],
  ])
  const id = keys[0]?.id ?? ''
  await verbs.revokeKey({ id })
  await verbs.revokeKey({ id })
  const revoked = (await verbs.listKeys({ account: 'Ben' })).filter((key) => key.revokedAtMs === nowMs)
  expect(revoked.map((key) => key.id)).toEqual([id])
  expect((await verbs.listKeys({ account: null })).length).toBeGreaterThan(2)
  expect(await refusal(verbs.revokeKey({ id: 'key_none' }))).toContain("no key 'key_none'")
  expect(await refusal(verbs.revokeKey({ id: 'sk-myna-abc' }))).toContain('the key itself')
  expect(await refusal(verbs.listKeys({ account: 'nobody' }))).toContain('no account')
})

test('a disabled account gets no more keys', async () => {
  expect(await verbs.disableAccount({ name: 'ben' })).toMatchObject({ name: 'Ben', disabledAtMs: nowMs })
  const key = { account: 'Ben', name: 'x', scopes: null, expires: null }
  expect(await refusal(verbs.createKey(key))).toContain("'Ben' is disabled")
})

test('usage carries the names behind the ids', async () => {
  const { key, account } = await verbs.createKey({ account: 'Dora', name: 'd', scopes: null, expires: null })
  const ids = { operationId: 'op_1', accountId: account.id, keyId: key.id, keyHash: null, fingerprint: 'f'.repeat(64) }
  await ledger.admitSpeech({ ...ids, model: 'm', voiceId: 'v', inputChars: 10, priceMicros: 150 })
  const spoken = {
    outcome: 'completed',
    chargedMicros: 150,
    completionBytes: 48_000,
    usedChars: 10,
    audioMs: 1000,
  } as const
  await ledger.settle('op_1', { ...spoken, error: null })
  const span = { startMs: nowMs - 1000, endMs: nowMs + 1000, bucketMs: 86_400_000 }
  const rows = await verbs.usage({ ...span, account: 'dora', groupBy: ['account', 'api_key_id'] })
  expect(rows).toEqual([
    {
      bucketStartMs: span.startMs,
      type: 'speech',
      model: null,
      accountId: account.id,
      accountName: 'Dora',
      keyId: key.id,
      keyName: 'd',
      requests: 1,
      characters: 10,
      audioMs: 1000,
      chargedMicros: 150,
      refundedMicros: 0,
      free: 0,
    },
  ])
})

test('invalid spans and groups of usage are refused', async () => {
  const query = { account: null, startMs: 1000, endMs: 2000, bucketMs: 1, groupBy: [] }
  expect(await refusal(verbs.usage({ ...query, endMs: 1000 }))).toContain('before it ends')
  expect(await refusal(verbs.usage({ ...query, endMs: 1e9 }))).toContain('too long')
  expect(await refusal(verbs.usage({ ...query, groupBy: ['1; DROP' as 'model'] }))).toContain('grouped by')
})

test('an administrator is created if there is none, even though keys came first', async () => {
  await using own = await world()
  await own.verbs.createKey({ account: 'alice', name: 'first', scopes: null, expires: null })
  expect(adminRemedy(await own.accounts.list())).toBe('myna accounts role alice admin')
  expect((await ensureFirstAdmin(own.accounts, own.verbs))?.account).toMatchObject({ name: 'admin', role: 'admin' })
  expect(adminRemedy(await own.accounts.list())).toBeNull()
})

test('an ordinary account called admin stays as it is, and the remedy names it', async () => {
  await using own = await world()
  await own.verbs.createAccount({ name: 'Admin', role: 'user', balanceMicros: null })
  expect(await ensureFirstAdmin(own.accounts, own.verbs)).toBeNull()
  expect(adminRemedy(await own.accounts.list())).toBe('myna accounts role Admin admin')
  await own.verbs.setRole({ name: 'admin', role: 'admin' })
  expect(adminRemedy(await own.accounts.list())).toBeNull()
})

test('the last active administrator cannot be disabled, demoted or removed, even by two at once', async () => {
  await using own = await world()
  await ensureFirstAdmin(own.accounts, own.verbs)
  const attempts = () => [
    own.verbs.disableAccount({ name: 'admin' }),
    own.verbs.setRole({ name: 'admin', role: 'user' }),
    own.verbs.removeAccount({ name: 'admin' }),
  ]
  for (const attempt of attempts()) expect(await refusal(attempt)).toContain('the last active administrator')
  await own.verbs.createAccount({ name: 'second', role: 'admin', balanceMicros: null })
  const both = ['admin', 'second'].map((name) => own.verbs.disableAccount({ name }))
  const ended = await Promise.allSettled(both)
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(adminRemedy(await own.accounts.list())).toBeNull()
})

test('a disabled account can be enabled again, and its keys work as before', async () => {
  await using own = await world()
  const { secret } = await own.verbs.createKey({ account: 'bea', name: 'x', scopes: null, expires: null })
  await own.verbs.disableAccount({ name: 'bea' })
  expect(await refusal(own.verbs.createKey({ account: 'bea', name: 'y', scopes: null, expires: null }))).toContain(
    'myna accounts enable bea',
  )
  expect(await own.verbs.enableAccount({ name: 'BEA' })).toMatchObject({ name: 'bea', disabledAtMs: null })
  expect((await own.accounts.findByKey(hashSecret(secret)))?.account.disabledAtMs).toBeNull()
})

test('an account can be renamed, even in its case alone, but never to a name that is taken', async () => {
  await using own = await world()
  await own.verbs.createAccount({ name: 'carl', role: 'user', balanceMicros: null })
  const { id } = await own.verbs.createAccount({ name: 'dora', role: 'user', balanceMicros: null })
  expect(await refusal(own.verbs.renameAccount({ name: 'dora', to: 'CARL' }))).toContain('already')
  expect(await own.verbs.renameAccount({ name: 'dora', to: 'Dora' })).toMatchObject({ id, name: 'Dora' })
  expect(await refusal(own.verbs.renameAccount({ name: 'dora', to: ' ' }))).toContain('1 to 64')
})

test('a removed account stays closed, its name is free again, and its rows stay', async () => {
  await using own = await world()
  const { secret, account } = await own.verbs.createKey({ account: 'eve', name: 'x', scopes: null, expires: null })
  expect(await own.verbs.removeAccount({ name: 'eve' })).toEqual({ voicesDeleted: 0 })
  const caller = await own.accounts.findByKey(hashSecret(secret))
  expect([caller?.account.disabledAtMs, caller?.key.revokedAtMs]).toEqual([nowMs, nowMs])
  expect(caller?.account.name).toBe(`eve (removed ${account.id.slice(-8)})`)
  const again = await own.verbs.createKey({ account: 'eve', name: 'x', scopes: null, expires: null })
  expect(again.accountCreated).toBe(true)
  expect(again.account.id).not.toBe(account.id)
})

/** A database of its own for one test. */
async function world() {
  const books = await openSqlite(mkdtempSync(join(tmpdir(), 'myna-accounts-')))
  const own = new SqlAccounts(books, parts)
  return {
    accounts: own,
    verbs: new AdminVerbs(own, new SqlLedger(books, parts), parts),
    [Symbol.asyncDispose]: () => books.close(),
  }
}

test('the limits of an account are checked, and omitted ones stay', async () => {
  await verbs.createAccount({ name: 'Lea', role: 'user', balanceMicros: null })
  const set = (limits: Record<string, unknown> | null) => verbs.setLimits({ name: 'lea', limits })
  await set({ speechConcurrency: 4, requestsPerMinute: 60 })
  expect((await set({ speechConcurrency: null, speechPerMinute: 9 })).limits).toEqual({
    ...noOwnLimits,
    requestsPerMinute: 60,
    speechPerMinute: 9,
  })
  for (const wrong of [{ speechConcurrency: 0 }, { speechConcurrency: 1.5 }, { speechPerMinute: '9' }, { other: 1 }]) {
    expect(await refusal(set(wrong))).toMatch(/limit/)
  }
  expect((await set(null)).limits).toEqual(noOwnLimits)
})
