/**
 * The clones in a random life of an account. The result of an admission is predicted from the tables, by the rules and
 * not by the code under test.
 */
import { expect } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import { cloneAdmission, sha256 } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'

const keyHashes = [sha256('one'), sha256('two')]
const aliases = ['Nova', 'NOVA', 'alloy', 'écho', 'ÉCHO']
const freeClones = 2
const maxVoices = 4
const priceMicros = 2500

interface Expectation {
  refusal: string | null
  priceMicros: number
}

export class CloneLife {
  readonly #books: Books
  readonly #below: (limit: number) => number
  readonly #made: { id: string; voiceId: string }[] = []

  constructor(books: Books, below: (limit: number) => number) {
    this.#books = books
    this.#below = below
  }

  /** @param kind 10 to 15 @returns what was done */
  async step(kind: number): Promise<string> {
    if (kind < 12) return this.#admit()
    const { ledger, voices, account } = this.#books
    const some = this.#made[this.#below(this.#made.length)]
    if (some === undefined) return 'no clone yet'
    const pending = (await ledger.find(account.id, some.id))?.outcome === null
    if (kind === 12) {
      expect(await ledger.completeClone(some.id)).toBe(pending)
      return `complete ${some.id} ${pending}`
    }
    if (kind === 13) {
      const outcome = (['failed', 'not_accepted', 'cancelled'] as const)[this.#below(3)]!
      expect(await ledger.failClone(some.id, outcome, { code: 'by_chance', message: 'By chance.' })).toBe(pending)
      return `fail ${some.id} ${outcome} ${pending}`
    }
    if (kind === 14) return this.#change(some.voiceId)
    const known = await voices.find(some.voiceId)
    const cancelledOperationId = pending ? some.id : null
    expect(await voices.remove(some.voiceId, account.id)).toEqual(known && { cancelledOperationId })
    return `remove ${some.voiceId}`
  }

  async #change(voiceId: string): Promise<string> {
    const { voices, account } = this.#books
    const wanted = this.#someAliases()
    const known = await voices.find(voiceId)
    const taken = await this.#isTaken(wanted, voiceId)
    const result = await voices.update(voiceId, account.id, { aliases: wanted }).catch(codeOf)
    if (known === null) expect(result).toBeNull()
    else expect(typeof result === 'string' ? result : result?.aliases).toEqual(taken ? 'validation_error' : wanted)
    return `change ${voiceId} ${wanted.join()}`
  }

  async #admit(): Promise<string> {
    const keyHash = keyHashes[this.#below(6)] ?? null
    const isAdmin = this.#below(8) === 0
    const wanted = this.#someAliases()
    const limits = { keyHash, isAdmin, freeClones, maxVoices, priceMicros, aliases: wanted }
    const order = cloneAdmission(this.#books, limits)
    const expected = await this.#expect(keyHash, isAdmin, wanted)
    const result = await this.#books.ledger.admitClone(order).catch(codeOf)
    if (typeof result === 'string') {
      expect(result).toBe(expected.refusal ?? 'none')
      return `clone refused ${result}`
    }
    expect([expected.refusal, expected.priceMicros]).toEqual([null, result.priceMicros])
    this.#made.push({ id: order.operationId, voiceId: order.voiceId })
    return `clone ${order.operationId} ${result.priceMicros}`
  }

  async #expect(keyHash: string | null, isAdmin: boolean, wanted: string[]): Promise<Expectation> {
    const { database, account, clock } = this.#books
    const of = { accountId: account.id }
    const holders = await database.all<{ idempotency_hash: string | null; expires_at_ms: number | null }>(
      "SELECT * FROM operations WHERE type = 'clone' AND account_id = $accountId",
      of,
    )
    const isHeld = holders.some(
      (row) => row.idempotency_hash === keyHash && (row.expires_at_ms === null || row.expires_at_ms > clock.wallMs),
    )
    const voices = await database.all<{ status: string }>('SELECT status FROM voices WHERE account_id = $accountId', of)
    const owned = voices.filter(({ status }) => status === 'processing' || status === 'ready').length
    const price = isAdmin || owned < freeClones ? 0 : priceMicros
    const balance = await database.get<{ balance_micros: number | null }>(
      'SELECT * FROM accounts WHERE id = $accountId',
      of,
    )
    const refusals: [string, boolean][] = [
      ['duplicate_request', keyHash !== null && isHeld],
      ['validation_error', await this.#isTaken(wanted, null)],
      ['voice_limit_reached', !isAdmin && owned >= maxVoices],
      ['insufficient_balance', (balance?.balance_micros ?? price) < price],
    ]
    return { refusal: refusals.find(([, holds]) => holds)?.[0] ?? null, priceMicros: price }
  }

  async #isTaken(wanted: string[], voiceId: string | null): Promise<boolean> {
    const { database, account } = this.#books
    const folded = wanted.map((alias) => alias.toLowerCase())
    const rows = await database.all<{ alias: string; voice_id: string }>(
      'SELECT alias, voice_id FROM voice_aliases WHERE account_id = $accountId',
      { accountId: account.id },
    )
    const others = rows.filter((row) => row.voice_id !== voiceId).map((row) => row.alias.toLowerCase())
    return new Set(folded).size < folded.length || folded.some((alias) => others.includes(alias))
  }

  #someAliases = (): string[] => aliases.filter(() => this.#below(6) === 0)
}

function codeOf(error: unknown): string {
  if (error instanceof MynaError) return error.code
  throw error
}
