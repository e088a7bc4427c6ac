/**
 * The independent check of transcriptions, with its own SQL. Each one is in the database once, as running or as ended,
 * from before the engine received it; it has the right ending and the right amount of audio; and it is never changed or
 * lost afterwards.
 */
import type { Database } from 'bun:sqlite'
import type { FollowedListening, ListeningModel } from './listening-model.ts'

interface RunningRow {
  id: string
  account_id: string
  key_id: string
  model: string
  heard_ms: number
}

interface EndedRow {
  request_id: string | null
  account_id: string
  key_id: string
  model: string
  outcome: string | null
  error_code: string | null
  audio_ms: number
  settled_at_ms: number
}

export interface ListeningBooks {
  running: Map<string, RunningRow>
  ended: Map<string, EndedRow>
  /** Rows of ended transcriptions, each of which must belong to a different one. */
  endedCount: number
}

export function readListenings(database: Database): ListeningBooks {
  const running = database.query('SELECT * FROM transcriptions').all() as RunningRow[]
  const ended = database.query("SELECT * FROM usage WHERE type = 'transcription'").all() as EndedRow[]
  return {
    running: new Map(running.map((row) => [row.id, row])),
    ended: new Map(ended.map((row) => [row.request_id ?? '', row])),
    endedCount: ended.length,
  }
}

export class ListeningAuditor {
  readonly #model: ListeningModel
  readonly #ended = new Map<string, string>()

  constructor(model: ListeningModel) {
    this.#model = model
  }

  /** @param mayLag whether an ending may still be unwritten @param nowMs by the wall clock */
  faults(books: ListeningBooks, mayLag: boolean, nowMs: number): string[] {
    const known = new Set(this.#model.all.map(({ id }) => id))
    const strangers = [...books.running.keys(), ...books.ended.keys()].filter((id) => !known.has(id))
    return [
      ...this.#model.all.flatMap((listening) => this.#faultsOf(listening, books, mayLag, nowMs)),
      ...strangers.map((id) => `nobody asked for the transcription ${id}`),
      ...(books.ended.size === books.endedCount ? [] : ['a transcription is counted twice']),
      ...[...this.#ended.keys()].filter((id) => !books.ended.has(id)).map((id) => `${id} is counted no more`),
    ]
  }

  #faultsOf(listening: FollowedListening, books: ListeningBooks, mayLag: boolean, nowMs: number): string[] {
    const { id, begun, ending } = listening
    const [running, ended] = [books.running.get(id), books.ended.get(id)]
    if (running !== undefined) listening.wasSeen = true
    if (!begun) return running === undefined && ended === undefined ? [] : [`${id} never began, and is in the books`]
    if (ended !== undefined) {
      return [
        ...(running === undefined ? [] : [`${id} is under way and has ended`]),
        ...this.#endFaults(listening, ended, nowMs),
      ]
    }
    if (running === undefined) return [`${id} is lost`]
    if (ending !== null) listening.wasLate = true
    if (ending !== null) return mayLag ? [] : [`${id} ended ${ending.outcome}, and the books say under way`]
    const is = [running.account_id, running.key_id, running.model, running.heard_ms]
    return differences(`${id}, under way`, is, [...ownerOf(listening), listening.notedMs])
  }

  #endFaults(listening: FollowedListening, row: EndedRow, nowMs: number): string[] {
    const { id, ending, wasLate } = listening
    const now = JSON.stringify(row)
    const before = this.#ended.get(id)
    if (before !== undefined) return before === now ? [] : [`${id} changed after its end: ${before} to ${now}`]
    this.#ended.set(id, now)
    if (ending === null) return [`${id} is ${row.outcome} (${row.error_code}), and should be under way`]
    listening.isSettled = true
    const is = [row.account_id, row.key_id, row.model, row.outcome, row.error_code, row.audio_ms]
    const due = [...ownerOf(listening), ending.outcome, ending.code, ending.heardMs]
    const atMs = wasLate ? [] : differences(`${id}, the time of its end`, [row.settled_at_ms], [nowMs])
    return [...differences(`${id}, ended`, is, due), ...atMs]
  }
}

const ownerOf = ({ key }: FollowedListening) => [key.account.id, key.id, 'whisper-base']

const differences = (what: string, is: unknown[], due: unknown[]): string[] =>
  is.join() === due.join() ? [] : [`${what}: ${is.join()}, not ${due.join()}`]
