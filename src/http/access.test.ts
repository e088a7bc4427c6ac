/**
 * Every route with every kind of caller: which callers are admitted, which are refused and with which code. Another
 * account's property gets exactly the answer for a missing one.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { hum, type Instance, startInstance } from '../testing/instance.ts'

setDefaultTimeout(60_000)

/**
 * Access: `open`, every caller with any credential; `valid`, every caller, but a credential that is sent must be valid;
 * `picker`, the same, and the key must be for voices or speech; `key`, any valid key; a scope; `admin`, an
 * administrator with an unrestricted key; `token`, the metrics token alone; `preview`, any key of the owner's account.
 */
type Need = 'open' | 'valid' | 'picker' | 'key' | 'tts' | 'voices' | 'usage' | 'admin' | 'token' | 'preview'

/** `VOICE`, `OPERATION` and `CONSENT` stand for the ids of Ada's own ones. */
const routes: readonly (readonly [Need, string])[] = [
  ['tts', 'POST /v1/audio/speech'],
  ['tts', 'POST /dev/captioned_speech'],
  ['tts', 'POST /v1/audio/transcriptions'],
  ['tts', 'POST /v1/audio/translations'],
  ['tts', 'GET /v1/realtime'],
  ['tts', 'POST /v1/realtime/client_secrets'],
  ['usage', 'GET /v1/operations'],
  ['tts', 'GET /v1/operations/OPERATION'],
  ['tts', 'POST /v1/operations/OPERATION/cancel'],
  ['voices', 'GET /v1/voices'],
  ['voices', 'POST /v1/voices'],
  ['voices', 'POST /v1/voices/clone'],
  ['voices', 'POST /v1/voices/add'],
  ['picker', 'GET /v1/audio/voices'],
  ['voices', 'POST /v1/audio/voices'],
  ['voices', 'GET /v1/voices/VOICE'],
  ['voices', 'PATCH /v1/voices/VOICE'],
  ['voices', 'DELETE /v1/voices/VOICE'],
  ['voices', 'DELETE /v1/audio/voices/VOICE'],
  ['voices', 'POST /v1/voices/VOICE/remake'],
  ['preview', 'GET /v1/voices/VOICE/preview'],
  ['preview', 'GET /v1/voices/VOICE/preview.png'],
  ['preview', 'GET /v1/voices/VOICE/preview.webp'],
  ['voices', 'GET /v1/audio/voice_consents'],
  ['voices', 'POST /v1/audio/voice_consents'],
  ['voices', 'GET /v1/audio/voice_consents/CONSENT'],
  ['voices', 'POST /v1/audio/voice_consents/CONSENT'],
  ['voices', 'DELETE /v1/audio/voice_consents/CONSENT'],
  ['key', 'GET /v1/models'],
  ['key', 'GET /v1/models/tts-1'],
  ['admin', 'POST /v1/models/none'],
  ['admin', 'DELETE /v1/models/none'],
  ['valid', 'GET /v1/audio/models'],
  ['usage', 'GET /v1/me'],
  ['usage', 'GET /v1/usage'],
  ['admin', 'GET /v1/admin/operations'],
  ['admin', 'GET /v1/admin/operations/OPERATION'],
  ['admin', 'POST /v1/admin/operations/OPERATION/cancel'],
  ['admin', 'GET /v1/admin/usage'],
  ['open', 'GET /v1'],
  ['open', 'GET /'],
  ['open', 'GET /health'],
  ['open', 'GET /healthz'],
  ['open', 'GET /livez'],
  ['open', 'GET /readyz'],
  ['token', 'GET /metrics'],
  ['open', 'GET /openapi.json'],
  ['open', 'GET /docs'],
  ['open', 'GET /console'],
  ['open', 'GET /console/app.js'],
  ['open', 'GET /console/api/session'],
  ['open', 'DELETE /console/api/session'],
  ['key', 'GET /console/api/connect'],
  ['usage', 'GET /console/api/keys'],
  ['admin', 'GET /console/api/admin/accounts'],
  ['admin', 'POST /console/api/admin/accounts'],
  ['admin', 'POST /console/api/admin/accounts/credit'],
  ['admin', 'POST /console/api/admin/accounts/metering'],
  ['admin', 'POST /console/api/admin/accounts/disable'],
  ['admin', 'POST /console/api/admin/accounts/enable'],
  ['admin', 'POST /console/api/admin/accounts/rename'],
  ['admin', 'POST /console/api/admin/accounts/role'],
  ['admin', 'POST /console/api/admin/accounts/remove'],
  ['admin', 'GET /console/api/admin/keys'],
  ['admin', 'POST /console/api/admin/keys'],
  ['admin', 'DELETE /console/api/admin/keys/none'],
  ['admin', 'GET /console/api/admin/models'],
  ['admin', 'GET /console/api/admin/models/none/sample'],
  ['admin', 'POST /console/api/admin/models/none/pull'],
  ['admin', 'DELETE /console/api/admin/models/none/pull'],
  ['admin', 'DELETE /console/api/admin/models/none'],
  ['admin', 'GET /console/api/admin/server'],
  // In ElevenLabs' protocol, which the header of the key chooses.
  ['tts', 'xi POST /v1/text-to-speech/VOICE'],
  ['tts', 'xi POST /v1/text-to-speech/VOICE/stream'],
  ['tts', 'xi POST /v1/text-to-speech/VOICE/with-timestamps'],
  ['tts', 'xi POST /v1/text-to-speech/VOICE/stream/with-timestamps'],
  ['tts', 'xi POST /v1/speech-to-text'],
  ['voices', 'xi GET /v1/voices'],
  ['voices', 'xi GET /v2/voices'],
  ['voices', 'xi GET /v1/voices/VOICE'],
  ['voices', 'xi POST /v1/voices/add'],
  ['voices', 'xi POST /v1/voices/VOICE/edit'],
  ['voices', 'xi DELETE /v1/voices/VOICE'],
  ['key', 'xi GET /v1/models'],
  ['usage', 'xi GET /v1/user'],
  ['usage', 'xi GET /v1/user/subscription'],
]

