/** Random lives of accounts, by seed, with an independent audit after every step. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { brokenRules, type Row } from '../audit/rules.ts'
import { MynaError } from '../domain/error.ts'
import { settleSpeech } from '../domain/operation.ts'
import type { Operation } from '../domain/operation.ts'
import { Auditor } from './auditor.fixture.ts'
import { admission, engine, newKey, openBooks, seededNumbers, sha256 } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'
import { longTimes } from '../testing/long.ts'
import { CloneLife } from './simulation-clones.fixture.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

/** A PostgreSQL server is asked over a connection, which takes longer. */
const seeds = (engine.name === 'sqlite' ? 50 : 10) * longTimes
const steps = 40
const keyHashes = [sha256('one'), sha256('two'), sha256('three')]
const expected = ['duplicate_request', 'idempotency_conflict', 'insufficient_balance']

class Life {
  readonly #books: Books
  readonly #next: () => number
  readonly #admitted: Operation[] = []
  readonly #clones: CloneLife

  constructor(books: Books, next: () => number) {
    this.#books = books
    this.#next = next
    this.#clones = new CloneLife(books, (limit) => this.#below(limit))
  }

  /** One random step. @returns what was done */
  async step(): Promise<string> {
    const kind = this.#below(16)
    if (kind < 4) return this.#admit()
    if (kind < 7) return this.#settle()
    if (kind > 9) return this.#clones.step(kind)
    const { ledger, clock, accounts, account } = this.#books
    const some = this.#some()
    if (kind === 7 && some) {
      await ledger.markStarted(some.id)
      if (this.#below(2) === 0) await ledger.markFirstAudio(some.id)
      return `mark ${some.id}`
    }
    if (kind === 8) {
      const ms = Math.floor((this.#next() - 0.2) * 30 * 3_600_000)
      clock.advance(ms)
      return `clock ${ms}, sweep ${await ledger.sweep()}`
    }
    if (this.#below(3) === 0) return `crash ${await ledger.settleCrashed()}`
    if (this.#below(3) === 0) return this.#meter()
    await accounts.credit(account.id, 1 + this.#below(3000))
    return 'credit'
  }

  async #admit(): Promise<string> {
    const inputChars = 1 + this.#below(200)
    const keyHash = keyHashes[this.#below(4)] ?? null
    const order = admission(this.#books, { inputChars, priceMicros: inputChars * 15, keyHash })
    order.fingerprint = sha256(`text ${this.#below(2)}`)
    try {
      this.#admitted.push(await this.#books.ledger.admitSpeech(order))
      return `admit ${order.operationId}`
    } catch (error) {
      if (!(error instanceof MynaError) || !expected.includes(error.code)) throw error
      await this.#justify(error)
      return `refused ${error.code}`
    }
  }

  /** A refusal names its reason, and the reason must be in the database. */
  async #justify(error: MynaError): Promise<void> {
    const { required_micros: required, balance_micros: balance, operation_id: id } = error.extras
    if (error.code === 'insufficient_balance') return expect(Number(balance)).toBeLessThan(Number(required))
    const holder = await this.#books.database.get<{ outcome: string | null; charged_micros: number }>(
      'SELECT * FROM operations WHERE id = $id AND account_id = $accountId',
      { id: String(id), accountId: this.#books.account.id },
    )
    const holds = holder?.outcome === null || holder?.outcome === 'completed' || (holder?.charged_micros ?? 0) > 0
    expect(holds).toBe(true)
  }

  async #settle(): Promise<string> {
    const some = this.#some()
    if (some === undefined) return 'nothing to settle'
    const chance = () => this.#below(3) === 0
    const failure = chance() ? { code: 'generation_failed', message: 'By chance.' } : null
    const happened = { started: !chance(), audioSent: !chance(), cancelRequested: chance(), clientGone: chance() }
    const { inputChars, priceMicros } = some
    const coveredChars = this.#below(inputChars + 1)
    const measures = { inputChars, priceMicros, coveredChars, pcmBytes: coveredChars * 4800 }
    const settlement = settleSpeech({ ...happened, failure, ...measures }, 24_000)
    const settled = await this.#books.ledger.settle(some.id, settlement)
    return `settle ${some.id} ${settlement.outcome} ${settlement.chargedMicros} ${settled}`
  }

  async #meter(): Promise<string> {
    const { accounts, account } = this.#books
    const balanceMicros = this.#below(2) === 0 ? null : this.#below(20_000)
    try {
      const changed = await accounts.setMetering(account.id, balanceMicros)
      return `meter ${balanceMicros} ${changed === null ? 'as it was' : changed.balanceMicros}`
    } catch (error) {
      if (!(error instanceof MynaError) || error.param !== 'balance_micros') throw error
      return `meter ${balanceMicros} refused: more is reserved`
    }
  }

  #some = (): Operation | undefined => this.#admitted[this.#below(this.#admitted.length)]
  #below = (limit: number): number => Math.floor(this.#next() * limit)
}

test(`${seeds} random lives keep the database right`, async () => {
  const books = await openBooks()
  for (let seed = 1; seed <= seeds; seed++) {
    const next = seededNumbers(seed)
    const account = await books.accounts.create({
      name: `seed ${seed}`,
      role: 'user',
      balanceMicros: seed % 5 === 0 ? null : Math.floor(next() * 20_000),
    })
    const key = await newKey(books.accounts, account)
    const life = new Life({ ...books, account, key }, next)
    const auditor = new Auditor(books.database)
    const log: string[] = []
    for (let step = 0; step < steps; step++) {
      log.push(await life.step().catch((error: unknown) => Promise.reject(explained(seed, log, error))))
      const faults = await auditor.faults(account.id)
      if (faults.length > 0) throw explained(seed, log, faults.join('\n'))
    }
    const broken = seed % 10 === 0 ? await brokenRules((sql) => books.database.all<Row>(sql)) : []
    if (broken.length > 0) throw explained(seed, log, JSON.stringify(broken))
  }
})

const explained = (seed: number, log: string[], what: unknown): Error =>
  new Error(`seed ${seed} after ${log.length} steps: ${String(what)}\n${log.join('\n')}`)
