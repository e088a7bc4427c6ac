/**
 * A shared database is backed up and restored by PostgreSQL's own tools: the restored database is complete, and works.
 */
import { describe, expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { auditPostgres } from '../audit/postgres.ts'
import { contents } from '../store/books.fixture.ts'
import { openPostgres } from '../store/postgres/postgres.ts'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { hum, startInstance } from '../testing/instance.ts'
import { noPostgres, testPostgres } from '../testing/postgres.ts'

setDefaultTimeout(120_000)

/** @throws Error with the program's output */
async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stderr: 'pipe' })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(said)
}

async function emptyDatabase(): Promise<string> {
  const server = await testPostgres()
  return server.urlOf(await server.create())
}

const tablesOf = async (url: string): Promise<Record<string, unknown[]>> => {
  const database = await openPostgres(url, { connections: 1 })
  onTestFinished(() => database.close())
  const files = await database.all('SELECT voice_id, name, piece, bytes FROM voice_files ORDER BY 1, 2, 3')
  const recordings = await database.all('SELECT consent_id, piece, bytes FROM consent_files ORDER BY 1, 2')
  return { ...(await contents(database)), files, recordings }
}

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('a shared database', () => {
  test('is restored from pg_dump and pg_restore with every row and file, and a server continues with it', async () => {
    const [from, to] = [await emptyDatabase(), await emptyDatabase()]
    const file = join(temporaryFolder(), 'myna.dump')
    const form = new FormData()
    for (const [name, value] of Object.entries({ name: 'A', language: 'en', recording: hum(4) }))
      form.append(name, value)
    let key = ''
    let voiceId = ''
    {
      await using instance = await startInstance({ database: from })
      key = await instance.key({ prepaidMicros: 1_000_000 })
      await (await instance.speak(key)).arrayBuffer()
      voiceId = (await instance.cloned(key, { name: 'Ada' })).voice_id
      await instance.fetch('/v1/audio/voice_consents', { method: 'POST', key, body: form })
      // The server is running.
      await run('pg_dump', '--format=custom', `--file=${file}`, from)
    }
    await run('pg_restore', `--dbname=${to}`, '--exit-on-error', file)
    const { faults, seen } = await auditPostgres(to, 'full')
    expect(faults).toEqual([])
    expect(seen).toMatchObject({ voices: 1, files: 5 })
    const [before, after] = [await tablesOf(from), await tablesOf(to)]
    const sorted = (rows: unknown[]) => rows.map((row) => Bun.inspect(row)).sort()
    for (const name of ['operations', 'entries', 'voices', 'voice_consents', 'files', 'recordings'] as const) {
      expect([name, sorted(after[name] ?? [])]).toEqual([name, sorted(before[name] ?? [])])
    }
    await using restored = await startInstance({ database: to })
    const spoken = await restored.speak(key, { voice: voiceId })
    expect([spoken.status, (await spoken.arrayBuffer()).byteLength > 0]).toEqual([200, true])
  })

  test.each<[string, string]>([
    ['backup', 'pg_dump --format=custom'],
    ['restore', 'pg_restore --dbname=ADDRESS'],
  ])('myna %s names the tool', async (command, tool) => {
    const env = { MYNA_DATABASE: 'postgres://myna@127.0.0.1:1/myna' }
    const refused = await runCommand([command, 'x.tar', '--data', temporaryFolder()], { env })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(tool)])
  })
})