/** Where only ElevenLabs' protocol has an address, a request without its header finds none. */
const theirsAlone = /^xi (POST .*(text-to-speech|speech-to-text|edit)|GET \/v2|GET \/v1\/user)/

interface Caller {
  key: string | undefined
  /** null: without a valid credential. */
  scopes: readonly string[] | 'all' | null
  isAdmin: boolean
  /** Whether the requested resource is the caller's own. */
  isOwner: boolean
  /** The code of its refusal. */
  refusal?: string
}

let instance: Instance
let callers: Record<string, Caller>
const ids = { VOICE: '', OPERATION: '', CONSENT: '' }

beforeAll(async () => {
  const many = 1_000_000
  instance = await startInstance({
    speechPerMinute: many,
    clonesPerMinute: many,
    transcriptionsPerMinute: many,
    operationsPerMinute: many,
    publicPerMinute: many,
    metricsToken: 'a token of the metrics',
  })
  const { administration } = instance.server
  const keyOf = async (account: string, scopes: string[] | null = null, expires: string | null = null) =>
    administration.createKey({ account, name: 'k', scopes, expires })
  const ada = (await keyOf('ada')).secret
  const revoked = await keyOf('ada')
  await administration.revokeKey({ id: revoked.key.id })
  const disabled = (await keyOf('left')).secret
  await administration.disableAccount({ name: 'left' })
  const expired = (await keyOf('ada', null, '1h')).secret
  instance.clock.advance(2 * 3_600_000)
  ids.VOICE = (await instance.cloned(ada)).voice_id
  const spoken = await instance.speak(ada)
  await spoken.arrayBuffer()
  ids.OPERATION = spoken.headers.get('x-request-id') ?? ''
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'A', language: 'en', recording: hum(4) })) form.append(name, value)
  const agreed = await instance.fetch('/v1/audio/voice_consents', { method: 'POST', key: ada, body: form })
  ids.CONSENT = ((await agreed.json()) as { id: string }).id
  const user = { isAdmin: false, isOwner: true } as const
  const stranger = { isAdmin: false, isOwner: false, scopes: null } as const
  const admin = { isAdmin: true, isOwner: false } as const
  callers = {
    none: { ...stranger, key: undefined, refusal: 'missing_api_key' },
    garbage: { ...stranger, key: `sk-myna-${'x'.repeat(43)}`, refusal: 'invalid_api_key' },
    'another scheme': { ...stranger, key: 'a b', refusal: 'invalid_authorization_header' },
    tts: { ...user, key: (await keyOf('ada', ['tts'])).secret, scopes: ['tts'] },
    voices: { ...user, key: (await keyOf('ada', ['voices'])).secret, scopes: ['voices'] },
    usage: { ...user, key: (await keyOf('ada', ['usage'])).secret, scopes: ['usage'] },
    full: { ...user, key: ada, scopes: 'all' },
    'another account': { ...user, isOwner: false, key: (await keyOf('bob')).secret, scopes: 'all' },
    disabled: { ...stranger, key: disabled, refusal: 'account_disabled' },
    revoked: { ...stranger, key: revoked.secret, refusal: 'invalid_api_key' },
    expired: { ...stranger, key: expired, refusal: 'expired_api_key' },
    admin: { ...admin, key: instance.adminKey, scopes: 'all' },
    'admin, for tts': { ...admin, key: (await keyOf('admin', ['tts'])).secret, scopes: ['tts'] },
    'admin, for all scopes': {
      ...admin,
      key: (await keyOf('admin', ['tts', 'usage', 'voices'])).secret,
      scopes: ['tts', 'usage', 'voices'],
    },
  }
})
afterAll(() => instance[Symbol.asyncDispose]())

