/**
 * What the service needs of the world, in the words of the domain. `store`, `engine`, `catalog` and `audio` stand
 * behind these; only `cli/` knows which is behind which. All are asynchronous although SQLite is not, so that another
 * database can stand behind the same ports: admit and settle are one call each.
 */
import type { Account, Caller, Key, Role, Scope } from '../domain/account.ts'
import type { Card, Task } from '../domain/card.ts'
import type { Operation, OperationType, Outcome, Settlement } from '../domain/operation.ts'
import type { AudioFormat } from '../domain/speech.ts'

export interface SpeechAdmission {
  operationId: string
  accountId: string
  keyId: string
  model: string
  voiceId: string
  inputChars: number
  priceMicros: number
  /** Of the client's idempotency key; null when it sent none. */
  keyHash: string | null
  fingerprint: string
}

export interface Ledger {
  /** @throws MynaError `duplicate_request` or `idempotency_conflict` when a live record holds the key */
  checkKey(accountId: string, type: OperationType, keyHash: string, fingerprint: string | null): Promise<void>
  /**
   * Idempotency verdict, hold of the price and pending row in one transaction.
   * @throws MynaError `duplicate_request`, `idempotency_conflict`, `insufficient_balance`, `storage_full`
   */
  admitSpeech(admission: SpeechAdmission): Promise<Operation>
  /** Commits that the engine is about to be given the work. @throws MynaError `storage_full` */
  markStarted(operationId: string): Promise<void>
  /** Commits that the first audio is about to leave. @throws MynaError `storage_full` */
  markFirstAudio(operationId: string): Promise<void>
  /**
   * Compare-and-set on pending: outcome, charge, refund of the rest, usage row, release of the key, in one transaction.
   * @returns false when the operation was terminal already; then nothing changed
   * @throws MynaError `storage_full`
   */
  settle(operationId: string, settlement: Settlement): Promise<boolean>
  /** Own and not expired, else null. */
  find(accountId: string, operationId: string): Promise<Operation | null>
  /** Settles what a crash left pending. Only `serve` calls it, under the data folder's lock, before the port opens. */
  settleCrashed(): Promise<number>
  /** Removes expired records. Ledger entries and usage stay. @returns how many */
  sweep(): Promise<number>
  pendingCount(): Promise<number>
  usage(query: UsageQuery): Promise<UsageRow[]>
}

export interface UsageQuery {
  /** null: every account. */
  accountId: string | null
  startMs: number
  endMs: number
  bucketMs: number
  groupBy: readonly ('model' | 'api_key_id' | 'account')[]
}

/** Sums over settled work of one bucket and group; grouped-by fields are null when not asked for. */
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

export interface NewAccount {
  name: string
  role: Role
  /** null: unmetered. Otherwise the opening balance. */
  balanceMicros: number | null
}

export interface NewKey {
  accountId: string
  name: string
  scopes: readonly Scope[] | null
  expiresAtMs: number | null
  secretHash: string
  prefix: string
}

export interface Accounts {
  /** The key with this hash and its account, revoked, expired or disabled ones too; null when there is none. */
  findByKey(secretHash: string): Promise<Caller | null>
  /** Notes the use; may be written late and coarsely (to the minute). */
  touchKey(keyId: string): void
  create(account: NewAccount): Promise<Account>
  findByName(name: string): Promise<Account | null>
  list(): Promise<Account[]>
  count(): Promise<number>
  /** @returns the account after it, or null when it is unmetered or unknown */
  credit(accountId: string, amountMicros: number): Promise<Account | null>
  disable(accountId: string): Promise<void>
  createKey(key: NewKey): Promise<Key>
  listKeys(accountId: string | null): Promise<Key[]>
  /** @returns false when there is no such key; revoking twice is true */
  revokeKey(keyId: string): Promise<boolean>
  /** Owned voices that are not failed: what cap and allowance count. */
  countVoices(accountId: string): Promise<number>
}

export interface Catalog {
  /** Every known card, installed or not. */
  cards(): readonly Card[]
  isInstalled(cardId: string): boolean
  /** The installed model of the task with the highest preference; null when none is. */
  best(task: Task): Card | null
}

export interface SpeechOrder {
  model: string
  voiceId: string
  text: string
  speed: number
  /** Of the frames that come back. */
  sampleRateHz: number
  language: string | null
  instructions: string | null
  seed: number | null
}

export interface SpeechFrame {
  /** Mono, at the order's rate. */
  pcm: Int16Array
  /** Code points of the input that are spoken once this frame has been played. */
  coveredChars: number
  /** Since the engine received the order; for metrics. */
  engineMs: number
}

export type EngineState = 'stopped' | 'starting' | 'ready' | 'failed'

export interface EngineStatus {
  task: Task
  state: EngineState
  pid: number | null
  /** Where inference runs, and why there when that was not asked for. */
  device: string
  deviceReason: string | null
  activeStreams: number
  restarts: number
  /** The last crash in the child's own words. */
  lastError: string | null
  residentBytes: number | null
  models: readonly {
    id: string
    memoryBytes: number
    activeStreams: number
    /** null: in use, or kept for ever. */
    idleMsLeft: number | null
  }[]
}

export interface SpeechEngine {
  /**
   * Frames as they are made; the engine runs ahead of the reader by a bounded number of them. Ends the work at once
   * when the signal aborts (the iteration then throws its reason).
   * @throws MynaError `engine_unavailable`, `generation_failed`
   */
  speak(order: SpeechOrder, signal: AbortSignal): AsyncIterable<SpeechFrame>
  status(): Promise<EngineStatus>
}

/** One stream's encoder. Calls are answered in order; nothing it does blocks the calling thread. */
export interface Encoder {
  /** @param pcm mono at the rate it was opened with @returns bytes that are ready, possibly none */
  encode(pcm: Int16Array): Promise<Uint8Array>
  /** The rest of the stream. The encoder is closed afterwards. */
  finish(): Promise<Uint8Array>
  /** Gives up: frees what it holds. Harmless after finish. */
  close(): void
}

export interface Encoders {
  open(format: AudioFormat, sampleRateHz: number): Promise<Encoder>
}

/** Where the service reports what happened; `http/metrics` counts it. */
export interface Meter {
  firstByte(seconds: number): void
  engineFirstFrame(seconds: number): void
  settled(type: OperationType, outcome: Outcome, settlement: Settlement, format: AudioFormat | null): void
  realtimeFactor(value: number): void
  refusedKey(code: string): void
}
