/**
 * The rules that a database of Myna keeps at every moment, as questions to its tables: each asks for the rows that
 * break it. They are written from the rules of the service (what is charged, what is held, what is counted) and share
 * no code with what they check. The SQL is what both SQLite and PostgreSQL understand; every column is a text or a
 * whole number.
 */
export type Row = Readonly<Record<string, string | number | null>>

/** @param sql one SELECT @returns its rows */
export type Ask = (sql: string) => Promise<Row[]>

export interface Fault {
  rule: string
  /** The violation, in words. */
  words: string
}

export interface Rule {
  rule: string
  /** Finds the rows that break the rule. */
  sql: string
  words: (row: Row) => string
}

/** The sum of each operation's entries. */
const booked = `(
  SELECT operation_id, account_id, CAST(sum(amount_micros) AS BIGINT) AS micros FROM entries
  WHERE operation_id IS NOT NULL GROUP BY operation_id, account_id
)`

const money: readonly Rule[] = [
  {
    rule: 'balance',
    sql: `
      SELECT a.name, a.balance_micros, coalesce(e.micros, 0) AS owed FROM accounts a
      LEFT JOIN (
        SELECT account_id, CAST(sum(amount_micros) AS BIGINT) AS micros FROM entries GROUP BY account_id
      ) e ON e.account_id = a.id
      WHERE a.balance_micros IS NOT NULL AND (a.balance_micros + coalesce(e.micros, 0) <> 0 OR a.balance_micros < 0)`,
    words: (row) => `the account '${row.name}' has ${row.balance_micros} micros, and its entries sum to ${row.owed}`,
  },
  {
    rule: 'metering',
    // The last of these entries says what the account is; what it was before that, they do not.
    sql: `
      SELECT a.name, e.kind FROM accounts a JOIN entries e ON e.account_id = a.id
      WHERE e.id = (SELECT max(id) FROM entries m WHERE m.account_id = a.id AND m.kind IN ('prepaid', 'unmetered'))
        AND (e.kind = 'prepaid') <> (a.balance_micros IS NOT NULL)`,
    words: (row) => `the account '${row.name}' was made ${row.kind} last, and is not`,
  },
  {
    rule: 'change of metering',
    // Afterwards an unmetered account owes nothing, and a prepaid one has a balance of zero or more.
    sql: `
      SELECT e.id, e.kind, CAST(sum(b.amount_micros) AS BIGINT) AS owed FROM entries e
      JOIN entries b ON b.account_id = e.account_id AND b.id <= e.id
      WHERE e.kind IN ('prepaid', 'unmetered') GROUP BY e.id, e.kind
      HAVING (e.kind = 'unmetered' AND sum(b.amount_micros) <> 0) OR (e.kind = 'prepaid' AND sum(b.amount_micros) > 0)`,
    words: (row) => `after the entry ${row.id} (${row.kind}) the entries of its account sum to ${row.owed}`,
  },
  {
    rule: 'metering in turns',
    sql: `
      SELECT e.id, e.kind FROM entries e
      JOIN entries b ON b.id = (
        SELECT max(id) FROM entries m
        WHERE m.account_id = e.account_id AND m.id < e.id AND m.kind IN ('prepaid', 'unmetered')
      )
      WHERE (e.kind IN ('prepaid', 'unmetered') AND e.kind = b.kind) OR (e.kind = 'credit' AND b.kind = 'unmetered')`,
    words: (row) => `the entry ${row.id} (${row.kind}) does not fit what its account was before`,
  },
  {
    rule: 'charge',
    sql: `
      SELECT o.id, o.charged_micros, coalesce(e.micros, 0) AS micros FROM operations o
      LEFT JOIN ${booked} e ON e.operation_id = o.id AND e.account_id = o.account_id
      WHERE coalesce(e.micros, 0) <> o.charged_micros`,
    words: (row) => `${row.id} is charged ${row.charged_micros}, and its entries sum to ${row.micros}`,
  },
  {
    rule: 'price',
    sql: `
      SELECT id, outcome, charged_micros, price_micros FROM operations
      WHERE charged_micros < 0 OR charged_micros > price_micros
        OR ((outcome IS NULL OR outcome = 'completed') AND charged_micros <> price_micros)
        OR (outcome IN ('failed', 'not_accepted') AND charged_micros <> 0)
        OR (type = 'clone' AND outcome IN ('stream_failed', 'cancelled') AND charged_micros <> 0)
        OR (free = 1 AND price_micros <> 0)`,
    words: (row) => `${row.id} (${row.outcome ?? 'pending'}) is charged ${row.charged_micros} of ${row.price_micros}`,
  },
  {
    rule: 'entries of one account',
    sql: `
      SELECT operation_id FROM entries WHERE operation_id IS NOT NULL
      GROUP BY operation_id HAVING count(DISTINCT account_id) > 1 OR count(*) > 2 OR count(*) <> count(DISTINCT kind)`,
    words: (row) => `${row.operation_id} has entries twice, or of two accounts`,
  },
]

