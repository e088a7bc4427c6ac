/** How many requests an account may make in a minute, by kind: the same counts whichever protocol they come over. */
import { Throttle, type ThrottleVerdict } from '../domain/throttle.ts'
import type { Clock } from '../domain/time.ts'

export interface AllowanceLimits {
  speechPerMinute: number
  clonesPerMinute: number
  transcriptionsPerMinute: number
  requestsPerMinute: number
  operationsPerMinute: number
  operationsPerSecond: number
  publicPerMinute: number
}

/** `public` is counted by address, everything else by account. */
export type Allowance = 'speech' | 'clones' | 'transcriptions' | 'requests' | 'operations' | 'public'

export class Allowances {
  readonly #clock: Clock
  readonly #throttles: Readonly<Record<Allowance, Throttle>>

  constructor(limits: AllowanceLimits, clock: Clock) {
    const perMinute = (count: number) => ({ count, spanMs: 60_000 })
    this.#clock = clock
    this.#throttles = {
      speech: new Throttle([perMinute(limits.speechPerMinute)]),
      clones: new Throttle([perMinute(limits.clonesPerMinute)]),
      transcriptions: new Throttle([perMinute(limits.transcriptionsPerMinute)]),
      requests: new Throttle([perMinute(limits.requestsPerMinute)]),
      operations: new Throttle([
        perMinute(limits.operationsPerMinute),
        { count: limits.operationsPerSecond, spanMs: 1000 },
      ]),
      public: new Throttle([perMinute(limits.publicPerMinute)]),
    }
  }

  /** Counts the request when it is allowed. @param subject the account's id, or an address */
  take(kind: Allowance, subject: string): ThrottleVerdict {
    return this.#throttles[kind].take(subject, this.#clock.monotonicMs())
  }
}
