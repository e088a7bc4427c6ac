/** Names what the connections of the Wyoming server share: the service behind it, and the account it acts for. */
import type { Caller } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { Clock, Timer } from '../domain/time.ts'
import type { Allowances } from '../service/allowances.ts'
import type { HouseAccount } from '../service/house-account.ts'
import type { Library } from '../service/library.ts'
import type { Catalog } from '../service/ports.ts'
import type { Speech } from '../service/speak.ts'
import type { Transcriptions } from '../service/transcribe.ts'

export interface WyomingParts {
  version: string
  speech: Speech
  transcriptions: Transcriptions
  catalog: Catalog
  library: Library
  account: HouseAccount
  allowances: Allowances
  clock: Clock
  timer: Timer
  random: (bytes: Uint8Array) => Uint8Array
  /** Longest text of one speech request, in code points. */
  maxInputChars: number
  log: (fields: Record<string, unknown>) => void
  report: (message: string, cause: unknown) => void
}

/** Sends one event. @throws Error once the connection is gone */
export type Send = (type: string, data?: object | null, payload?: Uint8Array | null) => Promise<void>

/** The account that is charged, if it may make one more request. @throws MynaError */
export async function admitted(
  { account, allowances }: WyomingParts,
  kind: 'speech' | 'transcriptions',
): Promise<Caller> {
  const caller = await account.caller()
  const { allowed, retryAfterMs } = allowances.take(kind, caller.account)
  if (allowed) return caller
  throw new MynaError('rate_limit_exceeded', 'Too many requests. Try again later.', { retryAfterMs })
}

/** A text field of an event; null: none */
export function textOf(data: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = data[name]
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : null
}
