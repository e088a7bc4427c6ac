/** What the tests of cloning inspect: refusals, records, and everything that a clone could leave behind. */
import { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Instance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

interface Refusal {
  error: Record<string, unknown> & { code: string }
}

export const refusalOf = async (response: Response) => ({
  status: response.status,
  id: (response.headers.get('x-request-id') ?? '').split('_')[0],
  ...((await response.json()) as Refusal).error,
})

export async function jsonOf(instance: Instance, path: string, key: string): Promise<Record<string, never>> {
  return (await (await instance.fetch(path, { key })).json()) as Record<string, never>
}

/** Everything that a clone could leave behind once none is running: database rows, folders on disk. */
export async function traces({ dataDir, server }: Instance): Promise<Record<string, number>> {
  await until('nothing is pending', async () => (await server.status()).pendingOperations === 0)
  const database = new Database(join(dataDir, 'myna.db'), { readonly: true })
  const count = (table: string) =>
    database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1
  const tables = ['operations', 'voices', 'voice_aliases', 'entries', 'usage'].map((table) => [table, count(table)])
  database.close()
  const inside = (folder: string) => (existsSync(folder) ? readdirSync(folder).length : 0)
  const files = { folders: inside(join(dataDir, 'voices')), uploads: inside(join(dataDir, 'uploads')) }
  return { ...Object.fromEntries(tables), ...files }
}