/** The expected code of the refusal; null: it is admitted. */
function due(need: Need, { key, scopes, isAdmin, refusal }: Caller): string | null {
  if (need === 'open' || ((need === 'valid' || need === 'picker') && key === undefined)) return null
  // To this route all bearer tokens are equal.
  if (need === 'token') return 'invalid_api_key'
  if (scopes === null) return refusal ?? null
  if (need === 'admin') return isAdmin && scopes === 'all' ? null : 'admin_required'
  if (need === 'key' || need === 'preview' || need === 'valid') return null
  if (scopes === 'all') return null
  if (need === 'picker') return scopes.some((scope) => scope !== 'usage') ? null : 'insufficient_scope'
  return scopes.includes(need) ? null : 'insufficient_scope'
}

/** The same, where a header without a scheme has the key. */
function dueByHeader(need: Need, route: string, caller: Caller): string | null {
  if (caller.key === undefined && theirsAlone.test(route)) return 'unknown_url'
  const code = due(need, caller)
  return code === 'invalid_authorization_header' ? 'invalid_api_key' : code
}

function bodyOf(route: string): string | FormData {
  if (!route.endsWith('/edit')) return '{"name":"x","text":"x"}'
  const form = new FormData()
  form.append('name', 'x')
  return form
}

const isByHeader = (route: string): boolean => route.startsWith('xi ')

async function ask(route: string, { key, scopes }: Caller, by: Record<string, string> = ids) {
  const target = route.replace(/^xi /, '').replace(/VOICE|OPERATION|CONSENT/, (name) => by[name] ?? '')
  const [method = '', path = ''] = target.split(' ')
  // Only ten wrong keys a minute get this answer, so time has to pass.
  if (scopes === null) instance.clock.advance(6500)
  const hasBody = method === 'POST' || method === 'PATCH'
  const credential = key === undefined ? {} : isByHeader(route) ? { headers: { 'xi-api-key': key } } : { key }
  const init = { method, ...credential, ...(hasBody ? { body: bodyOf(route) } : {}) }
  const answer = await instance.fetch(path, init)
  const text = await answer.text()
  const isError = answer.status >= 400 && text.startsWith('{"error"')
  const { error } = isError ? (JSON.parse(text) as { error: { code: string; message: string } }) : { error: null }
  return { status: answer.status, code: error?.code ?? null, message: error?.message ?? null }
}

const refusals =
  /^(unknown_url|missing_api_key|invalid_a|expired_api_key|account_disabled|insufficient_scope|admin_required)/

/** Whether it changes or removes its target. */
const destroys = (route: string) => /^(?:xi )?(DELETE|PATCH|POST) .*(VOICE|CONSENT)/.test(route)

describe('every route', () => {
  test('that is documented is in the table', async () => {
    const document = (await (await instance.fetch('/openapi.json')).json()) as { paths: Record<string, object> }
    const shape = (path: string) =>
      path.replace(/\{[^}]*\}|VOICE|OPERATION|CONSENT|(?<=\/models\/)[^/]+|(?<=\/keys\/)[^/]+/g, '*')
    const known = new Set(routes.map(([, route]) => shape(route.replace(/^xi /, ''))))
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => shape(`${method.toUpperCase()} ${path}`)),
    )
    expect(documented.filter((route) => !known.has(route))).toEqual([])
  })

  test('admits the right callers, and refuses the others with the right code', async () => {
    const wrong: string[] = []
    let asked = 0
    for (const [need, route] of routes) {
      for (const [name, caller] of Object.entries(callers)) {
        const code = isByHeader(route) ? dueByHeader(need, route, caller) : due(need, caller)
        // An admitted destructive request is tried on a missing target.
        const answer = await ask(route, caller, code === null && destroys(route) ? unknown : ids)
        asked++
        const isRight = code === null ? !refusals.test(answer.code ?? '') : answer.code === code
        if (!isRight) wrong.push(`${route} by ${name}: ${answer.status} ${answer.code}, not ${code ?? 'let in'}`)
      }
    }
    expect(wrong).toEqual([])
    expect(asked).toBe(routes.length * 14)
  })

  test("gives the same answer for another account's property as for a missing one", async () => {
    const owned = routes.filter(([need, route]) => need !== 'admin' && /VOICE|OPERATION|CONSENT/.test(route))
    expect(owned).toHaveLength(20)
    for (const [, route] of owned) {
      for (const name of ['another account', 'admin'] as const) {
        const [theirs, none] = [await ask(route, callers[name]!), await ask(route, callers[name]!, unknown)]
        const plain = (text: string | null) => text?.replace(/'[^']*'/g, "''") ?? null
        expect([route, name, theirs.status]).toEqual([route, name, 404])
        expect({ ...theirs, message: plain(theirs.message) }).toEqual({ ...none, message: plain(none.message) })
      }
    }
    expect((await ask('GET /v1/voices/VOICE', callers.full!)).status).toBe(200)
    expect((await ask('GET /v1/audio/voice_consents/CONSENT', callers.full!)).status).toBe(200)
  })
})

const unknown = {
  VOICE: 'voice_00000000000000000000000000',
  OPERATION: 'op_00000000000000000000000000',
  CONSENT: 'cons_00000000000000000000000000',
}
