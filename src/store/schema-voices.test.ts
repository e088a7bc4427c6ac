/** The schema alone enforces the rules of voices, aliases and agents, whatever sends the SQL. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cloneAdmission, engine, expectRefused, newKey, openBooks, readyVoice, sha256 } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

let books: Books
/** Ids of voices; the operation of a voice has the same number. */
let ready: string
let processing: string

beforeEach(async () => {
  books = await openBooks()
  ready = await readyVoice(books, { aliases: ['me'] })
  const admitted = cloneAdmission(books)
  processing = admitted.voiceId
  await books.ledger.admitClone(admitted)
})

const operationOf = (voice: string): string => voice.replace('voice_', 'op_')

const refused = (sql: string, reason: string | RegExp) => expectRefused(books.database, sql, reason)

/** A voice that does not come from a clone, with some columns changed (given as SQL). */
function insertVoice(changes: Record<string, string> = {}): string {
  const columns: Record<string, string> = {
    id: "'v'",
    account_id: `'${books.account.id}'`,
    name: "'Ada'",
    folded_name: "'ada'",
    search_text: "'ada'",
    category: "'cloned'",
    model: "'hibari'",
    fidelity: "'full'",
    status: "'ready'",
    created_at_ms: '1',
    updated_at_ms: '1',
    ...changes,
  }
  return `INSERT INTO voices (${Object.keys(columns).join()}) VALUES (${Object.values(columns).join()})`
}

const clip = { clip_name: "'a'", clip_mime: "'m'", clip_bytes: '1', clip_ms: '1', clip_hash: `'${sha256('c')}'` }

