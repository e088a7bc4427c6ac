/** Voices: finding, listing, changing and removing them. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { CloneAdmission, VoiceQuery } from '../service/ports.ts'
import { Auditor } from './auditor.fixture.ts'
import {
  cloneAdmission,
  clonePriceMicros,
  contents,
  newKey,
  openBooks,
  readyVoice,
  seededNumbers,
} from './books.fixture.ts'
import type { Books } from './books.fixture.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const refusal = { code: 'clip_refused', message: 'Too noisy.' }

async function stranger(books: Books): Promise<{ accountId: string; keyId: string }> {
  const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  return { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id }
}

async function processingVoice(books: Books, changes: Partial<CloneAdmission> = {}): Promise<string> {
  return (await books.ledger.admitClone(cloneAdmission(books, changes))).voiceId!
}

async function failedVoice(books: Books, changes: Partial<CloneAdmission> = {}): Promise<string> {
  const { id, voiceId } = await books.ledger.admitClone(cloneAdmission(books, changes))
  await books.ledger.failClone(id, 'failed', refusal)
  return voiceId!
}

describe('one voice', () => {
  test('is found by its exact id, whichever account owns it', async () => {
    const books = await openBooks(null)
    const id = await readyVoice(books)
    const bobs = await readyVoice(books, await stranger(books))
    expect((await books.voices.find(id))?.ownerId).toBe(books.account.id)
    expect((await books.voices.find(bobs))?.ownerId).not.toBe(books.account.id)
    for (const other of [id.toUpperCase(), `${id}%`, '', "' OR 1"]) expect(await books.voices.find(other)).toBeNull()
    const unfinished = await processingVoice(books)
    await failedVoice(books)
    expect((await books.voices.ids()).sort()).toEqual([id, bobs, unfinished].sort())
  })

  test('is found by an alias of its owner, in any case', async () => {
    const books = await openBooks(null)
    const bob = await stranger(books)
    const id = await readyVoice(books, { aliases: ['Ärger', 'nova'] })
    const bobs = await readyVoice(books, { ...bob, aliases: ['Nova'] })
    const by = async (accountId: string, alias: string) => (await books.voices.findByAlias(accountId, alias))?.id
    expect(await by(books.account.id, 'ÄRGER')).toBe(id)
    expect(await by(books.account.id, 'NOVA')).toBe(id)
    expect(await by(bob.accountId, 'nova')).toBe(bobs)
    expect(await by(bob.accountId, 'ärger')).toBeUndefined()
    expect(await by(books.account.id, 'nov')).toBeUndefined()
  })

  test('is found by its own name or a public name', async () => {
    const books = await openBooks(null)
    const bob = await stranger(books)
    const failed = await failedVoice(books, { name: 'ZOË', isPublic: true })
    const processing = await processingVoice(books, { name: 'zoë', isPublic: true })
    const ready = await readyVoice(books, { name: 'Zoë' })
    const bobs = await readyVoice(books, { ...bob, name: 'Zoë', isPublic: true })
    await readyVoice(books, { name: 'Zoë B' })
    const named = async (accountId: string | null) =>
      (await books.voices.findByName(accountId, 'zOË')).map((voice) => voice.id)
    expect(await named(books.account.id)).toEqual([ready, processing])
    expect(await named(bob.accountId)).toEqual([bobs])
    expect(await named(null)).toEqual([bobs])
    await books.voices.remove(processing, books.account.id)
    expect(await named(books.account.id)).toEqual([ready, failed])
    expect(await books.voices.findByName(null, 'Zoë B')).toEqual([])
  })
})

describe('a change', () => {
  test('sets the fields that it names and keeps the rest', async () => {
    const books = await openBooks()
    const described = { description: 'Calm.', labels: { age: 'old' }, language: 'en', aliases: ['a', 'b'] }
    const id = await readyVoice(books, described)
    const before = await books.voices.find(id)
    books.clock.advance(5)
    const updatedAtMs = books.clock.wallMs
    const update = (change: object) => books.voices.update(id, books.account.id, change)
    expect(await update({ name: 'Bea' })).toEqual({ ...before!, name: 'Bea', updatedAtMs })
    const cleared = { description: null, labels: {}, language: null, aliases: [] }
    expect(await update(cleared)).toEqual({ ...before!, ...cleared, name: 'Bea', updatedAtMs })
    const set = { description: 'x', labels: { z: '1', a: '2' }, language: 'de', aliases: ['Z', 'a'] }
    expect(await update(set)).toEqual({ ...before!, ...set, name: 'Bea', updatedAtMs })
    expect(await books.voices.find(id)).toEqual({ ...before!, ...set, name: 'Bea', updatedAtMs })
  })

  test('is found by its new values, and no longer by the old ones', async () => {
    const books = await openBooks()
    const id = await readyVoice(books, { name: 'Ada', labels: { mood: 'grim' } })
    await books.voices.update(id, books.account.id, { name: 'ÉVA', labels: { mood: 'Gay' } })
    const found = async (search: string) => (await books.voices.list(query(books, { search }))).length
    expect([await found('ada'), await found('grim'), await found('éva'), await found('gay')]).toEqual([0, 0, 1, 1])
    expect(await books.voices.findByName(books.account.id, 'éva')).toHaveLength(1)
  })

  test('is for the owner only, in any status', async () => {
    const books = await openBooks(null)
    const bob = await stranger(books)
    const ids = [await readyVoice(books, { isPublic: true }), await failedVoice(books), await processingVoice(books)]
    for (const id of ids) {
      expect(await books.voices.update(id, bob.accountId, { name: 'Bob' })).toBeNull()
      expect((await books.voices.update(id, books.account.id, { name: 'New' }))?.name).toBe('New')
    }
    expect(await books.voices.update('voice_none', books.account.id, { name: 'Bob' })).toBeNull()
  })

  test('cannot take an alias of another voice, and then changes nothing', async () => {
    const books = await openBooks()
    await readyVoice(books, { aliases: ['Nova'] })
    const id = await readyVoice(books, { aliases: ['mine', 'own'] })
    const before = await contents(books.database)
    for (const aliases of [
      ['new', 'nova'],
      ['a', 'A'],
    ]) {
      const refused = books.voices.update(id, books.account.id, { name: 'X', aliases })
      await expect(refused).rejects.toMatchObject({
        code: 'validation_error',
        param: 'aliases',
        message: expect.stringContaining(`'${aliases[1]}'`),
      })
      expect(await contents(books.database)).toEqual(before)
    }
    const kept = await books.voices.update(id, books.account.id, { aliases: ['OWN', 'third'] })
    expect(kept?.aliases).toEqual(['OWN', 'third'])
  })
})

describe('removal', () => {
  test('is for the owner only', async () => {
    const books = await openBooks(null)
    const bob = await stranger(books)
    const id = await readyVoice(books, { isPublic: true })
    expect(await books.voices.remove(id, bob.accountId)).toBeNull()
    expect(await books.voices.find(id)).not.toBeNull()
  })

  test('removes voice and aliases, leaves agents without a voice, and refunds a pending clone', async () => {
    const books = await openBooks()
    const { database, account } = books
    const { id, voiceId } = await books.ledger.admitClone(cloneAdmission(books, { aliases: ['me'] }))
    const kept = await readyVoice(books)
    for (const [agent, voice] of [
      ['agent_1', voiceId],
      ['agent_2', voiceId],
      ['agent_3', kept],
    ]) {
      await database.script(`INSERT INTO agents VALUES ('${agent}', '${account.id}', '${voice}')`)
    }
    expect(await books.voices.remove(voiceId!, account.id)).toEqual({ cancelledOperationId: id })
    expect(await database.all<unknown>('SELECT id, voice_id FROM agents ORDER BY id')).toEqual([
      { id: 'agent_1', voice_id: null },
      { id: 'agent_2', voice_id: null },
      { id: 'agent_3', voice_id: kept },
    ])
    expect(await database.all('SELECT * FROM voice_aliases')).toEqual([])
    expect(await books.voices.ids()).toEqual([kept])
    const refunded = `SELECT CAST(sum(amount_micros) AS BIGINT) AS owed, max(amount_micros) AS held
      FROM entries WHERE operation_id = $id`
    expect(await database.get<object>(refunded, { id })).toEqual({ owed: 0, held: clonePriceMicros })
    expect(await new Auditor(database).faults(account.id)).toEqual([])
  })

  test('of failed voices follows a while after they failed', async () => {
    const books = await openBooks(null)
    const first = await failedVoice(books, await stranger(books))
    await readyVoice(books)
    await processingVoice(books)
    books.clock.advance(1000)
    const second = await failedVoice(books)
    const nowMs = books.clock.wallMs
    expect(await books.voices.purgeFailed(nowMs - 1000)).toEqual([])
    expect(await books.voices.purgeFailed(nowMs)).toEqual([first])
    expect(await books.voices.purgeFailed(nowMs + 1)).toEqual([second])
    expect(await books.voices.ids()).toHaveLength(2)
  })
})

const query = (books: Books, changes: Partial<VoiceQuery> = {}): VoiceQuery => ({
  accountId: books.account.id,
  owner: 'all',
  status: null,
  category: null,
  language: null,
  search: null,
  order: 'asc',
  after: null,
  limit: 100,
  ...changes,
})

describe('a list', () => {
  let books: Books
  let bob: { accountId: string; keyId: string }
  const names = new Map<string, string>()

  beforeAll(async () => {
    books = await openBooks(null, true)
    bob = await stranger(books)
    const remember = async (name: string, made: Promise<string>) => names.set(await made, name)
    await remember(
      'ready',
      readyVoice(books, { name: '100% Zoë_1', labels: { Accent: 'Français' }, language: 'en-GB' }),
    )
    await remember('failed', failedVoice(books, { name: 'b', description: 'The ŒUVRE\nof IT' }))
    await remember('processing', processingVoice(books, { name: 'c', language: 'en', isPublic: true }))
    await remember('public', readyVoice(books, { name: 'd', isPublic: true, language: 'eng' }))
    await remember('bobs', readyVoice(books, { ...bob, name: 'e' }))
    await remember('bobs failed', failedVoice(books, { ...bob, name: 'f', isPublic: true }))
    await remember('bobs public', readyVoice(books, { ...bob, name: 'g', isPublic: true, labels: { age: 'OLD' } }))
  })

  async function listed(changes: Partial<VoiceQuery>): Promise<string[]> {
    const asked = query(books, changes)
    const voices = await books.voices.list(asked)
    if (asked.after === null && asked.limit >= 100) expect(await books.voices.count(asked)).toBe(voices.length)
    return voices.map((voice) => names.get(voice.id)!)
  }

  test('contains own voices in every status and ready public ones, and no others', async () => {
    expect(await listed({})).toEqual(['ready', 'failed', 'processing', 'public', 'bobs public'])
    expect(await listed({ owner: 'me' })).toEqual(['ready', 'failed', 'processing', 'public'])
    expect(await listed({ owner: 'public' })).toEqual(['public', 'bobs public'])
    expect(await listed({ accountId: bob.accountId })).toEqual(['public', 'bobs', 'bobs failed', 'bobs public'])
    expect(await listed({ accountId: null })).toEqual(['public', 'bobs public'])
    expect(await listed({ accountId: null, owner: 'me' })).toEqual([])
    expect(await listed({ accountId: 'acct_none', owner: 'public' })).toEqual(['public', 'bobs public'])
  })

  test('is narrowed by status, category and language', async () => {
    expect(await listed({ status: 'failed' })).toEqual(['failed'])
    expect(await listed({ status: 'ready', owner: 'me' })).toEqual(['ready', 'public'])
    expect(await listed({ category: 'premade' })).toEqual([])
    expect(await listed({ category: 'cloned' })).toHaveLength(5)
    expect(await listed({ language: 'EN' })).toEqual(['ready', 'processing'])
    expect(await listed({ language: 'en-gb' })).toEqual(['ready'])
    expect(await listed({ language: 'e' })).toEqual([])
    expect(await listed({ language: 'en', status: 'ready', search: 'zoë' })).toEqual(['ready'])
  })

  test.each([
    ['ZOË', ['ready']],
    ['zoe\u0308', ['ready']],
    ['0% z', ['ready']],
    ['%', ['ready']],
    ['ë_1', ['ready']],
    ['œuvre', ['failed']],
    ['accent', ['ready']],
    ['FRANÇAIS', ['ready']],
    ['old', ['bobs public']],
    ["'", []],
    ['zoe', []],
    ['en-gb', []],
  ])('is searched for %p in name, description, labels and id', async (search, found) => {
    expect(await listed({ search })).toEqual(found)
  })

  test('is searched by id', async () => {
    const [id] = [...names].find(([, name]) => name === 'public')!
    expect(await listed({ search: id.toUpperCase() })).toEqual(['public'])
    expect(await listed({ search: 'VOICE_' })).toHaveLength(5)
  })

  test('counts all matches, wherever the page is', async () => {
    const [, , third] = await books.voices.list(query(books))
    expect(await books.voices.count(query(books, { after: third!, limit: 1 }))).toBe(5)
  })
})

test.each(['asc', 'desc'] as const)(
  'pages (%s) hold each voice once, in order, even when many have the same time',
  async (order) => {
    const books = await openBooks(null)
    const next = seededNumbers(7)
    for (let count = 0; count < 60; count++) {
      await readyVoice(books)
      if (next() < 0.3) books.clock.advance(next() < 0.3 ? -5 : 1)
    }
    const whole = await books.voices.list(query(books, { order }))
    const place = (voice: { createdAtMs: number; id: string }) => `${voice.createdAtMs} ${voice.id}`
    const sorted = whole.map(place).sort()
    expect(whole.map(place)).toEqual(order === 'asc' ? sorted : sorted.reverse())
    expect(new Set(whole.map((voice) => voice.createdAtMs)).size).toBeLessThan(30)
    for (const limit of [1, 7, 60]) {
      const paged: string[] = []
      let after: VoiceQuery['after'] = null
      // One more than there are voices, because a repeated place must not loop forever.
      for (let pages = 0; pages <= 61; pages++) {
        const page = await books.voices.list(query(books, { order, after, limit }))
        paged.push(...page.map(place))
        after = page.at(-1) ?? null
        if (after === null) break
      }
      expect(paged).toEqual(whole.map(place))
    }
  },
)

test('a place in the order stays when its voice or others come and go', async () => {
  const books = await openBooks(null)
  const ids: string[] = []
  for (let count = 0; count < 6; count++) ids.push(await readyVoice(books))
  const [, second] = await books.voices.list(query(books, { limit: 2 }))
  for (const id of [ids[1]!, ids[3]!]) await books.voices.remove(id, books.account.id)
  const late = await readyVoice(books)
  const rest = await books.voices.list(query(books, { after: second! }))
  expect(rest.map((voice) => voice.id)).toEqual([ids[2]!, ids[4]!, ids[5]!, late])
})
