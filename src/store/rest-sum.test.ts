import { expect, test } from 'bun:test'
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBooks } from './books.fixture.ts'
import { sumDamage, writeSum } from './rest-sum.ts'
import { openSqlite } from './sqlite.ts'

/** A time that a test can set on a file again. */
const then = new Date(1_763_712_000_000)

async function closed(): Promise<string> {
  const { dataDir, database } = await openBooks()
  await database.close()
  const path = join(dataDir, 'myna.db')
  expect(existsSync(`${path}.sum`)).toBe(true)
  utimesSync(path, then, then)
  writeSum(path)
  return path
}

test('a database that was not written to is found sound', async () => {
  const path = await closed()
  expect(sumDamage(path)).toBeNull()
  const database = await openSqlite(join(path, '..'))
  await database.close()
})

test('a bit that changed without a write is detected, whatever it means', async () => {
  const path = await closed()
  const bytes = readFileSync(path)
  for (const at of [100, 5000, bytes.length - 1]) {
    const rotten = Buffer.from(bytes)
    rotten[at]! ^= 4
    writeFileSync(path, rotten)
    utimesSync(path, then, then)
    expect(sumDamage(path)).toContain('nothing wrote to it since')
    await expect(openSqlite(join(path, '..'))).rejects.toThrow(/myna\.db is damaged/)
  }
})

test('a change by another program is not reported as damage', async () => {
  const path = await closed()
  const bytes = readFileSync(path)
  bytes[100]! ^= 4
  writeFileSync(path, bytes)
  expect(sumDamage(path)).toBeNull()
})

test('without a readable sum there is nothing to compare', async () => {
  const path = await closed()
  for (const text of ['', 'x', '1 2', '1 2 3']) {
    writeFileSync(`${path}.sum`, text)
    expect(sumDamage(path)).toBeNull()
  }
})
