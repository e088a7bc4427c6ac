/**
 * The tests of the store once more, on PostgreSQL: the same files, the same assertions.
 */
import { afterAll, describe, setDefaultTimeout, test } from 'bun:test'
import { noPostgres } from '../testing/postgres.ts'
import { engine } from './books.fixture.ts'

setDefaultTimeout(60_000)

const files = [
  'accounts',
  'consents',
  'failures',
  'known-callers',
  'ledger/ledger',
  'ledger/admit',
  'ledger/clone',
  'ledger/remake',
  'recent',
  'schema',
  'schema-voices',
  'simulation',
  'transcriptions',
  'usage',
  'voices',
]

if (noPostgres === null) {
  engine.name = 'postgres'
  afterAll(() => void (engine.name = 'sqlite'))
  // A group for each, so that a file's preparations for its tests run for its own tests only.
  for (const file of files) describe(file, async () => void (await import(`./${file}.test.ts?postgres`)))
} else {
  // Skipped only where the package is missing; the name gives the reason.
  test.skip(`the store on PostgreSQL: ${noPostgres}`, () => {})
}
