/** Limits how many requests an account may make per minute, by kind: counted together for all protocols. */
import type { Account, LimitName } from '../domain/account.ts'
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

/** Which of an account's own limits holds for it; absent: none does. */
const ownLimits: Readonly<Partial<Record<Allowance, LimitName>>> = {
  speech: 'speechPerMinute',
  transcriptions: 'transcriptionsPerMinute',
  requests: 'requestsPerMinute',
}

export class Allowances {
  readonly #clock: Clock
  readonly #untold = new Map<string, number>()
  #isShared = false
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

  /** Counts a request of an account when it is allowed. */
  take(kind: Exclude<Allowance, 'public'>, { id, limits }: Pick<Account, 'id' | 'limits'>): ThrottleVerdict {
    const name = ownLimits[kind]
    return this.#take(kind, id, name === undefined ? null : limits[name])
  }

  /** Counts a request without an account when it is allowed. */
  takePublic(address: string): ThrottleVerdict {
    return this.#take('public', address, null)
  }

  #take(kind: Allowance, subject: string, own: number | null): ThrottleVerdict {
    const verdict = this.#throttles[kind].take(subject, this.#clock.monotonicMs(), own)
    if (verdict.allowed && kind !== 'public' && this.#isShared) {
      const name = `${kind} ${subject}`
      this.#untold.set(name, (this.#untold.get(name) ?? 0) + 1)
    }
    return verdict
  }

  /** From now on, requests taken here are also counted for `untold`. */
  share(): void {
    this.#isShared = true
  }

  /** What accounts used here since the last call, which other boxes do not know yet. */
  untold(): Record<string, number> {
    const counts = Object.fromEntries(this.#untold)
    this.#untold.clear()
    return counts
  }

  /** Counts what accounts took of other boxes, as `untold` has it there. */
  note(counts: Readonly<Record<string, number>>): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [name, count] of Object.entries(counts)) {
      const [kind = '', subject = ''] = name.split(' ')
      if (Object.hasOwn(this.#throttles, kind)) this.#throttles[kind as Allowance].note(subject, count, nowMs)
    }
  }
}
