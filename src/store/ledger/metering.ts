/**
 * An account becomes prepaid, or unmetered again. A balance is minus the sum of the account's entries. While it is
 * unmetered that sum says what was used, so becoming prepaid books what makes the sum fit the new balance: earlier use
 * is forgiven, and running work is paid from the new balance. Becoming unmetered books what was left.
 */
import { MynaError } from '../../domain/error.ts'
import type { Sql } from '../database.ts'
import { book } from './entries.ts'

interface Change {
  accountId: string
  /** null: unmetered. */
  balanceMicros: number | null
  creditId: string
  nowMs: number
}

/**
 * Runs in a transaction that holds the account's row.
 * @throws MynaError `validation_error` when running work has reserved more than the balance
 */
export async function changeMetering(sql: Sql, change: Change): Promise<void> {
  const { accountId, balanceMicros, creditId, nowMs } = change
  const owedMicros = await sumOf(sql, 'sum(amount_micros) AS micros FROM entries', accountId)
  const entry = { accountId, operationId: null, creditId, nowMs } as const
  if (balanceMicros === null) {
    await book(sql, { ...entry, kind: 'unmetered', amountMicros: -owedMicros })
    return setBalance(sql, accountId, null)
  }
  const pending = 'sum(CASE WHEN outcome IS NULL THEN charged_micros ELSE 0 END) AS micros FROM operations'
  const reservedMicros = await sumOf(sql, pending, accountId)
  const leftMicros = balanceMicros - reservedMicros
  if (leftMicros < 0) throw tooSmall(reservedMicros)
  // Before there is a balance, which the entry would move.
  await book(sql, { ...entry, kind: 'prepaid', amountMicros: -owedMicros - leftMicros })
  return setBalance(sql, accountId, leftMicros)
}

async function sumOf(sql: Sql, what: string, accountId: string): Promise<number> {
  const row = await sql.get<{ micros: number | null }>(
    `SELECT CAST(micros AS BIGINT) AS micros FROM (SELECT ${what} WHERE account_id = $accountId) AS sums`,
    { accountId },
  )
  return row?.micros ?? 0
}

async function setBalance(sql: Sql, accountId: string, balanceMicros: number | null): Promise<void> {
  await sql.run('UPDATE accounts SET balance_micros = $balanceMicros WHERE id = $accountId', {
    accountId,
    balanceMicros,
  })
}

const tooSmall = (reservedMicros: number): MynaError =>
  new MynaError(
    'validation_error',
    `Requests that are running have reserved ${reservedMicros} micro-dollars. Give a balance of at least that, or ` +
      'try again when they are done.',
    { param: 'balance_micros' },
  )
