/**
 * The audit of a PostgreSQL database, while servers work on it or not: the rules of its records, and the files of
 * voices and consents, which are rows there, all from one moment. It connects by itself, can only read, and imports
 * nothing of the program that it checks. Pages and indexes are checked by PostgreSQL's own `pg_amcheck`.
 */
import { SQL } from 'bun'
import { type AuditReport, auditedTables, type Depth } from './audit.ts'
import { consentRule } from './consents.ts'
import { type Ask, brokenRules, type Row, type Rule, rules } from './rules.ts'

/** Whole files, from their pieces. */
const filesOf = (table: string, owner: string) => `(
  SELECT ${owner} AS owner, name, CAST(sum(length(bytes)) AS BIGINT) AS bytes, min(size_bytes) AS least,
    max(size_bytes) AS most, encode(sha256(string_agg(bytes, CAST('' AS BYTEA) ORDER BY piece)), 'hex') AS hash
  FROM ${table} GROUP BY ${owner}, name
)`

const fileRules: readonly Rule[] = [
  {
    rule: 'files of a voice',
    sql: `
      SELECT v.id, n.name FROM voices v
      CROSS JOIN (VALUES ('clip'), ('preview.wav'), ('reference.wav'), ('state')) AS n (name)
      LEFT JOIN ${filesOf('voice_files', 'voice_id')} f ON f.owner = v.id AND f.name = n.name
      WHERE v.status = 'ready' AND v.category = 'cloned' AND v.clip_hash IS NOT NULL
        AND (f.bytes IS NULL OR f.bytes = 0 OR f.bytes <> f.least OR f.bytes <> f.most)`,
    words: (row) => `the voice ${row.id} has no ${row.name}, or not all of it`,
  },
  {
    rule: 'clip of a voice',
    sql: `
      SELECT v.id FROM voices v JOIN ${filesOf('voice_files', 'voice_id')} f ON f.owner = v.id AND f.name = 'clip'
      WHERE v.status = 'ready' AND (f.hash <> v.clip_hash OR f.bytes <> v.clip_bytes)`,
    words: (row) => `the clip of the voice ${row.id} is not the one that was uploaded`,
  },
]

const recordingRule: Rule = {
  rule: 'recording of a consent',
  sql: `
    SELECT c.id FROM voice_consents c
    LEFT JOIN ${filesOf('consent_files', 'consent_id')} f ON f.owner = c.id AND f.name = 'recording'
    WHERE f.hash IS NULL OR f.hash <> c.clip_hash OR f.bytes <> c.clip_bytes`,
  words: (row) => `the recording of the consent ${row.id} is missing, or is not the one that was uploaded`,
}

/**
 * @param url postgres://… with the password, if one is needed
 * @throws Error if there are no records in the database; what the server or the network says
 */
export async function auditPostgres(url: string, depth: Depth): Promise<AuditReport> {
  const client = new SQL(url, {
    adapter: 'postgres',
    max: 1,
    bigint: true,
    connection: { application_name: 'myna audit' },
  })
  try {
    return await client.begin('isolation level repeatable read read only', async (sql) => {
      const ask: Ask = async (text) => (await sql.unsafe<Record<string, unknown>[]>(text)).map(plain)
      return audited(ask, depth)
    })
  } finally {
    await client.close()
  }
}

async function audited(ask: Ask, depth: Depth): Promise<AuditReport> {
  const found = await ask('SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()')
  const tables = new Set(found.map(({ name }) => name))
  if (!tables.has('boxes')) throw new Error('There are no records of Myna in the database.')
  const hasConsents = tables.has('voice_consents')
  const ofFiles = hasConsents ? [...fileRules, recordingRule] : fileRules
  const asked = [...rules, ...(hasConsents ? [consentRule] : []), ...(depth === 'full' ? ofFiles : [])]
  return { faults: await brokenRules(ask, asked), seen: await seenBy(ask, depth === 'full', hasConsents) }
}

/** Whole numbers come as bigints; none of them is larger than a double holds exactly. */
const plain = (row: Record<string, unknown>): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  ) as Row

async function seenBy(ask: Ask, isFull: boolean, hasConsents: boolean): Promise<AuditReport['seen']> {
  const counts = auditedTables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`)
  const countOf = (table: string) => `(SELECT count(*) FROM ${table} WHERE piece = 0)`
  const files = isFull ? [countOf('voice_files'), ...(hasConsents ? [countOf('consent_files')] : [])] : ['0']
  const [row] = await ask(`SELECT ${counts.join(', ')}, ${files.join(' + ')} AS files`)
  return row as AuditReport['seen']
}
