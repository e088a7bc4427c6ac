/**
 * The independent check of clones: their records, money and voices with its own SQL, and the folders of their files. A
 * clone that did not become a voice sums to zero; no account has more voices than the cap; files exist for exactly the
 * existing voices.
 */
import type { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Snapshot } from './auditor.ts'
import { clonedMicros, type CloneModel, type FollowedClone, statusOf } from './clone-model.ts'
import { sha256 } from './model.ts'
import type { KnownAccount, OperationRow, Settings } from './facts.ts'

export interface VoiceRow {
  id: string
  account_id: string
  status: string
  operation_id: string | null
  error_code: string | null
}

export interface CloneBooks extends Snapshot {
  voices: Map<string, VoiceRow>
  /** Everything in the folder of voices, with the names of the files in it. */
  folders: Map<string, string>
}

const allFiles = 'clip,preview.wav,reference.wav,state'

/** @param books of clones only */
export function readClones(books: Snapshot, database: Database, dataDir: string): CloneBooks {
  const voices = database.query('SELECT id, account_id, status, operation_id, error_code FROM voices').all()
  const root = join(dataDir, 'voices')
  const names = existsSync(root) ? readdirSync(root) : []
  return {
    ...books,
    voices: new Map((voices as VoiceRow[]).map((row) => [row.id, row])),
    folders: new Map(names.map((name) => [name, readdirSync(join(root, name)).sort().join()])),
  }
}

export class CloneAuditor {
  readonly #model: CloneModel
  readonly #accounts: readonly KnownAccount[]
  readonly #settings: Settings
  readonly #terminal = new Map<string, string>()

  constructor(model: CloneModel, accounts: readonly KnownAccount[], settings: Settings) {
    this.#model = model
    this.#accounts = accounts
    this.#settings = settings
  }

  /** @param mayLag whether an ending may still be unwritten @param nowMs by the wall clock */
  faults(books: CloneBooks, mayLag: boolean, nowMs: number): string[] {
    const { all } = this.#model
    return [
      ...all.flatMap((clone) => this.#recordFaults(clone, books, mayLag, nowMs)),
      ...all.flatMap((clone) => [...moneyFaults(clone, books), ...voiceFaults(clone, books)]),
      ...this.#strangers(books),
      ...this.#capFaults(books),
      ...fileFaults(all, books),
    ]
  }

  #recordFaults(clone: FollowedClone, { operations }: CloneBooks, mayLag: boolean, nowMs: number): string[] {
    const { id, ending } = clone
    const row = operations.get(id)
    if (clone.removed) return row === undefined ? [] : [`${id} was removed and is back`]
    if (row === undefined) {
      clone.removed = true
      return this.#model.isExpired(clone) ? [] : [`${id} vanished before it expired`]
    }
    const before = this.#terminal.get(id)
    if (before !== undefined) return before === JSON.stringify(row) ? [] : [`${id} changed after its end`]
    if (row.outcome === null) {
      if (ending !== null) clone.wasLate = true
      if (ending !== null) return mayLag ? [] : [`${id} ended ${ending.outcome}, and the books say pending`]
      return rowFaults(clone, row, { held: clone.priceMicros, keyed: true })
    }
    if (ending === null) return [`${id} is ${row.outcome} (${row.error_code}), and should be pending`]
    this.#terminal.set(id, JSON.stringify(row))
    clone.settledMs = row.settled_at_ms
    const late = clone.wasLate || row.settled_at_ms === nowMs ? [] : [`${id} was settled at ${row.settled_at_ms}`]
    return [
      ...late,
      ...rowFaults(clone, row, { held: clonedMicros(clone), keyed: this.#model.isKeyHeld(clone) }),
      ...different(`${id} ended`, [row.outcome, row.error_code], [ending.outcome, ending.code]),
    ]
  }

  #strangers({ operations, voices }: CloneBooks): string[] {
    const known = new Set(this.#model.all.flatMap(({ id, voiceId }) => [id, voiceId]))
    return [...operations.keys(), ...voices.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `nobody asked for the clone ${id}`)
  }

  #capFaults({ voices }: CloneBooks): string[] {
    return this.#accounts.flatMap(({ id, name, admin }) => {
      const owned = [...voices.values()].filter((row) => row.account_id === id && row.status !== 'failed').length
      return admin || owned <= this.#settings.maxVoices ? [] : [`${name} owns ${owned} voices`]
    })
  }
}

