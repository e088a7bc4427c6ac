/** What the models and the auditors of the simulation speak about: settings, accounts, keys, rows. */

export interface Settings {
  microsPerChar: number
  /** Streams that the engine makes at once, and requests that may wait for one. */
  streams: number
  waiting: number
  /** Requests of one account under way. */
  concurrency: number
  queueWaitMs: number
  unreadMs: number
  cloneMicros: number
  /** Voices of one account: so many are free, so many there may be. */
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

/** How much of the marks in the books the model foresees: all; with a full disk it must look; with a crash nothing. */
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