describe('a voice', () => {
  test('the row that the refusals start from is allowed, with a clip and with labels', async () => {
    const labels = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}`.padEnd(64), 'v'.repeat(256)]))
    await books.database.script(insertVoice({ ...clip, labels: `'${JSON.stringify(labels)}'` }))
    await books.database.script(insertVoice({ id: "'w'", account_id: 'NULL', public: '1', category: "'premade'" }))
  })

  test.each([
    [{ id: "'a b'" }, 'voice_id_form'],
    [{ id: `'${'v'.repeat(129)}'` }, 'voice_id_form'],
    [{ account_id: 'NULL' }, 'nobodys_voice_is_public'],
    [{ account_id: "'acct_none'" }, 'FOREIGN KEY'],
    [{ name: "''" }, 'voice_name_length'],
    [{ folded_name: "''" }, 'folded_name_filled'],
    [{ search_text: "'bob'" }, 'search_text_filled'],
    [{ category: "'stolen'" }, 'category_known'],
    [{ fidelity: "'perfect'" }, 'fidelity_known'],
    [{ status: "'lost'" }, 'status_known'],
    [{ status: "'failed'" }, 'voice_error_when_failed'],
    [{ status: "'processing'" }, 'only a clone is processing'],
    [{ error_code: "'x'", error_message: "'y'" }, 'voice_error_when_failed'],
    [{ public: '2' }, 'public_flag'],
    [{ labels: "'[]'" }, 'labels_object'],
    [{ labels: "'{'" }, 'labels_object'],
    [{ labels: `'{"a":1}'` }, 'at most 20 labels'],
    [{ labels: `'{"${'k'.repeat(65)}":""}'` }, 'at most 20 labels'],
    [{ labels: `'{"a":"${'v'.repeat(257)}"}'` }, 'at most 20 labels'],
    [
      { labels: `'${JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, ''])))}'` },
      'at most 20',
    ],
    [{ ...clip, clip_hash: "'x'" }, 'clip_hash_hex'],
    [{ ...clip, clip_name: 'NULL' }, 'a clip is described whole'],
    [{ ...clip, clip_bytes: '0' }, 'a clip is described whole'],
    [{ clip_ms: '1' }, 'a clip is described whole'],
  ])('cannot be %o', (changes, reason) => refused(insertVoice(changes), reason))

  test('of a clone begins processing, with the pending operation that pays for it', async () => {
    const key = { key_id: `'${books.key.id}'` }
    for (const changes of [
      { status: "'ready'", ...clip, ...key },
      { status: "'processing'", ...clip, ...key },
      { status: "'processing'", ...clip },
      { status: "'processing'", ...key },
    ]) {
      const row = insertVoice({ ...changes, operation_id: "'op_none'" })
      await refused(row, 'a clone begins as a processing voice of a pending operation')
    }
    const taken = `'${operationOf(processing)}'`
    await refused(insertVoice({ ...clip, ...key, status: "'processing'", operation_id: taken }), 'UNIQUE')
  })

  test('keeps what was admitted', async () => {
    for (const column of ['account_id', 'consent', 'key_id', 'clip_hash', 'operation_id', 'model', 'fidelity']) {
      await refused(`UPDATE voices SET ${column} = NULL WHERE id = '${ready}'`, 'what was admitted never changes')
    }
    await refused(`UPDATE voices SET labels = '{"a":[]}' WHERE id = '${ready}'`, 'at most 20 labels')
  })

  test('ends once, with the ending of its clone', async () => {
    const to = (status: string, voice: string): string =>
      `UPDATE voices SET status = '${status}', error_code = ${status === 'failed' ? "'x'" : 'NULL'},
         error_message = ${status === 'failed' ? "'y'" : 'NULL'} WHERE id = '${voice}'`
    for (const status of ['ready', 'failed']) await refused(to(status, processing), 'a voice ends as its clone ended')
    for (const status of ['processing', 'failed']) await refused(to(status, ready), 'becomes ready or failed once')
    await books.ledger.failClone(operationOf(processing), 'failed', { code: 'x', message: 'y' })
    for (const status of ['processing', 'ready']) await refused(to(status, processing), 'becomes ready or failed once')
    await refused(`UPDATE voices SET error_code = 'z' WHERE id = '${processing}'`, 'becomes ready or failed once')
  })

  test('stays while its clone is pending, and cannot be replaced either', async () => {
    await refused(`DELETE FROM voices WHERE id = '${processing}'`, 'a clone is settled before its voice is removed')
    if (engine.name === 'postgres') return
    const replace = insertVoice({ id: `'${processing}'` }).replace('INSERT', 'INSERT OR REPLACE')
    await refused(replace, 'a clone is settled before its voice is removed')
  })

  test('exists when its clone completes', async () => {
    const { account, key } = books
    await books.database.script(
      `INSERT INTO operations (id, account_id, key_id, type, model, voice_id, input_chars, price_micros, charged_micros,
         key_supplied, created_at_ms)
       VALUES ('op_bare', '${account.id}', '${key.id}', 'clone', 'hibari', 'v', 0, 0, 0, 0, 1)`,
    )
    const complete = "UPDATE operations SET outcome = 'completed', settled_at_ms = 1, expires_at_ms = 1"
    await refused(`${complete} WHERE id = 'op_bare'`, 'a completed clone has its voice')
  })
})

test('is free only for a clone without a price, and stays free', async () => {
  const free = (changes: string): string => `INSERT INTO operations (id, account_id, key_id, type, model, input_chars,
    price_micros, charged_micros, key_supplied, created_at_ms, free, fingerprint)
    VALUES ('op_x', '${books.account.id}', '${books.key.id}', ${changes})`
  await refused(free(`'speech', 'hibari', 0, 0, 0, 0, 1, 1, '${sha256('x')}'`), 'free_clone_costs_nothing')
  await refused(free("'clone', 'hibari', 0, 5, 5, 0, 1, 1, NULL"), 'free_clone_costs_nothing')
  await refused(free("'clone', 'hibari', 0, 0, 0, 0, 1, 2, NULL"), 'free_clone_costs_nothing')
  const pending = `WHERE id = '${operationOf(processing)}'`
  await refused(`UPDATE operations SET free = 0 ${pending}`, 'what was admitted never changes')
})

test('an alias names one voice of its owner', async () => {
  const stranger = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  await newKey(books.accounts, stranger)
  const alias = (account: string, voice: string, name: string, folded: string): string =>
    `INSERT INTO voice_aliases (account_id, voice_id, alias, folded_alias)
     VALUES ('${account}', '${voice}', '${name}', '${folded}')`
  const { id } = books.account
  await refused(alias(id, processing, 'ME', 'me'), 'voice_aliases.folded_alias')
  await refused(alias(stranger.id, ready, 'you', 'you'), 'an alias belongs to the owner of its voice')
  await refused(alias(id, 'voice_none', 'you', 'you'), /an alias belongs to the owner of its voice|FOREIGN KEY/)
  await refused(alias(id, ready, '', ''), 'alias_length')
  await refused(alias(id, ready, 'x'.repeat(129), 'x'), 'alias_length')
  await refused(alias(id, ready, 'you', ''), 'folded_alias_filled')
  await refused("UPDATE voice_aliases SET alias = 'you'", 'an alias is set anew, not changed')
  await books.database.script(`DELETE FROM voices WHERE id = '${ready}'`)
  expect(await books.database.all('SELECT * FROM voice_aliases')).toEqual([])
})

test('an agent, however it was written, survives its voice and cannot name a missing one', async () => {
  const { database, account } = books
  await database.script(`INSERT INTO agents (id, account_id, voice_id) VALUES ('agent_1', '${account.id}', '${ready}')`)
  await database.script(`DELETE FROM voices WHERE id = '${ready}'`)
  expect(await database.all<unknown>('SELECT id, voice_id FROM agents')).toEqual([{ id: 'agent_1', voice_id: null }])
  await refused(`INSERT INTO agents VALUES ('agent_2', '${account.id}', 'none')`, 'FOREIGN KEY')
})
