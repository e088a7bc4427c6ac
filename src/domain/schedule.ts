/**
 * Chooses whose step is computed next, by when each listener runs dry: a state machine without a clock of its own.
 *
 * - The stream with the earliest deadline goes first, which keeps all deadlines as long as that is possible at all (Liu
 *   and Layland, 1973). Work without a live listener, such as a transcript, comes after those, by the work of its
 *   account.
 * - First sounds go before listeners who have more audio left than a few steps take; among them, the account with the
 *   least work goes first.
 * - Once a listener has run dry, there is not enough for all: then the account with the least work goes first. Within
 *   an account, and among accounts with about as much work, streams that play go before those that begin, which can
 *   wait for some seconds.
 * - A step that has brought sound and is still being computed makes room for one that cannot wait: a first sound, or
 *   one whose listener is about to run dry. Its model serves that first.
 * - The last step of a stream goes before the steps of others, if each of them has time for that and some to spare, and
 *   beside steps that have brought sound: its stream ends and makes room. In strict turns, streams that began together
 *   would all end together, at the last moment. First sounds go before it, or they would all come later.
 *
 * Work is counted by start-time fair queueing (Goyal, Vin and Cheng, 1996): an account that comes back starts where the
 * others are, not where it left, and one that has used more than its share waits until they have caught up. Work whose
 * client has gone counts too.
 */
export interface Claim {
  account: string
  /** Nothing of it was played yet. */
  isFirst: boolean
  /** When its listener runs dry; null: it has no live listener, or nothing was sent yet. */
  dueMs: number | null
  /** Its stream ends with it. Absent: that is not known. */
  isLast?: boolean
}

export interface ScheduleOptions {
  /** Steps that are computed at the same time. At least 1. */
  slots: number
}

interface Account {
  /** Work that it has had, in the time of `#virtualMs`. */
  servedMs: number
  /** Steps that wait or are computed. */
  open: number
}

interface Waiting {
  id: number
  claim: Claim
  /** When its listener runs dry; for a first sound, when it has waited long enough; Infinity: never. */
  dueMs: number
}

interface Running {
  account: Account
  name: string
  /** Counted before it is known. */
  guessMs: number
  /** It has brought sound. */
  hasBrought: boolean
  /** Machine time: while n steps are computed, each gets an nth; while there are fewer than slots, the rest is free. */
  machineMs: number
}

/** A first sound that has waited this long is as urgent as a listener who runs dry now. */
const patienceMs = 5000
/**
 * An account whose only stream was just served is behind the others by at most this much, and accounts that differ by
 * less count as equal: what one stream is late by is worse than that.
 */
const creditMs = 1000
/** While a listener runs dry, shares count among all listeners with less audio left than this. */
const overloadMs = 5000
/**
 * Where a last step passes, every other listener keeps this much sound, because other programs begin without a warning.
 * On a simulated machine that falls to a quarter three times (`service/speech-machine.fixture.ts`, 60 seeds, short
 * texts, four times capacity), 29 of 58,000 listeners run dry; 21 where no last step passes, and 401 without this.
 */
const reserveMs = 2000
const urgentMsMin = 100
const urgentMsMax = 3000
/** Steps computed at the same time, for each slot: each holds memory. */
const mostPerSlot = 8
/** How fast the estimate follows measured steps. */
const guessWeight = 0.1
/** Idle accounts beyond this number are forgotten. */
const accountsMax = 256

export class Schedule {
  readonly #slots: number
  readonly #accounts = new Map<string, Account>()
  readonly #waiting = new Map<number, Waiting>()
  readonly #running = new Map<number, Running>()
  /** The position of the account that was served last. */
  #virtualMs = 0
  #guessMs = 100
  #nowMs = 0