/**
 * The record, as long as it exists. @param held the money that the record says is charged @param keyed holds its key
 */
function rowFaults(
  clone: FollowedClone,
  row: OperationRow,
  { held, keyed }: { held: number; keyed: boolean },
): string[] {
  const { id, ask, stage, ending } = clone
  const hash = ask.idempotencyKey === null || !keyed ? null : sha256(ask.idempotencyKey)
  const is = [row.price_micros, row.charged_micros, row.idempotency_hash, row.free, row.completion_bytes]
  const due = [clone.priceMicros, held, hash, clone.isFree ? 1 : 0, null]
  const started = ending !== null || (row.started_at_ms !== null) === (stage === 'running')
  return [...different(`${id}'s record`, is, due), ...(started ? [] : [`${id} is wrongly marked while ${stage}`])]
}

function moneyFaults(clone: FollowedClone, { entries, usage }: CloneBooks): string[] {
  const { id, settledMs, ending, priceMicros, ask, isFree } = clone
  const booked = entries.filter((entry) => entry.operation_id === id)
  const sum = booked.reduce((all, entry) => all + entry.amount_micros, 0)
  const charged = clonedMicros(clone)
  const counts = settledMs !== null && (ending?.outcome === 'completed' || priceMicros > 0)
  const { account } = ask.key
  const row = [account.id, ask.key.id, 0, 0, charged, priceMicros - charged, isFree ? 1 : 0].join()
  const rows = usage.filter((each) => each.operation_id === id)
  const is = rows.map((each) => [
    each.account_id,
    each.key_id,
    each.characters,
    each.audio_ms,
    each.charged_micros,
    each.refunded_micros,
    each.free,
  ])
  return [
    ...different(`the entries of ${id}`, [sum], [charged]),
    ...different(`the use of ${id}`, [is.join(' and ')], [counts ? row : '']),
  ]
}

/** Processing exactly while its operation is pending, and ready exactly when that completed. */
function voiceFaults(clone: FollowedClone, { voices, operations }: CloneBooks): string[] {
  const { id, voiceId, ask, removed } = clone
  const row = voices.get(voiceId)
  const due = statusOf(clone)
  const faults = different(`the voice of ${id}`, [row?.status ?? 'gone'], [due])
  if (row === undefined) return faults
  const outcome = operations.get(id)?.outcome ?? null
  const fits = removed || (row.status === 'processing') === (outcome === null)
  const completed = removed || (row.status === 'ready') === (outcome === 'completed')
  if (!fits || !completed) faults.push(`${voiceId} is ${row.status}, and its operation ${outcome ?? 'pending'}`)
  if (row.account_id !== ask.key.account.id) faults.push(`${voiceId} belongs to ${row.account_id}`)
  return faults
}

/** A voice has all of its files from before it is ready until it is deleted; nothing else has files. */
function fileFaults(all: readonly FollowedClone[], { folders }: CloneBooks): string[] {
  const due = all.filter(({ voiceGone, ending }) => !voiceGone && ending?.outcome === 'completed')
  const is = [...folders].map(([name, files]) => `${name}: ${files}`).sort()
  return different('the folders of voices', is, due.map(({ voiceId }) => `${voiceId}: ${allFiles}`).sort())
}

const different = (what: string, is: readonly unknown[], due: readonly unknown[]): string[] =>
  JSON.stringify(is) === JSON.stringify(due) ? [] : [`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(due)}`]
