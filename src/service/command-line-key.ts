/**
 * The key of this machine's own command line: anyone who can read the data folder can issue keys anyway, so `myna
 * speak` needs none there. It belongs to the first active administrator and has every scope: commands also ask for the
 * account, to say what is left of its balance. Its secret is kept in a file beside the database, so that there is one
 * such key rather than one per start.
 */
import { hashSecret, scopes } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { AdminVerbs } from './accounts.ts'
import type { Accounts } from './ports.ts'

/** The file with the secret, readable only by the owner of the data folder. */
export interface SecretFile {
  /** null: none. */
  read(): Promise<string | null>
  write(secret: string): Promise<void>
}

/**
 * @returns the secret of a key that works
 * @throws MynaError `validation_error` when no active administrator exists
 */
export async function commandLineKey(accounts: Accounts, verbs: AdminVerbs, file: SecretFile): Promise<string> {
  const kept = await file.read()
  if (kept !== null && (await works(accounts, kept))) return kept
  const admin = (await accounts.list()).find(({ role, disabledAtMs }) => role === 'admin' && disabledAtMs === null)
  if (admin === undefined) {
    throw new MynaError('validation_error', 'There is no active administrator to act for. See: myna doctor')
  }
  const asked = { account: admin.name, name: 'command line', scopes: [...scopes], expires: null }
  const { secret } = await verbs.createKey(asked)
  await file.write(secret)
  return secret
}

async function works(accounts: Accounts, secret: string): Promise<boolean> {
  const caller = await accounts.findByKey(hashSecret(secret))
  if (caller === null || caller.key.revokedAtMs !== null || caller.account.disabledAtMs !== null) return false
  return scopes.every((scope) => caller.key.scopes?.includes(scope) ?? true)
}
