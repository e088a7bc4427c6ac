/**
 * One connection to PostgreSQL. It is reserved for as long as it lives: an ordinary client reconnects by itself, and
 * the rest of a transaction would then be written outside of it.
 *
 * Every statement has a deadline of our own. The server's time-outs work only on the server: over a cut wire nothing
 * ever comes back, and a statement would wait forever. Anything that does not arrive in time ends the connection, so
 * that nothing later can be mistaken for its answer.
 */
import { type ReservedSQL, SQL } from 'bun'
import { codeOf, messageOf } from '../errors.ts'
import type { Parameters } from '../database.ts'
import { numbered } from './numbered.ts'

/** The connection is gone, and with it whatever was not committed; whether the last statement was done is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

export interface WireOptions {
  url: string
  /** Longest wait for one answer; also for the connection itself. */
  deadlineMs: number
}

/** SQLSTATEs after which a connection is of no use: the server is ending, starting, full, or has given up on it. */
const ending = /^(57P0[1-5]|53300|08|25P0[34])/

/** A plan that was made before the schema changed under it: another connection has no such plan. */
const stalePlan = '0A000'

export interface Answer {
  rows: Record<string, unknown>[]
  count: number
}

export class Wire {
  readonly #deadlineMs: number
  readonly #client: SQL
  readonly #reserved: ReservedSQL
  #isBroken = false

  private constructor(client: SQL, reserved: ReservedSQL, deadlineMs: number) {
    this.#client = client
    this.#reserved = reserved
    this.#deadlineMs = deadlineMs
  }

  /** @throws ConnectionLost if there is no server, the server's own error if it refuses us */
  static async open({ url, deadlineMs }: WireOptions): Promise<Wire> {
    const client = new SQL(url, {
      adapter: 'postgres',
      max: 1,
      bigint: true,
      idleTimeout: 0,
      maxLifetime: 0,
      connectionTimeout: Math.ceil(deadlineMs / 1000),
      connection: {
        application_name: 'myna',
        // In this order: waiting for a lock fails before the statement as a whole takes too long, and the server gives
        // up before we do. A box that froze within a transaction keeps its locks no longer than the last.
        lock_timeout: Math.round(deadlineMs / 2),
        statement_timeout: Math.round(deadlineMs * 0.75),
        idle_in_transaction_session_timeout: deadlineMs * 2,
      },
    })
    try {
      const reserved = await within(deadlineMs, client.reserve())
      return new Wire(client, reserved, deadlineMs)
    } catch (error) {
      void client.close({ timeout: 0 }).catch(() => {})
      throw asLost(error)
    }
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** @throws ConnectionLost, or the server's refusal */
  query(text: string, parameters: Parameters = {}): Promise<Answer> {
    const statement = numbered(text)
    return this.#ask(this.#reserved.unsafe(statement.text, statement.valuesOf(parameters)))
  }

  /** Several statements without parameters, in one transaction unless they say otherwise. */
  script(text: string): Promise<Answer> {
    return this.#ask(this.#reserved.unsafe(text).simple())
  }

  /** Bytes as they are: `$1`, `$2` are the values. */
  bytes(text: string, values: readonly (string | bigint | Uint8Array | null)[]): Promise<Answer> {
    return this.#ask(this.#reserved.unsafe(text, [...values]))
  }

  async #ask(asked: PromiseLike<Record<string, unknown>[] & { count: number }>): Promise<Answer> {
    if (this.#isBroken) throw new ConnectionLost('The connection is closed')
    try {
      const rows = await within(this.#deadlineMs, asked)
      return { rows, count: Number(rows.count) }
    } catch (error) {
      const told = asLost(error)
      if (told instanceof ConnectionLost) this.close()
      throw told
    }
  }

  /** Immediately, whatever is running. */
  close(): void {
    this.#isBroken = true
    void this.#client.close({ timeout: 0 }).catch(() => {})
  }
}

/** The SQLSTATE of what the server refused, or the empty string. */
export function stateOf(error: unknown): string {
  if (!(error instanceof Error) || !('errno' in error)) return ''
  return typeof error.errno === 'string' ? error.errno : ''
}

function asLost(error: unknown): unknown {
  if (error instanceof ConnectionLost) return error
  const state = stateOf(error)
  const isLost =
    state === '' ? codeOf(error).startsWith('ERR_POSTGRES_CONN') : ending.test(state) || state === stalePlan
  return isLost ? new ConnectionLost(messageOf(error), { cause: error }) : error
}

function within<T>(ms: number, promise: PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new ConnectionLost(`The database did not answer for ${ms} ms`)), ms)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer)) as Promise<T>
}
