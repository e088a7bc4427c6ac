/**
 * The names by which an owner calls its voices. One voice bears a name, whatever its case. The functions here run
 * inside one transaction of `ledger` or `voices`.
 */
import { MynaError } from '../domain/error.ts'
import type { Sql } from './database.ts'
import { fold } from './fold.ts'

/** @throws MynaError `validation_error` if one of them is another voice's, or occurs twice */
export async function requireFreeAliases(
  sql: Sql,
  accountId: string,
  aliases: readonly string[],
  voiceId: string,
): Promise<void> {
  const seen = new Set<string>()
  for (const alias of aliases) {
    const foldedAlias = fold(alias)
    if (seen.has(foldedAlias)) throw refused(`The alias '${alias}' is given twice; case does not count.`)
    seen.add(foldedAlias)
    const holder = await sql.get(
      `SELECT 1 FROM voice_aliases
       WHERE account_id = $accountId AND folded_alias = $foldedAlias AND voice_id <> $voiceId`,
      { accountId, foldedAlias, voiceId },
    )
    if (holder !== null) throw refused(`The alias '${alias}' is in use by another of your voices.`)
  }
}

const refused = (message: string): MynaError => new MynaError('validation_error', message, { param: 'aliases' })

/** Replaces the voice's aliases. `requireFreeAliases` must be called before. */
export async function setAliases(
  sql: Sql,
  accountId: string,
  aliases: readonly string[],
  voiceId: string,
): Promise<void> {
  await sql.run('DELETE FROM voice_aliases WHERE voice_id = $voiceId', { voiceId })
  for (const alias of aliases) {
    await sql.run(
      `INSERT INTO voice_aliases (account_id, voice_id, alias, folded_alias)
       VALUES ($accountId, $voiceId, $alias, $foldedAlias)`,
      { accountId, voiceId, alias, foldedAlias: fold(alias) },
    )
  }
}
