import { afterEach, expect, test } from 'bun:test'
import { idleSessionMs, Sessions } from '../http/console/sessions.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { Seeded } from '../testing/seeded.ts'
import type { Database } from './database.ts'
import { SqlSessions } from './sessions.ts'
import { openSqlite } from './sqlite.ts'

const hourMs = 3_600_000
const random = new Seeded(11).fill
let database: Database

afterEach(() => database.close())

async function sessions(folder = temporaryFolder(), clock = new ManualClock()) {
  database = await openSqlite(folder)
  return { clock, folder, open: new Sessions(new SqlSessions(database, clock, idleSessionMs), random) }
}

test('a session names its key until it is closed', async () => {
  const { open } = await sessions()
  const [first, second] = [await open.open('hash 1'), await open.open('hash 2')]
  expect(first).not.toBe(second)
  expect(Buffer.from(first, 'base64url')).toHaveLength(32)
  expect([await open.use(first), await open.use(second)]).toEqual(['hash 1', 'hash 2'])
  await open.close(first)
  expect([await open.use(first), await open.use(second), await open.use('made up')]).toEqual([null, 'hash 2', null])
})

test('use renews a session, idleness ends it', async () => {
  const { clock, open } = await sessions()
  const token = await open.open('hash')
  clock.advance(11 * hourMs)
  expect(await open.use(token)).toBe('hash')
  clock.advance(11 * hourMs)
  expect(await open.use(token)).toBe('hash')
  clock.advance(12 * hourMs)
  expect([await open.use(token), await open.use(token)]).toEqual([null, null])
})

test('too many sessions push out the one that was idle longest', async () => {
  const { clock, open } = await sessions()
  const [kept, dropped] = [await open.open('kept'), await open.open('dropped')]
  clock.advance(60_000)
  for (let more = 2; more < 1000; more++) await open.open('more')
  clock.advance(60_000)
  expect(await open.use(kept)).toBe('kept')
  await open.open('one too many')
  expect([await open.use(kept), await open.use(dropped)]).toEqual(['kept', null])
})

test('a session outlives the server; the database has neither its token nor its key', async () => {
  const { clock, folder, open } = await sessions()
  const token = await open.open('hash')
  expect(JSON.stringify(await database.all('SELECT * FROM sessions'))).not.toContain(token)
  await database.close()
  clock.advance(hourMs)
  const again = await sessions(folder, clock)
  expect(await again.open.use(token)).toBe('hash')
})
