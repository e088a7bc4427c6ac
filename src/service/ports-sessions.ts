/** Who is signed in to the console: which key stands behind a cookie's token. */
export interface SessionStore {
  open(token: string, secretHash: string): Promise<void>
  /** @returns the hash of the key behind the token; null: there is no such session, or no longer */
  use(token: string): Promise<string | null>
  close(token: string): Promise<void>
}
