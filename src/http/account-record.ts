/** The account and key of a request, as the API shows them (docs/api.md 5). */
import { type Caller, type Key, type LimitName, scopes } from '../domain/account.ts'
import * as is from './openapi/shapes.ts'
import { from } from './openapi/shapes.ts'

export interface AccountLimits {
  maxInputChars: number
  maxClipBytes: number
  requestsPerMinute: number
  speechPerMinute: number
  speechConcurrency: number
  maxTranscriptionBytes: number
  maxTranscriptionSeconds: number
  transcriptionsPerMinute: number
  transcriptionConcurrency: number
  operationsPerMinute: number
  maxVoices: number
  freeClones: number
  cloneMicros: number
}

interface Shown extends Caller {
  /** How many the account owns. */
  voices: number
  limits: AccountLimits
}

const exampleId = 'acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J'
const isAdmin = ({ account }: Shown): boolean => account.role === 'admin'

export const balance = is.wholeOrNull(
  4999325,
  'Millionths of a US dollar, net of reservations. `null`: unmetered, never blocked.',
)

const scopeList: is.Shape<Key['scopes']> = {
  schema: {
    type: ['array', 'null'],
    items: { type: 'string', enum: [...scopes] },
    description: '`null`: unrestricted.',
  } as is.Shape['schema'],
  example: ['tts', 'usage'],
}

const key = is.answer<Shown>('The key of this request.', {
  object: is.constant('api_key'),
  id: from(is.text('key_01KAJ5ZV1A1B2C3D4E5F6G7H8J'), ({ key }) => key.id),
  name: from(is.text('laptop'), ({ key }) => key.name),
  prefix: from(is.text('sk-myna-AbCd', 'The part of the secret that may be shown.'), ({ key }) => key.prefix),
  unrestricted: from(is.flag(false), ({ key }) => key.scopes === null),
  scopes: from(scopeList, ({ key }) => key.scopes),
  created_at: is.unixS(1763712000, ({ key }) => key.createdAtMs),
  expires_at: is.unixOrNull(null, ({ key }) => key.expiresAtMs),
  last_used_at: is.unixOrNull(1763715600, ({ key }) => key.lastUsedAtMs),
})

const clones = is.answer<Shown>('', {
  used: from(is.count(3), 'voices'),
  free_allowance: from(is.count(10), ({ limits }) => limits.freeClones),
  free_remaining: from(is.count(7), ({ voices, limits }) => Math.max(0, limits.freeClones - voices)),
  price_micros: from(is.micros(1000000), (shown) => (isAdmin(shown) ? 0 : shown.limits.cloneMicros)),
})

const limit = (example: number, of: (limits: AccountLimits) => number) =>
  from(is.count(example), ({ limits }: Shown) => of(limits))
/** The account's own; without one, the server's. */
const ownLimit = (example: number, name: LimitName) =>
  from(is.count(example), ({ account, limits }: Shown) => account.limits[name] ?? limits[name])

const limits = is.answer<Shown>('', {
  max_input_chars: limit(4096, (all) => all.maxInputChars),
  max_clip_bytes: limit(10485760, (all) => all.maxClipBytes),
  requests_per_minute: ownLimit(600, 'requestsPerMinute'),
  speech_requests_per_minute: ownLimit(300, 'speechPerMinute'),
  speech_concurrency: ownLimit(16, 'speechConcurrency'),
  max_transcription_bytes: limit(26214400, (all) => all.maxTranscriptionBytes),
  max_transcription_seconds: limit(10860, (all) => all.maxTranscriptionSeconds),
  transcription_requests_per_minute: ownLimit(60, 'transcriptionsPerMinute'),
  transcription_concurrency: ownLimit(2, 'transcriptionConcurrency'),
  operation_requests_per_minute: limit(600, (all) => all.operationsPerMinute),
})

export const accountRecord = is.answer<Shown>('', {
  object: is.constant('account'),
  id: from(is.text(exampleId), ({ account }) => account.id),
  user_id: from(is.text(exampleId, 'The same as `id`.'), ({ account }) => account.id),
  name: from(is.text('workshop'), ({ account }) => account.name),
  email: is.nothing,
  role: from(is.oneOf(['user', 'admin'], 'user'), ({ account }) => account.role),
  is_admin: from(is.flag(false), isAdmin),
  created_at: is.unixS(1763712000, ({ account }) => account.createdAtMs),
  key,
  currency: is.constant('usd'),
  balance_micros: from(balance, ({ account }) => account.balanceMicros),
  voices: is.answer<Shown>('', {
    owned: from(is.count(3), 'voices'),
    limit: from(is.wholeOrNull(100, '`null`: exempt.'), (shown) => (isAdmin(shown) ? null : shown.limits.maxVoices)),
  }),
  clones,
  limits,
})
