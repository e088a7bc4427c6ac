/**
 * Databases on the PostgreSQL server of the tests. Creating one takes longer than most tests, so a few are emptied and
 * reused.
 */
import { onTestFinished } from 'bun:test'
import { testPostgres } from '../testing/postgres.ts'
import type { Database } from './database.ts'
import { openPostgres, type PostgresDatabase } from './postgres/postgres.ts'

const free: string[] = []
let template: Promise<string> | undefined

async function makeTemplate(): Promise<string> {
  const server = await testPostgres()
  const name = await server.create()
  const database = await openPostgres(server.urlOf(name))
  await database.close()
  return name
}

/** Triggers forbid most of it, so they are switched off for the moment. */
const emptied = `
  SET session_replication_role = replica;
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations' LOOP
      EXECUTE format('DELETE FROM %I', name);
    END LOOP;
    FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
      EXECUTE format('ALTER SEQUENCE %I RESTART', name);
    END LOOP;
  END $$;
  SET session_replication_role = DEFAULT`

/**
 * An empty database with our schema.
 * @param lasting used by several tests; otherwise it is closed when the test that asks for it ends
 */
export async function lendPostgres(lasting: boolean): Promise<{ url: string; open: () => Promise<Database> }> {
  const server = await testPostgres()
  const name = free.pop() ?? (await server.create(await (template ??= makeTemplate())))
  const url = server.urlOf(name)
  let users = 0
  let isUsed = false
  const open = async (): Promise<Database> => {
    users++
    const database = await openPostgres(url, { connections: 4 })
    if (!isUsed) await database.script(emptied)
    isUsed = true
    return returning(database, lasting, () => {
      if (--users === 0) free.push(name)
    })
  }
  return { url, open }
}

function returning(database: PostgresDatabase, lasting: boolean, onClosed: () => void): PostgresDatabase {
  const close = database.close.bind(database)
  let closing: Promise<void> | undefined
  database.close = () => (closing ??= close().then(onClosed))
  if (!lasting) onTestFinished(() => database.close())
  return database
}
