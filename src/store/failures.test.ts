/**
 * What is left when a statement fails: nothing of the transaction. The n-th statement is made to fail for n = 1, 2, 3
 * and so on until the work passes without reaching it, so that every statement is covered.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Auditor } from './auditor.fixture.ts'
import { admission, cloneAdmission, contents, engine, newKey, openBooks, settlement, sha256 } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'
import { childCommand, startChild } from './children.fixture.ts'
import type { Database, Parameters, Sql } from './database.ts'
import { recordTables } from './tables.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const keyHash = sha256('a key of a client')

interface Work {
  prepare(books: Books): Promise<unknown>
  act(books: Books): Promise<unknown>
}

const admitted = (books: Books) => admission(books, { operationId: 'op_1', keyHash })

const cloned = (books: Books) =>
  cloneAdmission(books, { operationId: 'op_1', voiceId: 'voice_1', keyHash, aliases: ['me', 'Nova'] })

/** A charged clone with an alias, and an agent that uses its voice. */
async function pendingClone(books: Books): Promise<void> {
  await books.ledger.admitClone(cloned(books))
  await books.database.script(`INSERT INTO agents VALUES ('agent_1', '${books.account.id}', 'voice_1')`)
}

const heard = ({ account, key }: Books, id: string) => ({
  id,
  accountId: account.id,
  keyId: key.id,
  model: 'whisper',
})

const refusal = { code: 'clip_refused', message: 'Too noisy.' }

const works: Record<string, Work> = {
  'an admission that takes the key of an expired record': {
    prepare: async (books) => {
      const { id } = await books.ledger.admitSpeech(admission(books, { keyHash }))
      await books.ledger.settle(id, settlement('completed', 1500))
      books.clock.advance(86_400_000)
    },
    act: (books) => books.ledger.admitSpeech(admitted(books)),
  },
  'a settlement with a partial charge': {
    prepare: (books) => books.ledger.admitSpeech(admitted(books)),
    act: (books) => books.ledger.settle('op_1', settlement('stream_failed', 700)),
  },
  'a settlement that frees the key': {
    prepare: (books) => books.ledger.admitSpeech(admitted(books)),
    act: (books) => books.ledger.settle('op_1', settlement('failed', 0)),
  },
  'a recovery of three operations': {
    prepare: async (books) => {
      for (let count = 0; count < 3; count++) await books.ledger.admitSpeech(admission(books))
    },
    act: (books) => books.ledger.settleCrashed(),
  },
  'an admission of a clone that takes the key of an expired record': {
    prepare: async (books) => {
      const { id, voiceId } = await books.ledger.admitClone(cloneAdmission(books, { keyHash }))
      await books.ledger.completeClone(id)
      await books.voices.remove(voiceId!, books.account.id)
      books.clock.advance(86_400_000)
    },
    act: (books) => books.ledger.admitClone(cloned(books)),
  },
  'a clone that completes': {
    prepare: pendingClone,
    act: (books) => books.ledger.completeClone('op_1'),
  },
  'a clone that fails': {
    prepare: pendingClone,
    act: (books) => books.ledger.failClone('op_1', 'failed', refusal),
  },
  'a clone whose voice is removed': {
    prepare: pendingClone,
    act: (books) => books.voices.remove('voice_1', books.account.id),
  },
  'a clone that a crash left': {
    prepare: pendingClone,
    act: (books) => books.ledger.settleCrashed(),
  },
  'a transcription that ends': {
    prepare: (books) => books.ledger.beginTranscription(heard(books, 'req_1')),
    act: (books) => books.ledger.endTranscription('req_1', { outcome: 'completed', errorCode: null, heardMs: 9000 }),
  },
  'transcriptions that a crash left': {
    prepare: async (books) => {
      for (const id of ['req_1', 'req_2']) await books.ledger.beginTranscription(heard(books, id))
    },
    act: (books) => books.ledger.endCrashedTranscriptions(),
  },
  'a change of a voice': {
    prepare: pendingClone,
    act: (books) => books.voices.update('voice_1', books.account.id, { name: 'Bea', aliases: ['nova', 'x'] }),
  },
  'an account with an opening balance': {
    prepare: async () => undefined,
    act: (books) => books.accounts.create({ name: 'bob', role: 'user', balanceMicros: 5 }),
  },
  'a credit': {
    prepare: async () => undefined,
    act: (books) => books.accounts.credit(books.account.id, 5),
  },
  'an account that becomes unmetered': {
    prepare: async () => undefined,
    act: (books) => books.accounts.setMetering(books.account.id, null),
  },
  'an account that becomes prepaid': {
    prepare: (books) => books.accounts.setMetering(books.account.id, null),
    act: (books) => books.accounts.setMetering(books.account.id, 5),
  },
}