  /** @throws RangeError without a slot, because then every step would wait forever */
  constructor({ slots }: ScheduleOptions) {
    if (!(slots >= 1)) throw new RangeError(`${slots} slots: at least one step must be computed at a time`)
    this.#slots = slots
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get running(): number {
    return this.#running.size
  }

  /** A step waits for its turn. @param id of no other that waits or is computed */
  ask(id: number, claim: Claim, nowMs: number): void {
    const known = this.#accounts.get(claim.account)
    const account = known ?? { servedMs: 0, open: 0 }
    if (known === undefined) this.#accounts.set(claim.account, account)
    if (account.open === 0) account.servedMs = Math.max(account.servedMs, this.#virtualMs - creditMs)
    account.open++
    const dueMs = claim.isFirst ? nowMs + patienceMs : (claim.dueMs ?? Infinity)
    this.#waiting.set(id, { id, claim, dueMs })
  }

  /** It no longer waits. Harmless when it did not. */
  withdraw(id: number): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    this.#close(waiting.claim.account)
  }

  /** @returns whose turn it is now; null: none waits, or every slot is taken */
  start(nowMs: number): number | null {
    this.#pass(nowMs)
    if (this.#silentCount >= this.#slots || this.#running.size >= mostPerSlot * this.#slots) return null
    const next = this.#next(nowMs)
    if (next === null || (this.#running.size >= this.#slots && !this.#mayRunBeside(next, nowMs))) return null
    const { id, claim } = next
    const account = this.#accounts.get(claim.account)!
    this.#waiting.delete(id)
    this.#virtualMs = Math.max(this.#virtualMs, account.servedMs)
    account.servedMs += this.#guessMs
    this.#running.set(id, { account, name: claim.account, guessMs: this.#guessMs, hasBrought: false, machineMs: 0 })
    return id
  }

  /** It has brought sound, and the rest of it is still being computed. @returns what it has taken so far */
  bring(id: number, nowMs: number): number {
    this.#pass(nowMs)
    const running = this.#known(id)
    running.hasBrought = true
    return running.machineMs
  }

  /** It was computed, or failed. @returns what it took of the machine's time */
  end(id: number, nowMs: number): { machineMs: number } {
    this.#pass(nowMs)
    const { account, name, guessMs, machineMs } = this.#known(id)
    this.#running.delete(id)
    account.servedMs += machineMs - guessMs
    this.#guessMs += guessWeight * (machineMs - this.#guessMs)
    this.#close(name)
    return { machineMs }
  }

  #known(id: number): Running {
    const running = this.#running.get(id)
    if (running === undefined) throw new Error(`step ${id} is not being computed`)
    return running
  }

  /** Shares the time since the last event among the steps that were computed in it. */
  #pass(nowMs: number): void {
    const eachMs = Math.max(0, nowMs - this.#nowMs) / Math.max(this.#slots, this.#running.size)
    for (const running of this.#running.values()) running.machineMs += eachMs
    this.#nowMs = Math.max(this.#nowMs, nowMs)
  }

  #next(nowMs: number): Waiting | null {
    const all = [...this.#waiting.values()]
    const isOverloaded = all.some(({ dueMs }) => dueMs < nowMs)
    if (isOverloaded) {
      const concerned = all.filter(({ claim, dueMs }) => claim.isFirst || dueMs < nowMs + overloadMs)
      const leastMs = Math.min(...concerned.map(({ claim }) => this.#served(claim)))
      return least(concerned, ({ claim, dueMs }) => {
        return [Math.floor((this.#served(claim) - leastMs) / creditMs), dueMs, this.#served(claim)]
      })
    }
    const lastMayPass = this.#lastMayPass(all, nowMs)
    return least(all, ({ claim, dueMs }) => {
      if (dueMs < nowMs + this.#urgentMs) return [0, dueMs]
      if (claim.isFirst) return [1, this.#served(claim), dueMs]
      return [claim.isLast && lastMayPass ? 2 : 3, dueMs, this.#served(claim)]
    })
  }

  /** Whether all others would still be in time, each behind those that are due before it, if a last step went now. */
  #lastMayPass(all: readonly Waiting[], nowMs: number): boolean {
    const others = all.filter(({ claim }) => !claim.isLast).map(({ dueMs }) => dueMs)
    if (others.length === all.length) return false
    const beginMs = nowMs + reserveMs + (this.#running.size + 1) * this.#guessMs
    return others.toSorted((a, b) => a - b).every((dueMs, at) => dueMs >= beginMs + (at + 1) * this.#guessMs)
  }

  /** As long as the running steps may take, plus one more. */
  get #urgentMs(): number {
    return Math.min(urgentMsMax, Math.max(urgentMsMin, 3 * this.#slots * this.#guessMs))
  }

  /** While every slot is taken. A last step leaves a slot for a first sound that may come. */
  #mayRunBeside({ claim, dueMs }: Waiting, nowMs: number): boolean {
    if (claim.isFirst || dueMs < nowMs + this.#urgentMs) return true
    return claim.isLast === true && this.#silentCount < Math.max(1, this.#slots - 1)
  }

  /** Steps that are computed and have brought nothing yet. */
  get #silentCount(): number {
    let count = 0
    for (const { hasBrought } of this.#running.values()) if (!hasBrought) count++
    return count
  }

  #served({ account }: Claim): number {
    return this.#accounts.get(account)!.servedMs
  }

  #close(name: string): void {
    const account = this.#accounts.get(name)!
    account.open--
    if (this.#accounts.size <= accountsMax) return
    // An account that used more than its share is remembered until the others have caught up.
    for (const [other, { open, servedMs }] of this.#accounts) {
      if (open === 0 && servedMs <= this.#virtualMs) this.#accounts.delete(other)
    }
  }
}

/** The first of those whose rank is the least, place by place: of equals, the one that has waited longest. */
function least(all: readonly Waiting[], rankOf: (waiting: Waiting) => readonly number[]): Waiting | null {
  let best: { waiting: Waiting; rank: readonly number[] } | null = null
  for (const waiting of all) {
    const rank = rankOf(waiting)
    if (best === null || isLess(rank, best.rank)) best = { waiting, rank }
  }
  return best?.waiting ?? null
}

function isLess(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, place) => value !== other[place])
  return at >= 0 && one[at]! < other[at]!
}
