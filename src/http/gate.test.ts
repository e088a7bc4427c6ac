import { describe, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../testing/instance.ts'

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code
const me = (instance: Instance, headers: Record<string, string>) => instance.fetch('/v1/me', { headers })

describe('credentials', () => {
  test('each kind of wrong one gets its code', async () => {
    await using instance = await startInstance()
    const good = await instance.key()
    const cases: [Record<string, string>, number, string | null][] = [
      [{}, 401, 'missing_api_key'],
      [{ authorization: 'Bearer' }, 401, 'missing_api_key'],
      [{ authorization: 'Bearer   ' }, 401, 'missing_api_key'],
      [{ authorization: `Basic ${good}` }, 401, 'invalid_authorization_header'],
      [{ authorization: good }, 401, 'invalid_authorization_header'],
      [{ authorization: `Bearer ${good} ${good}` }, 401, 'invalid_authorization_header'],
      [{ authorization: 'Bearer sk-myna-wrong' }, 401, 'invalid_api_key'],
      [{ authorization: `Bearer ${good}x` }, 401, 'invalid_api_key'],
      [{ authorization: `bearer  ${good} ` }, 200, null],
      [{ authorization: `BEARER ${good}` }, 200, null],
      [{ 'xi-api-key': good }, 200, null],
      [{ 'x-api-key': good }, 200, null],
      [{ 'api-key': good }, 200, null],
      [{ authorization: 'Bearer wrong', 'xi-api-key': good }, 401, 'invalid_api_key'],
    ]
    for (const [headers, status, code] of cases) {
      const response = await me(instance, headers)
      expect([headers, response.status]).toEqual([headers, status])
      if (code !== null) expect(await codeOf(response)).toBe(code)
    }
  })

  test('a refusal never echoes the key', async () => {
    await using instance = await startInstance()
    const wrong = `sk-myna-${'Z'.repeat(30)}tail1`
    const text = await (await me(instance, { authorization: `Bearer ${wrong}` })).text()
    expect(text).toContain('sk-myna-****ail1')
    expect(text).not.toContain('ZZZZZ')
    expect(instance.lines.join('')).not.toContain('ZZZZZ')
  })

  test('expired, revoked and disabled ones are refused, each with its own message', async () => {
    await using instance = await startInstance()
    const { administration } = instance.server
    const issue = (expires: string | null) =>
      administration.createKey({ account: 'ada', name: 'k', scopes: null, expires })
    const [expiring, revoked, plain] = [await issue('1h'), await issue(null), await issue(null)]
    await administration.revokeKey({ id: revoked.key.id })
    instance.clock.advance(3_600_000)
    const codeWith = async (key: string) => codeOf(await instance.fetch('/v1/me', { key }))
    expect(await codeWith(expiring.secret)).toBe('expired_api_key')
    expect(await codeWith(revoked.secret)).toBe('invalid_api_key')
    expect((await instance.fetch('/v1/me', { key: plain.secret })).status).toBe(200)
    await administration.disableAccount({ name: 'ada' })
    expect(await codeWith(plain.secret)).toBe('account_disabled')
  })

  test('401 names the scheme, 403 the missing scope', async () => {
    await using instance = await startInstance()
    const missing = await me(instance, {})
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    const wrong = await me(instance, { authorization: 'Bearer nope' })
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    const key = await instance.key({ scopes: ['tts'] })
    const scoped = await instance.fetch('/v1/me', { key })
    expect(scoped.status).toBe(403)
    expect(scoped.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="usage"')
    const { error } = (await scoped.json()) as { error: Record<string, unknown> }
    expect(error).toMatchObject({ code: 'insufficient_scope', type: 'permission_error', required_scope: 'usage' })
  })
})

test('scopes allow exactly their routes', async () => {
  await using instance = await startInstance()
  const routes: [string, string, string | null][] = [
    ['POST', '/v1/audio/speech', 'tts'],
    ['POST', '/v1/audio/transcriptions', 'tts'],
    ['GET', '/v1/me', 'usage'],
    ['GET', '/v1/usage', 'usage'],
    ['GET', '/v1/models', null],
    ['GET', '/v1/models/hibari', null],
    ['POST', '/v1/audio/voices', 'voices'],
    ['GET', '/v1/voices', 'voices'],
    ['POST', '/v1/voices', 'voices'],
    ['POST', '/v1/voices/add', 'voices'],
    ['POST', '/v1/voices/clone', 'voices'],
    ['GET', '/v1/voices/lark', 'voices'],
    ['DELETE', '/v1/voices/nobody', 'voices'],
    ['GET', '/v1/voices/lark/preview', null],
  ]
  for (const scope of ['tts', 'voices', 'usage']) {
    const key = await instance.key({ scopes: [scope] })
    for (const [method, path, needed] of routes) {
      const { status } = await instance.fetch(path, { method, key })
      expect([path, scope, status === 403]).toEqual([path, scope, needed !== null && needed !== scope])
    }
  }
})

describe('failed attempts', () => {
  test('are throttled by address, while a valid key passes and a missing one does not count', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    for (let i = 0; i < 30; i++) expect(await codeOf(await me(instance, {}))).toBe('missing_api_key')
    for (let i = 0; i < 10; i++) expect((await me(instance, { authorization: 'Bearer no' })).status).toBe(401)
    const throttled = await me(instance, { authorization: 'Bearer no' })
    expect([throttled.status, await codeOf(throttled)]).toEqual([429, 'too_many_failed_attempts'])
    expect(throttled.headers.get('retry-after')).toBe('6')
    expect(throttled.headers.get('x-should-retry')).toBe('false')
    expect((await instance.fetch('/v1/me', { key })).status).toBe(200)
    instance.clock.advance(6000)
    expect((await me(instance, { authorization: 'Bearer no' })).status).toBe(401)
    expect((await me(instance, { authorization: 'Bearer no' })).status).toBe(429)
  })

  test('X-Forwarded-For counts only from a trusted proxy', async () => {
    const attempt = (instance: Instance, from: string) =>
      me(instance, { authorization: 'Bearer no', 'x-forwarded-for': from }).then(({ status }) => status)
    await using distrusting = await startInstance()
    for (let i = 0; i < 10; i++) await attempt(distrusting, `10.0.0.${i}`)
    expect(await attempt(distrusting, '10.0.0.99')).toBe(429)
    await using trusting = await startInstance({ trustedProxies: ['127.0.0.1'] })
    for (let i = 0; i < 11; i++) await attempt(trusting, '10.0.0.1')
    expect(await attempt(trusting, '10.0.0.1')).toBe(429)
    expect(await attempt(trusting, '10.0.0.2')).toBe(401)
    expect(await attempt(trusting, '10.0.0.1, 10.0.0.3')).toBe(401)
  })
})

describe('rate limits', () => {
  test('count by account, not by key, and say when to retry', async () => {
    await using instance = await startInstance({ requestsPerMinute: 3 })
    const [one, two] = [await instance.key({ account: 'ada' }), await instance.key({ account: 'ada' })]
    const other = await instance.key({ account: 'bob' })
    const first = await instance.fetch('/v1/me', { key: one })
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('3')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-reset-requests')).toBe('60s')
    await instance.fetch('/v1/me', { key: two })
    await instance.fetch('/v1/me', { key: one })
    const refused = await instance.fetch('/v1/me', { key: two })
    expect([refused.status, await codeOf(refused)]).toEqual([429, 'rate_limit_exceeded'])
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(Number(refused.headers.get('retry-after-ms'))).toBe(60_000)
    expect((await instance.fetch('/v1/me', { key: other })).status).toBe(200)
    instance.clock.advance(60_000)
    expect((await instance.fetch('/v1/me', { key: one })).status).toBe(200)
  })

  test('inspecting has an allowance of its own, with a burst limit', async () => {
    await using instance = await startInstance({ requestsPerMinute: 1, operationsPerMinute: 7, operationsPerSecond: 5 })
    const key = await instance.key()
    const inspect = () => instance.fetch('/v1/operations/op_x', { key }).then(({ status }) => status)
    await instance.fetch('/v1/me', { key })
    expect((await instance.fetch('/v1/me', { key })).status).toBe(429)
    for (let i = 0; i < 5; i++) expect(await inspect()).toBe(404)
    expect(await inspect()).toBe(429)
    instance.clock.advance(1000)
    expect([await inspect(), await inspect(), await inspect()]).toEqual([404, 404, 429])
  })

  test('keyless routes count by address', async () => {
    await using instance = await startInstance({ publicPerMinute: 2 })
    const voices = () => instance.fetch('/v1/audio/voices').then(({ status }) => status)
    expect([await voices(), await voices(), await voices()]).toEqual([200, 200, 429])
    expect((await instance.fetch('/v1/audio/voices', { key: await instance.key() })).status).toBe(200)
    expect((await instance.fetch('/v1/audio/voices', { key: 'wrong' })).status).toBe(401)
  })
})

test('anonymous mode maps a missing key to one account, and still refuses a wrong one', async () => {
  await using instance = await startInstance({ allowAnonymous: true })
  const response = await me(instance, {})
  expect(response.status).toBe(200)
  expect(((await response.json()) as { name: string }).name).toBe('anonymous')
  expect((await me(instance, { authorization: 'Bearer wrong' })).status).toBe(401)
})
