/**
 * Rate limits that hold in every window, not only on average: the times of the last accepted requests are kept, so at
 * most N fall into any sliding span. Each keeps a bounded number of subjects, for an address space is an attacker's.
 */
export interface Limit {
  count: number
  spanMs: number
}

export interface ThrottleVerdict {
  allowed: boolean
  /** The widest limit. */
  limit: number
  remaining: number
  /** Time until one more request would be accepted (0 when allowed and some remain). */
  retryAfterMs: number
  /** Time until the whole allowance is back. */
  resetMs: number
}

const maxSubjects = 10_000

/** At most `count` accepted requests per subject in any `spanMs`, for each limit. */
export class Throttle {
  readonly #limits: readonly Limit[]
  readonly #widest: Limit
  readonly #accepted = new Map<string, Times>()

  /** @param limits at least one; ordered does not matter */
  constructor(limits: readonly [Limit, ...Limit[]]) {
    this.#limits = limits
    this.#widest = limits.reduce((a, b) => (b.spanMs > a.spanMs ? b : a))
  }

  /** Asks, and counts when allowed. @param nowMs monotonic @param own count of the widest limit; null: as for all */
  take(subject: string, nowMs: number, own: number | null = null): ThrottleVerdict {
    const times = this.#recent(subject, nowMs)
    times.own = own
    const most = own ?? this.#widest.count
    const counted = (limit: Limit) => (limit === this.#widest ? { ...limit, count: most } : limit)
    const retryAfterMs = Math.max(...this.#limits.map((limit) => waitMs(times, counted(limit), nowMs)))
    if (retryAfterMs === 0) times.add(nowMs)
    const newest = times.last(1) ?? nowMs
    return {
      allowed: retryAfterMs === 0,
      limit: most,
      remaining: Math.max(0, most - times.count),
      retryAfterMs,
      resetMs: times.count === 0 ? 0 : newest + this.#widest.spanMs - nowMs,
    }
  }

  /** Counts requests that were accepted elsewhere, whether they would be accepted here or not. */
  note(subject: string, count: number, nowMs: number): void {
    const times = this.#recent(subject, nowMs)
    // Values above the limit say no more than the limit does.
    for (let n = Math.min(count, times.own ?? this.#widest.count); n > 0; n--) times.add(nowMs)
  }

  #recent(subject: string, nowMs: number): Times {
    const times = this.#accepted.get(subject) ?? new Times()
    // Re-inserting keeps the map in order of last use, so that the first entry is the one to forget.
    this.#accepted.delete(subject)
    if (this.#accepted.size >= maxSubjects) this.#accepted.delete(this.#accepted.keys().next().value!)
    times.forget(nowMs - this.#widest.spanMs)
    this.#accepted.set(subject, times)
    return times
  }
}

/** Times in their order. Forgetting the oldest costs no more than there are to forget, however many stay. */
class Times {
  /** The subject's own count of the widest limit, when it asked last; null: as for all. */
  own: number | null = null
  readonly #times: number[] = []
  /** How many at the front are forgotten, but not yet removed. */
  #gone = 0

  get count(): number {
    return this.#times.length - this.#gone
  }

  /** @param from 1: the newest @returns undefined: there are fewer */
  last(from: number): number | undefined {
    return from > this.count ? undefined : this.#times[this.#times.length - from]
  }

  add(timeMs: number): void {
    this.#times.push(timeMs)
  }

  /** @param untilMs this time and all before it */
  forget(untilMs: number): void {
    while (this.#gone < this.#times.length && this.#times[this.#gone]! <= untilMs) this.#gone++
    // Removing them costs as much as there are left, so it waits until they are the larger half.
    if (2 * this.#gone <= this.#times.length) return
    this.#times.splice(0, this.#gone)
    this.#gone = 0
  }
}

function waitMs(times: Times, limit: Limit, nowMs: number): number {
  const blocking = times.last(limit.count)
  if (blocking === undefined) return 0
  return Math.max(0, blocking + limit.spanMs - nowMs)
}

/** A token bucket per subject: `capacity` at once, one more every `refillMs`. Counts only on request. */
export class Bucket {
  readonly #capacity: number
  readonly #refillMs: number
  readonly #levels = new Map<string, { tokens: number; atMs: number }>()

  constructor(capacity: number, refillMs: number) {
    this.#capacity = capacity
    this.#refillMs = refillMs
  }

  /** Takes one token if there is one. @returns 0, or how long until there is one */
  take(subject: string, nowMs: number): number {
    const known = this.#levels.get(subject) ?? { tokens: this.#capacity, atMs: nowMs }
    this.#levels.delete(subject)
    if (this.#levels.size >= maxSubjects) this.#levels.delete(this.#levels.keys().next().value!)
    const tokens = Math.min(this.#capacity, known.tokens + (nowMs - known.atMs) / this.#refillMs)
    const taken = tokens >= 1 ? tokens - 1 : tokens
    this.#levels.set(subject, { tokens: taken, atMs: nowMs })
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) * this.#refillMs)
  }
}
