/**
 * Consents of people whose voices are cloned: recordings that are checked like clips and kept for their owner, who
 * names one when it clones a voice.
 */
import type { Caller } from '../domain/account.ts'
import { type Consent, consentIdPattern, namesConsent } from '../domain/consent.ts'
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { Clock } from '../domain/time.ts'
import { checkClip, type ClipFile, type ClipLimits, type ClipParts } from './clip.ts'
import { PerAccount } from './concurrency.ts'
import type { ConsentBooks } from './ports/consents.ts'
import type { Queue } from './queue.ts'

export interface ConsentRequest {
  name: string
  language: string
  recording: ClipFile
}

export interface ConsentParts extends ClipParts {
  books: ConsentBooks
  /** Shared with clones: both decode recordings. */
  queue: Queue
  clock: Clock
  random: (bytes: Uint8Array) => Uint8Array
}

export interface ConsentLimits extends ClipLimits {
  concurrency: number
  /** Holds for consents as for voices, because each voice needs one at most. */
  maxVoices: number
}

/** Checked like a clip, but sent in another field. */
const ofRecording = (error: unknown): unknown =>
  error instanceof MynaError && error.param === 'file'
    ? new MynaError(error.code, error.message, { param: 'recording', extras: error.extras })
    : error

export class Consents {
  readonly #parts: ConsentParts
  readonly #limits: ConsentLimits
  readonly #perAccount: PerAccount

  constructor(parts: ConsentParts, limits: ConsentLimits) {
    this.#parts = parts
    this.#limits = limits
    this.#perAccount = new PerAccount(limits.concurrency, 'consents')
  }

  /**
   * @param read reads and checks the upload
   * @param gone aborts when the client has disconnected
   * @throws MynaError of input, the recording or capacity; nothing is kept then
   */
  async create(caller: Caller, read: () => Promise<ConsentRequest>, gone: AbortSignal): Promise<Consent> {
    const leaveAccount = this.#perAccount.enter(caller.account.id)
    try {
      const request = await read()
      // Decoding takes memory and time, so it takes a place as a clone does.
      const place = this.#parts.queue.reserve()
      try {
        return await this.#keep(caller, request, gone)
      } finally {
        place.leave()
      }
    } finally {
      leaveAccount()
    }
  }

  async #keep(caller: Caller, { name, language, recording }: ConsentRequest, gone: AbortSignal): Promise<Consent> {
    const { books, clock, random } = this.#parts
    const { clip } = await checkClip(recording, this.#parts, this.#limits, gone).catch((error: unknown) => {
      throw ofRecording(error)
    })
    const { account, key } = caller
    const owner = { accountId: account.id, keyId: key.id }
    const maxConsents = account.role === 'admin' ? null : this.#limits.maxVoices
    const id = newId('cons', clock.nowMs(), random)
    return books.create({ id, ...owner, name, language, recording: clip, maxConsents }, recording.bytes)
  }

  /** @throws MynaError `consent_not_found` */
  async get({ account }: Caller, id: string): Promise<Consent> {
    return this.#known(id, (known) => this.#parts.books.find(account.id, known))
  }

  /** The newest first. @param after an id; only those older than it */
  async list({ account }: Caller, after: string | null, limit: number): Promise<{ data: Consent[]; hasMore: boolean }> {
    const found = await this.#parts.books.list(account.id, { after, limit: limit + 1 })
    return { data: found.slice(0, limit), hasMore: found.length > limit }
  }

  /** @throws MynaError `consent_not_found` */
  async rename({ account }: Caller, id: string, name: string): Promise<Consent> {
    return this.#known(id, (known) => this.#parts.books.rename(account.id, known, name))
  }

  /** Voices that were cloned with it stay. @throws MynaError `consent_not_found` */
  async remove({ account }: Caller, id: string): Promise<void> {
    await this.#known(id, async (known) => (await this.#parts.books.remove(account.id, known)) || null)
  }

  /**
   * Whether the caller may clone by what it declares: a statement in words always passes.
   * @throws MynaError `consent_not_found` for the id of a recording that the caller does not have
   */
  async requireKnown(caller: Caller, declared: string | null): Promise<void> {
    if (declared !== null && namesConsent(declared)) await this.get(caller, declared)
  }

  async #known<T>(id: string, find: (id: string) => Promise<T | null>): Promise<T> {
    const found = consentIdPattern.test(id) ? await find(id) : null
    if (found !== null) return found
    const shown = id.slice(0, 60).toWellFormed()
    throw new MynaError('consent_not_found', `The consent '${shown}' does not exist or you do not have access to it.`, {
      param: 'consent',
    })
  }
}
