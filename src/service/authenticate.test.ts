import { beforeEach, expect, test } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { Seeded } from '../testing/seeded.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { openSqlite } from '../store/sqlite.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { AdminVerbs } from './accounts.ts'
import { Authenticator, type Credential } from './authenticate.ts'

const hourMs = 3_600_000
let clock: ManualClock
let accounts: SqlAccounts
let verbs: AdminVerbs
let authenticator: Authenticator
let failures: string[]

beforeEach(async () => {
  clock = new ManualClock()
  const parts = { clock, random: new Seeded(1).fill, deleteVoices: async () => 0 }
  const database = await openSqlite(temporaryFolder())
  accounts = new SqlAccounts(database, parts)
  verbs = new AdminVerbs(accounts, new SqlLedger(database, parts), parts)
  failures = []
  authenticator = new Authenticator(accounts, clock, (code) => failures.push(code))
})

const issue = (expires: string | null = null, account = 'ada') =>
  verbs.createKey({ account, name: 'test', scopes: null, expires })

/** The refusal's code, or the name of the authenticated account. */
async function enter(given: string | Credential, from = 'here'): Promise<string> {
  const credential: Credential = typeof given === 'string' ? { kind: 'secret', secret: given } : given
  try {
    return (await authenticator.authenticate(credential, from)).account.name
  } catch (error) {
    if (error instanceof MynaError) return error.code
    throw error
  }
}

test('an issued key authenticates as its account, and its use is recorded', async () => {
  const { secret, key } = await issue()
  clock.advance(5000)
  expect(await enter(secret)).toBe('ada')
  expect((await accounts.listKeys(null)).find(({ id }) => id === key.id)?.lastUsedAtMs).toBe(clock.nowMs())
  expect(failures).toEqual([])
})

test('each reason for a refusal has its code and is counted; a missing key does not count as a failure', async () => {
  const revoked = await issue()
  await verbs.revokeKey({ id: revoked.key.id })
  const expired = await issue('1h')
  const disabled = await issue(null, 'bob')
  await verbs.disableAccount({ name: 'bob' })
  clock.advance(hourMs)
  expect(await enter({ kind: 'missing' })).toBe('missing_api_key')
  expect(await enter({ kind: 'malformed' })).toBe('invalid_authorization_header')
  expect(await enter('sk-myna-unknown')).toBe('invalid_api_key')
  expect(await enter(revoked.secret)).toBe('invalid_api_key')
  expect(await enter(expired.secret)).toBe('expired_api_key')
  expect(await enter(disabled.secret)).toBe('account_disabled')
  expect(failures).toEqual([
    'invalid_authorization_header',
    'invalid_api_key',
    'invalid_api_key',
    'expired_api_key',
    'account_disabled',
  ])
})

test('a key lives until the millisecond of its expiry', async () => {
  const { secret } = await issue('1h')
  clock.advance(hourMs - 1)
  expect(await enter(secret)).toBe('ada')
  clock.advance(1)
  expect(await enter(secret)).toBe('expired_api_key')
})

test('after ten failures an address is slowed down; other addresses and valid keys are not', async () => {
  const { secret } = await issue()
  for (let attempt = 0; attempt < 10; attempt++) expect(await enter('sk-myna-guess')).toBe('invalid_api_key')
  const refused = authenticator.authenticate({ kind: 'secret', secret: 'sk-myna-guess' }, 'here')
  await expect(refused).rejects.toMatchObject({ code: 'too_many_failed_attempts', retryAfterMs: 6000 })
  expect(await enter({ kind: 'missing' })).toBe('missing_api_key')
  expect(await enter(secret)).toBe('ada')
  expect(await enter('sk-myna-guess', 'elsewhere')).toBe('invalid_api_key')
  clock.advance(5999)
  expect(await enter('sk-myna-guess')).toBe('too_many_failed_attempts')
  clock.advance(1)
  expect(await enter('sk-myna-guess')).toBe('invalid_api_key')
  expect(await enter('sk-myna-guess')).toBe('too_many_failed_attempts')
})

test('a forward jump of the wall clock does not forgive failures', async () => {
  for (let attempt = 0; attempt < 10; attempt++) await enter('sk-myna-guess')
  clock.jump(24 * hourMs)
  expect(await enter('sk-myna-guess')).toBe('too_many_failed_attempts')
})

test('a refusal never repeats what was sent, except for its ends', async () => {
  const { secret } = await issue()
  const messageOf = async (sent: string): Promise<string> => {
    const refused: unknown = await authenticator
      .authenticate({ kind: 'secret', secret: sent }, 'here')
      .catch((error: unknown) => error)
    return refused instanceof Error ? refused.message : ''
  }
  const wrong = `${secret.slice(0, -4)}ZZZZ`
  expect(await messageOf(wrong)).toBe('Incorrect API key provided: sk-myna-****ZZZZ.')
  expect(await messageOf('short')).toBe(
    'Incorrect API key provided: ****. Keys made by this server begin with sk-myna-.',
  )
  expect(await messageOf(`evil\n\u001b[31m${'x'.repeat(30)}\u0007é`)).not.toMatch(/[^\x20-\x7e]/)
})
