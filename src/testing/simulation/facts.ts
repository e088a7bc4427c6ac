/** The nouns of the simulation's models and auditors: settings, accounts, keys, rows. */

export interface Settings {
  microsPerChar: number
  /** Streams that the engine makes at once, and requests that may wait for a place. */
  streams: number
  waiting: number
  /** Running requests of one account. */
  concurrency: number
  queueWaitMs: number
  unreadMs: number
  cloneMicros: number
  /** Voices of one account: how many are free, and how many may exist. */
  freeClones: number
  maxVoices: number
  cloneStreams: number
  cloneWaiting: number
  cloneConcurrency: number
  listenStreams: number
  listenWaiting: number
  listenConcurrency: number
}

export interface KnownAccount {
  id: string
  name: string
  admin: boolean
  prepaid: boolean
  creditedMicros: number
  disabled: boolean
}

export interface KnownKey {
  id: string
  secret: string
  account: KnownAccount
  scopes: readonly string[] | null
  expiresMs: number | null
  revoked: boolean
}

/** How much of the database's marks the model can predict: all; with a full disk it must look; with a crash, none. */
export type Marks = 'foreseen' | 'looked up' | 'unknown'

export interface OperationRow {
  rowid: number
  id: string
  account_id: string
  key_id: string
  type: string
  outcome: string | null
  price_micros: number
  charged_micros: number
  completion_bytes: number | null
  input_chars: number
  key_supplied: number
  idempotency_hash: string | null
  free: number
  error_code: string | null
  created_at_ms: number
  started_at_ms: number | null
  first_audio_at_ms: number | null
  settled_at_ms: number | null
}
