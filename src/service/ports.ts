/**
 * Names what the service needs from the outside, in the words of the domain. `store`, `engine`, `catalog` and `audio`
 * implement these ports; only `cli/` knows which implements which. All are asynchronous although SQLite is not, so
 * that another database can implement the same ports: admit and settle are one call each.
 */
import type { Account, Caller, Key, OwnLimits, Role, Scope } from '../domain/account.ts'
import type { Card, Task } from '../domain/card.ts'
import type { ModelTrouble } from '../domain/model-trouble.ts'
import type { Operation, OperationError, OperationType, Outcome, Settlement } from '../domain/operation.ts'
import type { EngineStatus } from './ports/engines.ts'
import type { OperationQuery, UsageQuery, UsageRow } from './ports/records.ts'
import type { AudioFormat, SpokenWord } from '../domain/speech.ts'
import type { Fidelity, Voice, VoiceClip, VoiceStatus } from '../domain/voice.ts'

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
  /** How many of the account may be pending at once, on all boxes together; absent: any number. */
  maxPending?: number
}

/** What the caller says about the new voice. */
export interface DescribedVoice {
  name: string
  description: string | null
  labels: Readonly<Record<string, string>>
  /** BCP-47. */
  language: string | null
  aliases: readonly string[]
  isPublic: boolean
  /** What the caller declared about its right to this voice, word for word; null: nothing. */
  consent: string | null
}

export interface CloneAdmission extends DescribedVoice {
  operationId: string
  accountId: string
  keyId: string
  /** Administrators clone free of charge and without cap. */
  isAdmin: boolean
  keyHash: string | null
  voiceId: string
  model: string
  fidelity: Fidelity
  clip: VoiceClip
  /** Past the allowance. */
  priceMicros: number
  /** Owned voices that did not fail: how many are free, and how many there may be. */
  freeClones: number
  maxVoices: number
  /** Like that of speech. */
  maxPending?: number
}

/** A voice that is there, made again from its clip: free of charge, whatever the account's allowance. */
export interface RemakeAdmission {
  operationId: string
  accountId: string
  keyId: string
  voiceId: string
  model: string
  /** Like that of speech. */
  maxPending?: number
}

