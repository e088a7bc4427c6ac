/**
 * A list of voices as SQL. Absent filters add no condition, so the texts differ; there are few of them, composed of
 * parts that are all here, and values are never among them.
 */
import type { VoiceQuery } from '../service/ports.ts'
import type { Dialect, Parameters } from './database.ts'
import { fold } from './fold.ts'

const owners: Record<VoiceQuery['owner'], string> = {
  me: 'account_id = $accountId',
  public: "(public = 1 AND status = 'ready')",
  all: "(account_id = $accountId OR (public = 1 AND status = 'ready'))",
}

export function conditionsOf(query: VoiceQuery, { position }: Dialect): string {
  const conditions = [owners[query.owner]]
  if (query.status !== null) conditions.push('status = $status')
  if (query.category !== null) conditions.push('category = $category')
  // RFC 4647, basic filtering: `en` finds `en-GB` too, `en-GB` does not find `en`.
  if (query.language !== null) conditions.push(`${position("lower(language) || '-'", '$language')} = 1`)
  // No LIKE: a sought % or _ means itself, and case was folded before.
  if (query.search !== null) conditions.push(`${position('search_text', '$search')} > 0`)
  if (query.after !== null) {
    conditions.push(`(created_at_ms, id) ${query.order === 'asc' ? '>' : '<'} ($afterMs, $afterId)`)
  }
  return `WHERE ${conditions.join(' AND ')}`
}

export const orderOf = ({ order }: VoiceQuery): string => `ORDER BY created_at_ms ${order}, id ${order} LIMIT $limit`

export const parametersOf = (query: VoiceQuery): Parameters => ({
  accountId: query.accountId,
  status: query.status,
  category: query.category,
  language: query.language === null ? null : `${query.language.toLowerCase()}-`,
  search: query.search === null ? null : fold(query.search),
  afterMs: query.after?.createdAtMs ?? null,
  afterId: query.after?.id ?? null,
  limit: query.limit,
})