const usage: readonly Rule[] = [
  {
    rule: 'counted once',
    sql: `
      SELECT o.id, o.outcome, o.charged_micros, count(u.operation_id) AS times FROM operations o
      LEFT JOIN usage u ON u.operation_id = o.id
      GROUP BY o.id, o.outcome, o.type, o.charged_micros, o.price_micros
      HAVING count(u.operation_id) <> CASE
        WHEN o.outcome = 'completed' THEN 1
        WHEN o.outcome IS NOT NULL AND (o.charged_micros > 0 OR (o.type = 'clone' AND o.price_micros > 0)) THEN 1
        ELSE 0 END`,
    words: (row) =>
      `${row.id} (${row.outcome ?? 'pending'}, ${row.charged_micros} micros) is counted ${row.times} times`,
  },
  {
    rule: 'counted as charged',
    sql: `
      SELECT o.id, o.charged_micros, u.charged_micros AS counted, u.refunded_micros FROM usage u
      JOIN operations o ON o.id = u.operation_id
      WHERE u.charged_micros <> o.charged_micros OR u.refunded_micros <> o.price_micros - o.charged_micros
        OR u.account_id <> o.account_id OR u.key_id <> o.key_id OR u.type <> o.type OR u.model <> o.model
        OR u.free <> o.free`,
    words: (row) => `${row.id} is charged ${row.charged_micros}, and counted otherwise (${row.counted})`,
  },
  {
    rule: 'counted as booked',
    sql: `
      SELECT u.operation_id, u.charged_micros, coalesce(e.micros, 0) AS micros FROM usage u
      LEFT JOIN ${booked} e ON e.operation_id = u.operation_id AND e.account_id = u.account_id
      WHERE u.operation_id IS NOT NULL AND u.charged_micros <> coalesce(e.micros, 0)`,
    words: (row) => `${row.operation_id} is counted at ${row.charged_micros}, and its entries sum to ${row.micros}`,
  },
  {
    rule: 'booked is counted',
    sql: `
      SELECT e.operation_id, e.micros FROM ${booked} e
      LEFT JOIN operations o ON o.id = e.operation_id LEFT JOIN usage u ON u.operation_id = e.operation_id
      WHERE o.id IS NULL AND u.operation_id IS NULL AND e.micros <> 0`,
    words: (row) => `${row.operation_id} has entries of ${row.micros}, and neither a record nor usage`,
  },
  {
    rule: 'transcription counted once',
    sql: `
      SELECT t.id FROM transcriptions t JOIN usage u ON u.request_id = t.id
      UNION ALL
      SELECT request_id AS id FROM usage WHERE request_id IS NOT NULL GROUP BY request_id HAVING count(*) > 1`,
    words: (row) => `the transcription ${row.id} is counted although it is still running, or is counted twice`,
  },
]

const records: readonly Rule[] = [
  {
    rule: 'key held while it counts',
    sql: `
      SELECT id, outcome, charged_micros FROM operations
      WHERE (idempotency_hash IS NOT NULL)
        <> (key_supplied = 1 AND (outcome IS NULL OR outcome = 'completed' OR charged_micros > 0))`,
    words: (row) => `the idempotency key of ${row.id} (${row.outcome ?? 'pending'}) is wrongly held or free`,
  },
  {
    rule: 'one operation for a key',
    sql: `
      SELECT min(id) AS id, count(*) AS times FROM operations WHERE idempotency_hash IS NOT NULL
      GROUP BY account_id, type, idempotency_hash HAVING count(*) > 1`,
    words: (row) => `${row.times} operations hold one idempotency key, among them ${row.id}`,
  },
  {
    rule: 'times of the end',
    sql: `
      SELECT id, outcome FROM operations
      WHERE (outcome IS NULL) <> (settled_at_ms IS NULL) OR (outcome IS NULL) <> (expires_at_ms IS NULL)
        OR (first_audio_at_ms IS NOT NULL AND started_at_ms IS NULL)`,
    words: (row) => `${row.id} (${row.outcome ?? 'pending'}) has times that do not fit`,
  },
  {
    rule: 'voice of its clone',
    sql: `
      SELECT v.id, v.status, o.outcome FROM voices v JOIN operations o ON o.id = v.operation_id
      WHERE v.status <> CASE WHEN o.outcome IS NULL THEN 'processing' WHEN o.outcome = 'completed' THEN 'ready'
          ELSE 'failed' END
        OR o.type <> 'clone' OR v.account_id <> o.account_id OR o.voice_id <> v.id
        -- Made again, with another key.
        OR (v.key_id <> o.key_id AND v.created_at_ms = o.created_at_ms)`,
    words: (row) => `the voice ${row.id} is ${row.status}, and its clone ${row.outcome ?? 'pending'}`,
  },
  {
    rule: 'voice being made',
    sql: `
      SELECT v.id FROM voices v LEFT JOIN operations o ON o.id = v.operation_id
      WHERE v.status = 'processing' AND o.id IS NULL`,
    words: (row) => `the voice ${row.id} is being made, but there is no operation for it`,
  },
  {
    rule: 'clone with a voice',
    sql: `
      SELECT o.id FROM operations o LEFT JOIN voices v ON v.id = o.voice_id
      WHERE o.type = 'clone' AND o.outcome IS NULL AND v.id IS NULL`,
    words: (row) => `the clone ${row.id} is pending, and its voice is gone`,
  },
  {
    rule: 'alias of the owner',
    sql: `
      SELECT n.alias, n.voice_id FROM voice_aliases n LEFT JOIN voices v ON v.id = n.voice_id
      WHERE v.id IS NULL OR v.account_id IS NULL OR v.account_id <> n.account_id`,
    words: (row) => `the alias '${row.alias}' does not belong to the owner of ${row.voice_id}`,
  },
]

export const rules: readonly Rule[] = [...money, ...usage, ...records]

/** Asks for what breaks the rules. @param ask answers all questions from one and the same moment */
export async function brokenRules(ask: Ask, asked: readonly Rule[] = rules): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const { rule, sql, words } of asked) {
    for (const row of await ask(sql)) faults.push({ rule, words: words(row) })
  }
  return faults
}