export interface Ledger {
  /** @throws MynaError `duplicate_request` or `idempotency_conflict` when a live record holds the key */
  checkKey(accountId: string, type: OperationType, keyHash: string, fingerprint: string | null): Promise<void>
  /**
   * Idempotency verdict, hold of the price and a pending row that counts as started, in one transaction.
   * @throws MynaError `duplicate_request`, `idempotency_conflict`, `insufficient_balance`, `storage_full`
   */
  admitSpeech(admission: SpeechAdmission): Promise<Operation>
  /**
   * Idempotency verdict (by key alone), cap, allowance or hold of the price, pending row and the voice as `processing`,
   * in one transaction.
   * @throws MynaError `account_disabled`, `duplicate_request`, `voice_limit_reached`, `insufficient_balance`,
   * `validation_error` (an alias that the account uses already), `storage_full`
   */
  admitClone(admission: CloneAdmission): Promise<Operation>
  /**
   * The pending row of a clone that works on a voice which is ready and stays so.
   * @throws MynaError `voice_not_found` (this account has no such voice), `voice_not_ready` (a clone works on it),
   * `storage_full`
   */
  admitRemake(admission: RemakeAdmission): Promise<Operation>
  /**
   * Its operation completed, and the voice one of the new model, in one transaction; `failClone` ends it otherwise and
   * leaves the voice as it was.
   * @returns as `completeClone`
   */
  completeRemake(operationId: string, fidelity: Fidelity): Promise<boolean>
  /**
   * The voice becomes `ready` and its operation completed, in one transaction.
   * @returns false when the operation was terminal already (cancelled, or its voice deleted): then nothing changed
   */
  completeClone(operationId: string): Promise<boolean>
  /**
   * The voice becomes `failed` and its operation terminal, refunded in full, in one transaction. @returns as above
   */
  failClone(
    operationId: string,
    outcome: 'failed' | 'not_accepted' | 'cancelled',
    error: OperationError,
  ): Promise<boolean>
  /** Commits that the engine is about to be given a clone's work. @throws MynaError `storage_full` */
  markStarted(operationId: string): Promise<void>
  /** Commits that the first audio is about to leave. @throws MynaError `storage_full` */
  markFirstAudio(operationId: string): Promise<void>
  /**
   * Compare-and-set on pending: outcome, charge, refund of the rest, usage row, release of the key, in one transaction.
   * @returns false when the operation was terminal already; then nothing changed
   * @throws MynaError `storage_full`
   */
  settle(operationId: string, settlement: Settlement): Promise<boolean>
  /** Not expired, else null. @param accountId its owner; null: anyone's */
  find(accountId: string | null, operationId: string): Promise<Operation | null>
  /** Those that are not expired, the newest first. */
  recent(query: OperationQuery): Promise<Operation[]>
  /** Settles what a crash left pending. Only `serve` calls it, under the data folder's lock, before the port opens. */
  settleCrashed(beforeId?: string): Promise<number>
  /** Removes expired records. Ledger entries and usage stay. @returns how many */
  sweep(): Promise<number>
  pendingCount(): Promise<number>
  usage(query: UsageQuery): Promise<UsageRow[]>
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
  /** The key with this hash and its account, including revoked, expired and disabled ones; null: none. */
  findByKey(secretHash: string): Promise<Caller | null>
  /** By the id of the key, whatever its state; null: none. */
  findSecretHash(keyId: string): Promise<string | null>
  /** Notes the use; may be written late and coarsely (to the minute). */
  touchKey(keyId: string): void
  create(account: NewAccount): Promise<Account>
  findByName(name: string): Promise<Account | null>
  list(): Promise<Account[]>
  count(): Promise<number>
  /** @returns the account after it, or null when it is unmetered or unknown */
  credit(accountId: string, amountMicros: number): Promise<Account | null>
  /**
   * Makes it prepaid with this balance, of which running work already has its part, or unmetered.
   * @param balanceMicros null: unmetered
   * @returns the account after it, or null when it is so already, or unknown
   * @throws MynaError `validation_error` when running work has reserved more than the balance
   */
  setMetering(accountId: string, balanceMicros: number | null): Promise<Account | null>
  setLimits(accountId: string, limits: OwnLimits): Promise<void>
  /** The time of the first disabling stays. @returns false, and changes nothing, for the last active administrator */
  disable(accountId: string): Promise<boolean>
  enable(accountId: string): Promise<void>
  /** @throws MynaError `validation_error` when the name is taken (case does not count) */
  rename(accountId: string, name: string): Promise<void>
  /** @returns as `disable` */
  setRole(accountId: string, role: Role): Promise<boolean>
  /** Disables it, revokes its keys and frees its name; its rows stay. @returns as `disable` */
  remove(accountId: string): Promise<boolean>
  createKey(key: NewKey): Promise<Key>
  listKeys(accountId: string | null): Promise<Key[]>
  /** @returns false if the key does not exist; true also if it was already revoked */
  revokeKey(keyId: string): Promise<boolean>
  /** Owned voices that are not failed: what cap and allowance count. */
  countVoices(accountId: string): Promise<number>
}

export interface VoiceQuery {
  /** Whose own voices are included; null: none. */
  accountId: string | null
  owner: 'me' | 'public' | 'all'
  status: VoiceStatus | null
  category: Voice['category'] | null
  language: string | null
  /** Case-insensitive, anywhere in name, description, labels or id. */
  search: string | null
  order: 'asc' | 'desc'
  /** Only those behind this place in the order. */
  after: { createdAtMs: number; id: string } | null
  limit: number
}

export interface VoiceChange {
  name?: string
  description?: string | null
  labels?: Readonly<Record<string, string>>
  language?: string | null
  aliases?: readonly string[]
  isPublic?: boolean
}

/** Cloned voices; presets come from the catalog. */
export interface Voices {
  /** Regardless of the owner: the domain decides who may see it. */
  find(id: string): Promise<Voice | null>
  /** The account's own voice of this alias (case-insensitive). */
  findByAlias(accountId: string, alias: string): Promise<Voice | null>
  /** Own voices of this name, or public ready ones when `accountId` is null; case-insensitive; at most two. */
  findByName(accountId: string | null, name: string): Promise<Voice[]>
  /**
   * Own voices in every status and public ready ones, by creation and id; request one more to learn whether there is a
   * next page.
   */
  list(query: VoiceQuery): Promise<Voice[]>
  count(query: VoiceQuery): Promise<number>
  /** @returns null if this owner has none @throws MynaError `validation_error` if an alias is in use */
  update(id: string, ownerId: string, change: VoiceChange): Promise<Voice | null>
  /**
   * Removes it, sets agents' `voice_id` to null and settles a pending clone as cancelled and refunded: one transaction.
   * @returns null if this owner has none; otherwise the operation that was pending, if any
   */
  remove(id: string, ownerId: string): Promise<{ cancelledOperationId: string | null } | null>
  /** Failed voices older than this are removed. @returns their ids */
  purgeFailed(beforeMs: number): Promise<string[]>
  ids(): Promise<string[]>
}

