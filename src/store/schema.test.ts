/** The schema alone enforces the rules: SQL that would break one is refused, whatever sends it. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { admission, engine, expectRefused, openBooks, openingMicros, settlement, sha256 } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'

let books: Books
let pending: string
let completed: string

beforeAll(async () => {
  books = await openBooks(openingMicros, true)
  pending = (await books.ledger.admitSpeech(admission(books, { keyHash: sha256('held') }))).id
  completed = (await books.ledger.admitSpeech(admission(books))).id
  await books.ledger.settle(completed, settlement('completed', 1500))
})

/** Runs it as one statement and checks that it was refused for that reason and changed nothing. */
const refused = (sql: string, reason: string | RegExp) => expectRefused(books.database, sql, reason)

/** An allowed row of `operations`, with some columns changed (given as SQL). */
function insertOperation(changes: Record<string, string>): string {
  const columns: Record<string, string> = {
    id: "'op_new'",
    account_id: `'${books.account.id}'`,
    key_id: `'${books.key.id}'`,
    type: "'speech'",
    model: "'hibari'",
    input_chars: '10',
    price_micros: '150',
    charged_micros: '150',
    key_supplied: '0',
    fingerprint: `'${sha256('x')}'`,
    created_at_ms: '1',
    ...changes,
  }
  return `INSERT INTO operations (${Object.keys(columns).join()}) VALUES (${Object.values(columns).join()})`
}