type Method = (sql: string, parameters?: Parameters) => Promise<unknown>
type When = 'before' | 'after'

/**
 * Makes the n-th statement from now throw, before it reached the database or after it was executed. The beginning and
 * the end of a transaction count as statements.
 */
function failNth(database: Database, n: number, when: When): { reached(): boolean; mend(): void } {
  let count = 0
  const due = (now: When): void => {
    if (now === 'before') count++
    if (count === n && now === when) throw new Error('statement failed')
  }
  const failing = (sql: Sql, inTransaction: boolean): Sql => {
    const failingOne =
      (method: Method): Method =>
      async (text, parameters) => {
        due('before')
        const result = await method(text, parameters)
        // A statement that throws after its commit has still taken effect.
        if (inTransaction) due('after')
        return result
      }
    const [get, all, run] = [sql.get, sql.all, sql.run].map((method) => failingOne((method as Method).bind(sql)))
    return { dialect: sql.dialect, get, all, run } as Sql
  }
  const transaction = database.transaction.bind(database)
  const failingTransaction = async (work: (sql: Sql) => Promise<unknown>) => {
    due('before')
    return transaction(async (sql) => {
      due('after')
      const result = await work(failing(sql, true))
      due('before')
      return result
    })
  }
  const { get, all, run } = failing(database, false)
  for (const [name, value] of Object.entries({ get, all, run, transaction: failingTransaction })) {
    Object.defineProperty(database, name, { value, configurable: true })
  }
  const mend = () => ['get', 'all', 'run', 'transaction'].forEach((name) => Reflect.deleteProperty(database, name))
  return { reached: () => count >= n, mend }
}

/** Every such write of the table fails from now on, with these two as the message. @returns how to restore it */
async function refuseWrites(database: Database, event: string, table: string): Promise<() => Promise<void>> {
  const name = `refuse_${event}_${table}`
  const message = `${event} ${table}`
  if (engine.name === 'sqlite') {
    const body = `BEGIN SELECT RAISE(ABORT, '${message}'); END`
    await database.script(`CREATE TEMP TRIGGER ${name} AFTER ${event} ON main.${table} ${body}`)
    return () => database.script(`DROP TRIGGER ${name}`)
  }
  const action = `FOR EACH ROW EXECUTE FUNCTION myna_refuse('${message}')`
  await database.script(`CREATE TRIGGER ${name} AFTER ${event} ON ${table} ${action}`)
  return () => database.script(`DROP TRIGGER ${name} ON ${table}`)
}

// Each failure must leave the database as it was, so the next one starts from the same.
describe.each(Object.keys(works))('%s', (name) => {
  const { prepare, act } = works[name]!

  const prepared = async () => {
    const books = await openBooks()
    await prepare(books)
    return { books, before: await contents(books.database) }
  }

  const expectDone = async ({ books, before }: Awaited<ReturnType<typeof prepared>>) => {
    expect(await contents(books.database)).not.toEqual(before)
    expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
    await books.database.close()
  }

  test.each(['before', 'after'] as const)('leaves nothing behind when it fails %s any statement', async (when) => {
    let failures = 0
    let state = await prepared()
    for (let n = 1; ; n++) {
      const { books, before } = state
      const fault = failNth(books.database, n, when)
      const error = await act(books).catch((error: unknown) => error)
      fault.mend()
      if (error instanceof Error && error.message === 'statement failed') {
        failures++
        expect(await contents(books.database)).toEqual(before)
        expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
        continue
      }
      await expectDone(state)
      if (!fault.reached()) break
      state = await prepared()
    }
    expect(failures).toBeGreaterThanOrEqual(4)
  })

  test('leaves nothing behind when the database itself refuses a write', async () => {
    const state = await prepared()
    const { books, before } = state
    const restore = new Map<string, () => Promise<void>>()
    for (const table of recordTables) {
      for (const event of ['INSERT', 'UPDATE', 'DELETE']) {
        restore.set(`${event} ${table}`, await refuseWrites(books.database, event, table))
      }
    }
    let failures = 0
    for (;;) {
      const error = await act(books).catch((error: unknown) => error)
      const message = error instanceof Error ? error.message : ''
      const allow = restore.get(message)
      if (allow === undefined) break
      failures++
      expect(await contents(books.database)).toEqual(before)
      await allow()
      restore.delete(message)
    }
    // The database on PostgreSQL is lent to another test afterwards.
    for (const allow of restore.values()) await allow()
    await expectDone(state)
    expect(failures).toBeGreaterThanOrEqual(2)
  })
})