/** A voice's files under the data folder: all of them are there, or none. */
export interface VoiceFiles {
  /** Written to a temporary folder, synced, renamed. @throws MynaError `storage_full` */
  put(voiceId: string, files: Readonly<Record<VoiceFile, Uint8Array>>): Promise<void>
  /** null: none. */
  read(voiceId: string, file: VoiceFile): Promise<Uint8Array | null>
  remove(voiceId: string): Promise<void>
  /** Removes what a crash left: folders of no voice, and half-written ones. */
  removeOrphans(known: ReadonlySet<string>): Promise<number>
}

/** The clip as it came; the mono reference as WAV; what the model made of it; the preview as WAV, 24 kHz mono. */
export type VoiceFile = 'clip' | 'reference.wav' | 'state' | 'preview.wav'

export interface Catalog {
  /** Every known card, installed or not. */
  cards(): readonly Card[]
  isInstalled(cardId: string): boolean
  /** The installed models of the task, the preferred first. */
  ranked(task: Task): Card[]
  /** The first of them; null: none. */
  best(task: Task): Card | null
  /** Names of the other servers on the same database that have it installed; absent: there are none. */
  elsewhere?(cardId: string): readonly string[]
  /** Models of which only some files exist: they count as not installed. */
  broken(): readonly ModelTrouble[]
}

export interface SpeechOrder {
  model: string
  voiceId: string
  text: string
  /** The account whose share of the engine it uses. */
  share: string
  /** What `clone` made from the voice's clip; null: the voice is a preset. */
  voiceState: Uint8Array | null
  speed: number
  /** Sample rate of the frames that come back. */
  sampleRateHz: number
  language: string | null
  instructions: string | null
  seed: number | null
  /** Whether frames list the words that begin in them. */
  wordTimes?: boolean
}

export interface SpeechFrame {
  /** Mono, at the order's rate. */
  pcm: Int16Array
  /** Code points of the input that are spoken once this frame has been played. */
  coveredChars: number
  /** That begin in it, where the order asks for them. */
  words?: readonly SpokenWord[]
  /** Time since the engine received the order; for metrics. */
  engineMs: number
  /** Machine time of the chunk until its first sound: with the first frame of a stream, where it is measured. */
  firstMs?: number
}

export interface SpeechEngine {
  /**
   * Starts it ahead of the first request.
   * @param warmModel loaded at once, so that the first request does not wait; null: none. Resolves once it was tried.
   * @throws MynaError `engine_unavailable`
   */
  start(warmModel: string | null): Promise<void>
  /**
   * Frames as they are made; the engine runs ahead of the reader by a bounded number of them. Ends the work at once
   * when the signal aborts (the iteration then throws its reason).
   * @throws MynaError `engine_unavailable`, `generation_failed`; `engine_overloaded` or `model_unavailable` when the
   * model could not be loaded
   */
  speak(order: SpeechOrder, signal: AbortSignal): AsyncIterable<SpeechFrame>
  /** Releases a model once it is unused: its files were removed or changed. */
  dismiss(model: string): void
  /** One per device, at least one. */
  engines(): Promise<readonly EngineStatus[]>
}

export interface SpeechSpan {
  startMs: number
  endMs: number
}

export interface VoiceEngine {
  /** Where there is speech. @param pcm mono, 16 kHz @throws MynaError `engine_unavailable`, `generation_failed` */
  detectSpeech(pcm: Int16Array, signal: AbortSignal): Promise<SpeechSpan[]>
  /**
   * What the model needs to speak with the voice of the clip.
   * @param clip mono
   * @throws MynaError `engine_unavailable`, `generation_failed`; `clip_refused` in the model's words for the owner
   */
  clone(model: string, clip: { pcm: Int16Array; sampleRateHz: number }, signal: AbortSignal): Promise<Uint8Array>
}

/** Files made from a voice that can be made again: previews in other formats, pictures, previews of presets. */
export interface PreviewFiles {
  /** null: none. */
  read(voiceId: string, name: string): Promise<Uint8Array | null>
  /** Written to a temporary name, then renamed. @throws MynaError `storage_full` */
  write(voiceId: string, name: string, bytes: Uint8Array): Promise<void>
  remove(voiceId: string): Promise<void>
  /** Removes what belongs to none of these voices. @returns how many voices' files */
  removeOrphans(known: ReadonlySet<string>): Promise<number>
}

/** The encoder of one stream. Calls are answered in order; it never blocks the calling thread. */
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
  /** How a clone ended, or the code with which its clip was refused. */
  cloned(result: string): void
  refusedKey(code: string): void
}
