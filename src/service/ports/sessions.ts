/** Console sessions: which key is behind a cookie's token. */
export interface SessionStore {
  open(token: string, secretHash: string): Promise<void>
  /** @returns the hash of the key behind the token; null: the session does not exist, or no longer */
  use(token: string): Promise<string | null>
  close(token: string): Promise<void>
}
