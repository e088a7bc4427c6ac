/** Names what is asked of the ledger's records: which operations, and sums of usage. */
import type { OperationType, Outcome } from '../../domain/operation.ts'

/** Which operations; null: whatever it is. */
export interface OperationQuery {
  accountId: string | null
  /** Only those older than this one. */
  before: string | null
  limit: number
  type: OperationType | null
  state: 'pending' | 'terminal' | null
  outcome: Outcome | null
  model: string | null
  /** Created then or later, and before. */
  startMs: number | null
  endMs: number | null
}

/** What another server on the same data folder is to stop: the one whose place this one takes, or the reverse. */
export interface CancelAsks {
  /** Noted while it is pending. @throws MynaError `storage_full` */
  askToCancel(operationId: string): Promise<void>
  /** Pending operations for which that was asked. */
  askedToCancel(): Promise<string[]>
}

export interface UsageQuery {
  /** null: every account. */
  accountId: string | null
  startMs: number
  endMs: number
  bucketMs: number
  groupBy: readonly ('model' | 'api_key_id' | 'account')[]
}

/** Sums over the settled work of one bucket and group; fields to group by are null if not requested. */
export interface UsageRow {
  /** `startMs + n * bucketMs`. */
  bucketStartMs: number
  type: OperationType | 'transcription'
  model: string | null
  keyId: string | null
  accountId: string | null
  requests: number
  characters: number
  audioMs: number
  chargedMicros: number
  refundedMicros: number
  /** Clones within the free allowance. */
  free: number
}
