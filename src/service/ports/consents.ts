/** Names what the service needs of the records of consents: `store` implements it for both databases. */
import type { Consent } from '../../domain/consent.ts'

export interface NewConsent extends Omit<Consent, 'createdAtMs'> {
  accountId: string
  keyId: string
  /** How many consents the account may own; null: any number. */
  maxConsents: number | null
}

/** Every verb knows only the consents of the account that it names. */
export interface ConsentBooks {
  /**
   * The row and the recording: both are kept, or neither.
   * @throws MynaError `account_disabled`, `voice_limit_reached`, `storage_full`
   */
  create(consent: NewConsent, recording: Uint8Array): Promise<Consent>
  find(accountId: string, id: string): Promise<Consent | null>
  /** The newest first. @param after only those older than this one */
  list(accountId: string, query: { after: string | null; limit: number }): Promise<Consent[]>
  /** @returns null if this account has none */
  rename(accountId: string, id: string, name: string): Promise<Consent | null>
  /** With its recording. @returns false if this account has none */
  remove(accountId: string, id: string): Promise<boolean>
  /** All that the account owns, with their recordings. */
  removeOwned(accountId: string): Promise<void>
  /** Removes recordings that a crash left without their row. Only before the port opens. @returns how many */
  removeOrphans(): Promise<number>
}