function settle(changes: string): string {
  const columns: Record<string, string> = {
    outcome: "'stream_failed'",
    charged_micros: '1',
    settled_at_ms: '1',
    expires_at_ms: '1',
  }
  for (const [, name, value] of changes.matchAll(/(\w+) = ('[^']*'|[^,]+)/g)) columns[name!] = value!
  const assigned = Object.entries(columns).map(([name, value]) => `${name} = ${value}`)
  return `UPDATE operations SET ${assigned.join(', ')} WHERE id = '${pending}'`
}

describe('operations', () => {
  test('the row that the refusals start from is allowed', async () => {
    const allowed = books.database.transaction(async (sql) => {
      expect(await sql.run(insertOperation({}))).toBe(1)
      expect(await sql.run(settle("error_code = 'x', error_message = 'y'"))).toBe(1)
      throw new Error('taken back')
    })
    await expect(allowed).rejects.toThrow('taken back')
  })

  test.each([
    [{ id: "'req_1'" }, 'id_prefix'],
    [{ id: 'NULL' }, 'NOT NULL'],
    [{ account_id: "'acct_none'" }, 'FOREIGN KEY'],
    [{ key_id: "'key_none'" }, 'FOREIGN KEY'],
    [{ type: "'song'" }, 'type_known'],
    [{ input_chars: '-1' }, 'input_not_negative'],
    [{ input_chars: "'many'" }, 'cannot store TEXT value in INTEGER column'],
    [{ price_micros: '-1', charged_micros: '-1' }, 'price_not_negative'],
    [{ charged_micros: '149' }, 'pending_holds_price'],
    [{ charged_micros: '151' }, 'charge_within_price'],
    [{ key_supplied: '2' }, 'key_supplied_flag'],
    [{ key_supplied: '1' }, 'key_held_while_it_counts'],
    [{ idempotency_hash: `'${sha256('k')}'` }, 'key_held_while_it_counts'],
    [{ key_supplied: '1', idempotency_hash: "'short'" }, 'idempotency_hex'],
    [{ fingerprint: `'${'G'.repeat(64)}'` }, 'fingerprint_hex'],
    [{ fingerprint: 'NULL' }, 'clone_body_not_compared'],
    [{ type: "'clone'" }, 'clone_body_not_compared'],
    [{ settled_at_ms: '1' }, 'terminal_when_settled'],
    [{ expires_at_ms: '1' }, 'expiry_when_settled'],
    [{ completion_bytes: '2' }, 'bytes_of_completed_speech'],
    [{ error_code: "'x'", error_message: "'y'" }, 'error_of_failures'],
    [{ first_audio_at_ms: '1' }, 'audio_after_start'],
    [{ outcome: "'completed'" }, 'an operation begins pending'],
  ])('cannot begin with %o', (changes, reason) => refused(insertOperation(changes), reason))

  test.each([
    ["outcome = 'done'", 'outcome_known'],
    ["outcome = 'completed', completion_bytes = 2", 'completed_costs_price'],
    ["outcome = 'completed', charged_micros = 1500", 'bytes_of_completed_speech'],
    ["outcome = 'completed', charged_micros = 1500, completion_bytes = -1", 'bytes_not_negative'],
    ["outcome = 'failed'", 'failure_costs_nothing'],
    ["outcome = 'not_accepted'", 'failure_costs_nothing'],
    ['charged_micros = 1501', 'charge_within_price'],
    ['charged_micros = -1', 'charge_within_price'],
    ['charged_micros = 0', 'key_held_while_it_counts'],
    ['idempotency_hash = NULL', 'key_held_while_it_counts'],
    ['completion_bytes = 2', 'bytes_of_completed_speech'],
    ['settled_at_ms = NULL', 'terminal_when_settled'],
    ['expires_at_ms = NULL', 'expiry_when_settled'],
    ["error_code = 'x'", 'error_whole'],
    ['price_micros = 1', 'what was admitted never changes'],
    ["account_id = 'acct_2'", 'what was admitted never changes'],
    [`idempotency_hash = '${sha256('other')}'`, 'an idempotency key is only ever released'],
  ])('cannot end with %s', (changes, reason) => refused(settle(changes), reason))

  test('is terminal forever', async () => {
    await refused(
      `UPDATE operations SET outcome = NULL WHERE id = '${completed}'`,
      'a terminal operation never changes',
    )
    await refused(
      `UPDATE operations SET error_code = 'x' WHERE id = '${completed}'`,
      'a terminal operation never changes',
    )
    await refused(
      `UPDATE operations SET charged_micros = 0 WHERE id = '${completed}'`,
      'a terminal operation never changes',
    )
  })

  test('is not removed while pending, not even by replacing it', async () => {
    await refused(`DELETE FROM operations WHERE id = '${pending}'`, 'a pending operation is never removed')
    if (engine.name === 'postgres') return
    const replace = insertOperation({ id: `'${pending}'` }).replace('INSERT', 'INSERT OR REPLACE')
    await refused(replace, 'a pending operation is never removed')
  })

  test('starts once', async () => {
    const again = books.database.transaction(async (sql) => {
      await sql.run(`UPDATE operations SET started_at_ms = 1 WHERE id = '${pending}'`)
      await sql.run('UPDATE operations SET started_at_ms = 2 WHERE outcome IS NULL')
    })
    await expect(again).rejects.toThrow('once')
  })

  test('is the only one to hold its key', async () => {
    const hash = `'${sha256('held')}'`
    await refused(insertOperation({ key_supplied: '1', idempotency_hash: hash }), 'operations.idempotency_hash')
  })
})

describe('entries and usage', () => {
  const entry = (operation: string, kind: string, amount: number): string =>
    `INSERT INTO entries (account_id, operation_id, kind, amount_micros, created_at_ms)
     VALUES ('${books.account.id}', ${operation}, '${kind}', ${amount}, 1)`

  test('are append-only', async () => {
    for (const table of ['entries', 'usage']) {
      await refused(
        `UPDATE ${table} SET account_id = account_id`,
        `${table} ${table === 'usage' ? 'is' : 'are'} append-only`,
      )
      await refused(`DELETE FROM ${table}`, 'append-only')
      if (engine.name === 'postgres') continue
      await refused(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table}`, 'append-only')
    }
  })

  test('have the sign of their kind, and an operation unless they are credits', async () => {
    await refused(entry("'op_9'", 'hold', -1), 'entry_sign')
    await refused(entry("'op_9'", 'hold', 0), 'entry_sign')
    await refused(entry("'op_9'", 'refund', 1), 'entry_sign')
    await refused(entry('NULL', 'credit', 1), 'entry_sign')
    await refused(entry("'op_9'", 'gift', -1), 'entry_sign')
    await refused(entry('NULL', 'hold', 1), 'credit_without_operation')
    await refused(entry("'op_9'", 'credit', -1), 'credit_without_operation')
    await refused(entry('NULL', 'unmetered', -1), 'entry_sign')
    await refused(entry("'op_9'", 'unmetered', 1), 'credit_without_operation')
    await refused(entry("'op_9'", 'prepaid', -1), 'credit_without_operation')
  })

  test('happen once for an operation', async () => {
    await refused(entry(`'${completed}'`, 'hold', 1), 'entries.operation_id')
    await refused(
      `INSERT INTO usage SELECT 99, account_id, key_id, operation_id, type, model, 1, 1, 1, 1, 0, 1, NULL, NULL, NULL
       FROM usage`,
      'usage.operation_id',
    )
  })

  test('usage counts nothing negative, and only clones are free', async () => {
    const row = (type: string, operation: string, numbers: string): string =>
      `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
         refunded_micros, free, settled_at_ms)
       VALUES ('${books.account.id}', '${books.key.id}', ${operation}, '${type}', 'hibari', ${numbers}, 1)`
    await refused(row('speech', "'op_9'", '-1, 0, 0, 0, 0'), 'characters_not_negative')
    await refused(row('speech', "'op_9'", '0, -1, 0, 0, 0'), 'audio_not_negative')
    await refused(row('speech', "'op_9'", '0, 0, -1, 0, 0'), 'usage_charge_not_negative')
    await refused(row('speech', "'op_9'", '0, 0, 0, -1, 0'), 'refund_not_negative')
    await refused(row('speech', "'op_9'", '0, 0, 0, 0, 1'), 'free_only_clones')
    await refused(row('speech', 'NULL', '0, 0, 0, 0, 0'), 'usage_of_operation')
    await refused(row('transcription', "'op_9'", '0, 0, 0, 0, 0'), 'only a transcription that was begun')
    await refused(row('song', "'op_9'", '0, 0, 0, 0, 0'), 'usage_type_known')
  })
})

describe('accounts and keys', () => {
  test('a balance is never negative, nor beyond exact numbers', async () => {
    await refused('UPDATE accounts SET balance_micros = -1', 'balance_range')
    await refused('UPDATE accounts SET balance_micros = 9007199254740992', 'balance_range')
  })

  test('roles, names, hashes and scopes have valid forms', async () => {
    await refused("UPDATE accounts SET role = 'root'", 'role_known')
    await refused("UPDATE accounts SET name = ''", 'name_length')
    await refused("UPDATE keys SET hash = 'secret'", 'hash_hex')
    await refused(`UPDATE keys SET hash = '${'A'.repeat(64)}'`, 'hash_hex')
    for (const scopes of ['tts', '["all"]', '["voices","tts"]', '["tts","tts"]', '{}']) {
      await refused(`UPDATE keys SET scopes = '${scopes}'`, 'scopes_known')
    }
  })

  test('an account with a history stays', async () => {
    await refused('DELETE FROM keys', 'FOREIGN KEY')
    await refused('DELETE FROM accounts', 'FOREIGN KEY')
  })
})
