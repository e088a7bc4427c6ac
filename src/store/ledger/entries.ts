/** The entries of the ledger. An account's balance is minus their sum, and moves in the statement after the entry's. */
import type { Sql } from '../database.ts'

export interface Entry {
  accountId: string
  /** null for what an administrator changes: a credit, and how the account is metered. */
  operationId: string | null
  kind: 'hold' | 'refund' | 'credit' | 'prepaid' | 'unmetered'
  /**
   * What the account owes for it: positive for a reservation, negative for a refund or a credit, never zero. `prepaid`
   * makes the sum minus the balance, `unmetered` makes it zero: both may be zero.
   */
  amountMicros: number
  /** Distinguishes an entry without an operation from another one of the same amount. */
  creditId?: string | null
  nowMs: number
}

/** Writes an entry and moves a prepaid balance by it: the only way in which a balance changes. */
export async function book(sql: Sql, entry: Entry): Promise<void> {
  await sql.run(
    `INSERT INTO entries (account_id, operation_id, kind, amount_micros, credit_id, created_at_ms)
     VALUES ($accountId, $operationId, $kind, $amountMicros, $creditId, $nowMs)`,
    { ...entry, creditId: entry.creditId ?? null },
  )
  await sql.run(
    `UPDATE accounts SET balance_micros = balance_micros - $amountMicros
     WHERE id = $accountId AND balance_micros IS NOT NULL`,
    { accountId: entry.accountId, amountMicros: entry.amountMicros },
  )
}