// The limit applies to SQLite's file.
describe.skipIf(engine.name === 'postgres')('a full disk', () => {
  const limitPages = (books: Books, pages: number): Promise<void> =>
    books.database.script(`PRAGMA max_page_count = ${pages}`)

  test('refuses admissions as storage_full, keeps the database sound and recovers', async () => {
    const books = await openBooks(null)
    const { pages } = (await books.database.get<{ pages: number }>(
      'SELECT page_count AS pages FROM pragma_page_count',
    ))!
    await limitPages(books, pages + 4)
    let before = await contents(books.database)
    let error: unknown
    for (let count = 0; error === undefined && count < 1000; count++) {
      before = await contents(books.database)
      await books.ledger.admitSpeech(admission(books, { keyHash: sha256(`${count}`) })).catch((e) => (error = e))
    }
    expect(error).toMatchObject({ code: 'storage_full', cause: { code: 'SQLITE_FULL' } })
    expect(await contents(books.database)).toEqual(before)
    expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])

    await limitPages(books, 100_000)
    await books.ledger.admitSpeech(admission(books))
    expect(await books.ledger.settleCrashed()).toBe(before.operations!.length + 1)
    expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
  })

  test('keeps a settlement pending until it can be written', async () => {
    const books = await openBooks(null)
    const ids: string[] = []
    for (let count = 0; count < 200; count++) ids.push((await books.ledger.admitSpeech(admission(books))).id)
    await limitPages(books, 1)
    const refused: string[] = []
    for (const id of ids) {
      await books.ledger.settle(id, settlement('completed', 1500)).catch((error) => {
        expect(error).toMatchObject({ code: 'storage_full' })
        refused.push(id)
      })
    }
    expect(refused.length).toBeGreaterThan(0)
    expect(await books.ledger.pendingCount()).toBe(refused.length)
    expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
    await limitPages(books, 100_000)
    for (const id of refused) expect(await books.ledger.settle(id, settlement('completed', 1500))).toBe(true)
    expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
  })

  test('delays no settlement of what another has settled: there is nothing left to write', async () => {
    const books = await openBooks()
    const { id, voiceId } = await books.ledger.admitClone(cloneAdmission(books))
    const written = () => books.ledger.completeClone(id)
    await books.database.script('PRAGMA query_only = ON')
    await expect(written()).rejects.toMatchObject({ code: 'storage_full' })
    await books.database.script('PRAGMA query_only = OFF')
    await books.voices.remove(voiceId!, books.account.id)
    await books.database.script('PRAGMA query_only = ON')
    expect(await written()).toBe(false)
    expect(await books.ledger.failClone(id, 'failed', { code: 'by_chance', message: 'By chance.' })).toBe(false)
    expect(await books.ledger.settle(id, settlement('cancelled', 0))).toBe(false)
  })

  test('is survived when the operating system refuses to write', async () => {
    const books = await openBooks(null)
    const command = childCommand('fill', books.dataDir).map((word) => `'${word}'`)
    // In KiB: more than the database has, less than it needs. When the signal is ignored, write() fails with an error.
    const child = startChild(['sh', '-c', `trap '' XFSZ; ulimit -f 1200; exec ${command.join(' ')}`])
    expect(await child.line()).toBe('ready')
    expect(await child.line()).toMatch(/^storage_full SQLITE_(IOERR_WRITE|FULL) [1-9]/)
    await child.process.exited
    const integrity = await books.database.all<unknown>('PRAGMA integrity_check')
    expect(integrity).toEqual([{ integrity_check: 'ok' }])
    expect(await new Auditor(books.database).faults(books.account.id)).toEqual([])
    await books.ledger.admitSpeech(admission(books))
  })
})

test('may lose the use of a key, but never fails a request', async () => {
  const books = await openBooks()
  const idle = await newKey(books.accounts, books.account)
  const mend = await refuseWrites(books.database, 'UPDATE', 'keys')
  books.accounts.touchKey(idle.id)
  await books.accounts.close()
  await mend()
  await books.accounts.close()
  const keys = await books.database.get<{ last_used_at_ms: number }>('SELECT * FROM keys WHERE id = $id', {
    id: idle.id,
  })
  expect(keys?.last_used_at_ms).toBe(books.clock.wallMs)
})
