/** Names what realtime sessions are built from: the service behind them, and their limits. */
import type { Caller } from '../domain/account.ts'
import type { Clock, Timer } from '../domain/time.ts'
import type { SpeechWatcher } from '../service/ports/transcription.ts'
import type { Transcriptions } from '../service/transcribe.ts'

export interface RealtimeParts {
  transcriptions: Transcriptions
  watcher: SpeechWatcher
  clock: Clock
  timer: Timer
  random: (bytes: Uint8Array) => Uint8Array
  log: (fields: Record<string, unknown>) => void
  report: (message: string, cause: unknown) => void
}

export interface Opening {
  /** The caller that opened it, if still allowed. @throws MynaError if its key or account no longer is */
  access: () => Promise<Caller>
  /** Named in the address; null: none. */
  model: string | null
  /** Settings that came with a client secret; null: none. */
  session: unknown
}

/** OpenAI ends sessions after an hour, too. */
export const sessionMaxMs = 3_600_000
/** Some clients keep a socket until someone speaks again: ten minutes. */
export const idleMs = 900_000
/** How often the key is checked while nothing else checks it. */
export const accessEveryMs = 60_000

/** Less sound than this holds no word. */
export const leastHeardMs = 100
/** Longest turn: who speaks on begins another. */
export const turnMaxSeconds = 60
/** Sound that was sent and is not dealt with: in the buffer of a client that commits, or waiting for the engine. */
export const backlogMaxSeconds = 300
