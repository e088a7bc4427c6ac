/**
 * Links that sign in without a key being typed: printed on the terminal of the first start. Each works once, for ten
 * minutes. The token is in the fragment of the address, which browsers do not send: only the page's POST uses it up, so
 * that a program that merely looks at the link (a chat's preview, a scanner) takes nothing.
 */
import { hashSecret } from '../../domain/account.ts'
import type { Clock } from '../../domain/time.ts'

/** How long a link works. */
const linkMs = 600_000
const tokenBytes = 32

interface Link {
  secretHash: string
  expiresAtMs: number
}

export class SignInLinks {
  readonly #clock: Clock
  readonly #random: (bytes: Uint8Array) => Uint8Array
  /** By the hash of the token. */
  readonly #open = new Map<string, Link>()

  constructor(clock: Clock, random: (bytes: Uint8Array) => Uint8Array) {
    this.#clock = clock
    this.#random = random
  }

  /** @param secretHash of the key that the link signs in with @returns the path of the page, with the token */
  issue(secretHash: string): string {
    const token = Buffer.from(this.#random(new Uint8Array(tokenBytes))).toString('base64url')
    this.#open.set(hashSecret(token), { secretHash, expiresAtMs: this.#clock.monotonicMs() + linkMs })
    return `/console#sign-in=${token}`
  }

  /** Uses the link up. @returns the hash of its key; null: it was used, or is too old, or never was */
  take(token: string): string | null {
    const tokenHash = hashSecret(token)
    const link = this.#open.get(tokenHash)
    this.#open.delete(tokenHash)
    return link !== undefined && this.#clock.monotonicMs() < link.expiresAtMs ? link.secretHash : null
  }
}
