/**
 * The account that requests without a credential are charged to: those of a protocol without credentials, or of
 * anonymous clients if the server allows them. Its key is never given out; it exists so that usage has a key to name.
 * Revoking it, or disabling the account, ends such requests.
 */
import type { Caller } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { AdminVerbs } from './accounts.ts'
import type { Accounts } from './ports.ts'

export class HouseAccount {
  readonly #accounts: Accounts
  readonly #name: string
  readonly #label: string

  private constructor(accounts: Accounts, name: string, label: string) {
    this.#accounts = accounts
    this.#name = name
    this.#label = label
  }

  /** Creates the account, unmetered, and its key if missing. @param label of the key */
  static async open(
    accounts: Accounts,
    administration: AdminVerbs,
    { name, label }: { name: string; label: string },
  ): Promise<HouseAccount> {
    const house = new HouseAccount(accounts, name, label)
    const account = await accounts.findByName(name)
    const keys = account === null ? [] : await accounts.listKeys(account.id)
    if (!keys.some((key) => key.name === label)) {
      await administration.createKey({ account: name, name: label, scopes: null, expires: null })
    }
    return house
  }

  /** The current state in the database. @throws MynaError `account_disabled`, `invalid_api_key` */
  async caller(): Promise<Caller> {
    const account = await this.#accounts.findByName(this.#name)
    if (account === null || account.disabledAtMs !== null) {
      throw new MynaError('account_disabled', `The account '${this.#name}' is disabled.`)
    }
    const keys = await this.#accounts.listKeys(account.id)
    const key = keys.find(({ name, revokedAtMs }) => name === this.#label && revokedAtMs === null)
    if (key === undefined) {
      throw new MynaError('invalid_api_key', `The key '${this.#label}' of the account '${this.#name}' was revoked.`)
    }
    this.#accounts.touchKey(key.id)
    return { account, key }
  }
}
