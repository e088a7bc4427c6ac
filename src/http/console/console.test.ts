import { afterAll, beforeAll, expect, test } from 'bun:test'
import { keepingLog } from '../../log.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

let instance: Instance
beforeAll(async () => {
  instance = await startInstance()
})
afterAll(() => instance[Symbol.asyncDispose]())

interface Session {
  cookie: string
  setCookie: string
  status: number
  body: { account?: { name: string; is_admin: boolean }; error?: { code: string } }
}

const own = () => ({ origin: new URL(instance.url).origin, 'sec-fetch-site': 'same-origin' })

async function signIn(key: string, headers: Record<string, string> = own()): Promise<Session> {
  const body = JSON.stringify({ api_key: key })
  const answer = await instance.fetch('/console/api/session', { method: 'POST', headers, body })
  const setCookie = answer.headers.get('set-cookie') ?? ''
  const [cookie = ''] = setCookie.split(';')
  return { cookie, setCookie, status: answer.status, body: (await answer.json()) as Session['body'] }
}

async function call(path: string, session: { cookie: string }, init: RequestInit = {}) {
  const headers = { ...own(), cookie: session.cookie, ...(init.headers as Record<string, string> | undefined) }
  const answer = await instance.fetch(path, { ...init, headers })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

const post = (path: string, session: { cookie: string }, body: unknown) =>
  call(path, session, { method: 'POST', body: JSON.stringify(body) })

test('a key opens a session, which works on every route and which no script can read', async () => {
  const session = await signIn(await instance.key({ account: 'ada' }))
  expect([session.status, session.body.account?.name]).toEqual([200, 'ada'])
  expect(session.setCookie).toMatch(/^myna_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
  expect((await call('/v1/me', session)).body.name).toBe('ada')
  expect((await call('/console/api/session', session)).body.account.name).toBe('ada')
  const spoken = { input: 'hello there', voice: 'alloy', response_format: 'pcm' }
  const headers = { ...own(), cookie: session.cookie }
  const answer = await instance.fetch('/v1/audio/speech', { method: 'POST', headers, body: JSON.stringify(spoken) })
  expect([answer.status, (await answer.bytes()).length > 0]).toEqual([200, true])
  const { body } = await call('/v1/operations', session)
  expect(body).toMatchObject({ has_more: false, data: [{ type: 'speech', model: 'hibari', input_chars: 11 }] })
})

test('a wrong key opens no session, and too many attempts are slowed down', async () => {
  await using other = await startInstance()
  const attempt = async () => {
    const headers = { origin: new URL(other.url).origin }
    const body = JSON.stringify({ api_key: `sk-myna-${'x'.repeat(43)}` })
    const answer = await other.fetch('/console/api/session', { method: 'POST', headers, body })
    return [answer.status, answer.headers.get('set-cookie')]
  }
  for (let n = 0; n < 10; n++) expect(await attempt()).toEqual([401, null])
  expect(await attempt()).toEqual([429, null])
})

test('another origin can neither sign in, nor sign out, nor use a session', async () => {
  const key = await instance.key({ account: 'bea' })
  const session = await signIn(key)
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const refused = await signIn(key, foreign)
  expect([refused.status, refused.body.error?.code, refused.setCookie]).toEqual([403, 'foreign_origin', ''])
  expect((await call('/console/api/session', session, { method: 'DELETE', headers: foreign })).status).toBe(403)
  expect((await call('/v1/me', session, { headers: foreign })).status).toBe(401)
  const spoken = { method: 'POST', body: JSON.stringify({ input: 'hi', voice: 'alloy' }) }
  expect((await call('/v1/audio/speech', session, { ...spoken, headers: foreign })).status).toBe(401)
  const anonymous = { cookie: session.cookie }
  const noOrigin = await instance.fetch('/v1/audio/speech', { ...spoken, headers: anonymous })
  expect(noOrigin.status).toBe(401)
  expect((await call('/v1/me', session)).status).toBe(200)
})

test('the link of the first start signs in once, within ten minutes, and a preview does not use it up', async () => {
  await using fresh = await startInstance()
  const path = fresh.server.signInPath ?? ''
  const [page = '', link = ''] = path.split('#sign-in=')
  expect([page, Buffer.from(link, 'base64url').length]).toEqual(['/console', 32])
  const headers = { origin: new URL(fresh.url).origin, 'sec-fetch-site': 'same-origin' }
  const use = async (change: Record<string, string> = {}) => {
    const body = JSON.stringify({ link })
    const answer = await fresh.fetch('/console/api/session', {
      method: 'POST',
      headers: { ...headers, ...change },
      body,
    })
    return [answer.status, ((await answer.json()) as Session['body']).account?.name, answer.headers.has('set-cookie')]
  }
  for (const method of ['GET', 'HEAD']) expect((await fresh.fetch(path, { method })).status).toBe(200)
  expect((await fresh.fetch(`/console/api/session?link=${link}`)).status).toBe(200)
  expect(await use({ 'sec-fetch-site': 'cross-site' })).toEqual([403, undefined, false])
  expect(await use()).toEqual([200, 'admin', true])
  expect(await use()).toEqual([401, undefined, false])
})

test('the link of the first start expires after ten minutes, and a second start has none', async () => {
  const dataDir = temporaryFolder()
  {
    await using fresh = await startInstance({ dataDir })
    fresh.clock.advance(600_000)
    const body = JSON.stringify({ link: fresh.server.signInPath?.split('=')[1] })
    const headers = { origin: new URL(fresh.url).origin }
    const late = await fresh.fetch('/console/api/session', { method: 'POST', headers, body })
    expect([late.status, await late.text()]).toEqual([401, expect.stringContaining('older than ten minutes')])
  }
  await using again = await startInstance({ dataDir })
  expect(again.server.signInPath).toBeNull()
})

test('a session survives a restart of the server', async () => {
  const dataDir = temporaryFolder()
  let cookie = ''
  {
    await using first = await startInstance({ dataDir })
    const headers = { origin: new URL(first.url).origin }
    const body = JSON.stringify({ api_key: first.adminKey })
    const answer = await first.fetch('/console/api/session', { method: 'POST', headers, body })
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  await using second = await startInstance({ dataDir })
  const me = await second.fetch('/v1/me', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  expect([me.status, ((await me.json()) as { name: string }).name]).toEqual([200, 'admin'])
})

test('signing out ends the session, revoking the key does too', async () => {
  const key = await instance.key({ account: 'cyd' })
  const [first, second] = [await signIn(key), await signIn(key)]
  expect((await call('/console/api/session', first, { method: 'DELETE' })).status).toBe(204)
  expect([(await call('/v1/me', first)).status, (await call('/v1/me', second)).status]).toEqual([401, 200])
  const [issued] = await instance.server.administration.listKeys({ account: 'cyd' })
  await instance.server.administration.revokeKey({ id: issued!.id })
  expect((await call('/v1/me', second)).body.error.code).toBe('invalid_api_key')
})

test('an anonymous visitor gets an answer, not an error', async () => {
  const answer = await instance.fetch('/console/api/session')
  expect([answer.status, await answer.json()]).toEqual([200, null])
})

test('a key in a header takes precedence over the session', async () => {
  const session = await signIn(await instance.key({ account: 'dan' }))
  const authorization = `Bearer ${await instance.key({ account: 'eve' })}`
  expect((await call('/v1/me', session, { headers: { authorization } })).body.name).toBe('eve')
})

test('scopes apply in a session, too', async () => {
  const session = await signIn(await instance.key({ account: 'fay', scopes: ['voices'] }))
  expect((await call('/v1/operations', session)).body.error.code).toBe('insufficient_scope')
  expect((await call('/v1/voices', session)).status).toBe(200)
})

test('operations come in pages, the newest first, own ones only', async () => {
  const [mine, theirs] = [await instance.key({ account: 'gil' }), await instance.key({ account: 'hal' })]
  for (const key of [mine, mine, theirs, mine]) await (await instance.speak(key)).bytes()
  const session = await signIn(mine)
  const list = async (query: string) => (await call(`/v1/operations${query}`, session)).body
  const all = await list('')
  const ids: string[] = all.data.map((operation: { id: string }) => operation.id)
  expect(ids).toHaveLength(3)
  expect(ids).toEqual(ids.toSorted().reverse())
  const first = await list('?limit=2')
  expect([first.data.length, first.has_more]).toEqual([2, true])
  const rest = await list(`?limit=2&before=${first.data[1].id}`)
  expect([rest.data[0].id, rest.has_more]).toEqual([ids[2], false])
  for (const wrong of ['0', '201', 'x', '1.5']) {
    expect((await call(`/v1/operations?limit=${wrong}`, session)).status).toBe(422)
  }
})

test('an administrator creates accounts and keys; a key is shown once', async () => {
  const admin = await signIn(instance.adminKey)
  const made = await post('/console/api/admin/accounts', admin, { name: 'ida', balance_micros: 500 })
  expect([made.status, made.body]).toMatchObject([201, { name: 'ida', is_admin: false, balance_micros: 500 }])
  const credited = await post('/console/api/admin/accounts/credit', admin, { name: 'ida', amount_micros: 250 })
  expect(credited.body.balance_micros).toBe(750)
  const meter = (balance: number | null) =>
    post('/console/api/admin/accounts/metering', admin, { name: 'ida', balance_micros: balance })
  expect([(await meter(null)).body.balance_micros, (await meter(80)).body.balance_micros]).toEqual([null, 80])
  expect((await meter(80)).body.error.code).toBe('validation_error')
  const limit = (limits: unknown) => post('/console/api/admin/accounts/limits', admin, { name: 'ida', limits })
  expect((await limit({ speech_concurrency: 3 })).body.limits).toMatchObject({
    speech_concurrency: 3,
    requests_per_minute: null,
  })
  expect((await limit(null)).body.limits.speech_concurrency).toBeNull()
  for (const wrong of [7, { other: 1 }, { speech_concurrency: 0 }]) {
    expect((await limit(wrong)).body.error.code).toBe('validation_error')
  }
  const key = { account: 'ida', name: 'laptop', scopes: ['tts'], expires: '30d' }
  const issued = await post('/console/api/admin/keys', admin, key)
  expect([issued.status, issued.body.scopes, issued.body.account]).toEqual([201, ['tts'], 'ida'])
  expect(issued.body.secret).toStartWith('sk-myna-')
  const listed = await call('/console/api/admin/keys', admin)
  const same = listed.body.data.find(({ id }: { id: string }) => id === issued.body.id)
  expect([same.name, same.secret, same.account]).toEqual(['laptop', undefined, 'ida'])
  const revoked = await call(`/console/api/admin/keys/${issued.body.id}`, admin, { method: 'DELETE' })
  expect([revoked.status, (await signIn(issued.body.secret)).status]).toEqual([204, 401])
  const disabled = await post('/console/api/admin/accounts/disable', admin, { name: 'ida' })
  expect(disabled.body.disabled_at).toBeNumber()
  const accounts = await call('/console/api/admin/accounts', admin)
  expect(accounts.body.data.map(({ name }: { name: string }) => name)).toContain('ida')
})

test("an administrator's invalid input is refused with an explanation", async () => {
  const admin = await signIn(instance.adminKey)
  const code = async (path: string, body: unknown) => {
    const answer = await post(`/console/api/admin/${path}`, admin, body)
    return `${answer.status} ${answer.body.error.code}`
  }
  expect(await code('accounts', { name: '' })).toBe('422 validation_error')
  expect(await code('accounts', {})).toBe('422 validation_error')
  expect(await code('accounts', { name: 'x', balance_micros: 1.5 })).toBe('422 validation_error')
  expect(await code('accounts/credit', { name: 'nobody', amount_micros: 1 })).toBe('422 validation_error')
  expect(await code('keys', { account: 'x', name: 'y', scopes: 'tts' })).toBe('422 validation_error')
  expect(await code('keys', { account: 'x', name: 'y', expires: 'soon' })).toBe('422 validation_error')
})

test('an administrator sees the service; its warnings come without their stacks', async () => {
  const admin = await signIn(instance.adminKey)
  instance.engine.plan = () => ({
    before: () => {
      throw new Error('the engine tripped')
    },
  })
  expect((await instance.speak(instance.adminKey)).status).toBe(500)
  instance.engine.plan = () => ({})
  await until('the failure is reported', () => instance.lines.some((line) => line.includes('WARN')))
  const { body } = await call('/console/api/admin/server', admin)
  expect(body).toMatchObject({ readiness: 'ready', queue: { running: 0 }, engines: [{ task: 'text-to-speech' }, {}] })
  expect(body.warnings[0]).toMatchObject({ message: expect.stringMatching(/^operation op_\w+ failed$/) })
  expect(body.warnings[0].cause).toBe('Error: the engine tripped')
})

test('a warning names its subject, and its reason in readable words', async () => {
  const log = keepingLog(() => {}, 'quiet', Date.now)
  await using other = await startInstance({}, { log })
  const origin = new URL(other.url).origin
  const warned = async () => {
    const answer = await other.fetch('/console/api/admin/server', { key: other.adminKey, headers: { origin } })
    return ((await answer.json()) as { warnings: unknown[] }).warnings[0]
  }
  const at = expect.any(Number)
  log.warn('a model is not whole', { model: 'kokoro-82m', files: 2, mend: 'myna models pull kokoro-82m' })
  const details = { model: 'kokoro-82m', files: '2', mend: 'myna models pull kokoro-82m' }
  expect(await warned()).toEqual({ at, message: 'a model is not whole', cause: null, details })
  log.warn('a model cannot be loaded', { model: 'x', cause: `${'long '.repeat(500)}\n  at stack (/folder/file.ts:1)` })
  const cause = `${'long '.repeat(400)}…`
  expect(await warned()).toEqual({ at, message: 'a model cannot be loaded', cause, details: { model: 'x' } })
})

test("an administrator sees the server's location, and the last lines of its log", async () => {
  const { body } = await call('/console/api/admin/server', await signIn(instance.adminKey))
  const { machine, log } = body
  expect(machine).toMatchObject({ url: instance.url, data_dir: instance.dataDir, database: 'SQLite', wyoming: null })
  expect(machine.disk.free_bytes).toBeGreaterThan(0)
  expect(machine.disk.free_bytes).toBeLessThanOrEqual(machine.disk.total_bytes)
  const written = instance.lines.map((line) => line.trimEnd())
  expect(log.at(-1)).toMatch(/ DEBUG POST \/console\/api\/session status=200 /)
  expect(log).toEqual(written.slice(written.indexOf(log[0]), written.indexOf(log.at(-1)) + 1))
})

test('every signed-in user sees how programs reach the server', async () => {
  const user = await signIn(await instance.key({ scopes: ['tts'] }))
  const own = { public_url: null, network_urls: [], wyoming_port: null, is_wyoming_open: false }
  expect((await call('/console/api/connect', user)).body).toEqual(own)
  await using open = await startInstance({ host: '0.0.0.0', publicUrl: 'https://voice.example' })
  const answer = await open.fetch('/console/api/connect', { key: open.adminKey })
  const { public_url: shown, network_urls: urls } = (await answer.json()) as {
    public_url: string
    network_urls: string[]
  }
  expect(shown).toBe('https://voice.example')
  for (const url of urls) expect(url).toMatch(/^http:\/\/\d+\.\d+\.\d+\.\d+:\d+$/)
  expect((await instance.fetch('/console/api/connect')).status).toBe(401)
})

test('an administrator sees every model; impossible installs and removals are refused with a reason', async () => {
  const admin = await signIn(instance.adminKey)
  const { body } = await call('/console/api/admin/models', admin)
  const states = new Map(body.data.map((model: { id: string; state: string }) => [model.id, model.state]))
  const recommended = body.data.filter((model: { recommended: boolean }) => model.recommended)
  const ids = recommended.map((model: { id: string }) => model.id)
  expect(ids).toEqual(expect.arrayContaining(['pocket-tts', 'kokoro-82m', 'whisper-small']))
  expect(new Set(recommended.map((model: { architecture: string }) => model.architecture)).size).toBe(ids.length)
  expect([states.get('hibari'), states.get('pocket-tts')]).toEqual(['built_in', 'absent'])
  const refusal = async (path: string, method: string) => {
    const answer = await call(`/console/api/admin/models/${path}`, admin, { method })
    return `${answer.status} ${answer.body.error.code}`
  }
  expect(await refusal('nothing/pull', 'POST')).toBe('404 model_not_found')
  expect(await refusal('hibari/pull', 'POST')).toBe('422 validation_error')
  expect(await refusal('hibari', 'DELETE')).toBe('422 validation_error')
  expect((await call('/console/api/admin/models/pocket-tts/pull', admin, { method: 'DELETE' })).status).toBe(204)
})

test('a model that is not installed can be heard where its sample is inside the program', async () => {
  const admin = await signIn(instance.adminKey)
  const { body } = await call('/console/api/admin/models', admin)
  const urls = new Map(
    body.data.map((model: { id: string; sample_url: string | null }) => [model.id, model.sample_url]),
  )
  const path = '/console/api/admin/models/kokoro-82m/sample'
  expect([urls.get('kokoro-82m'), urls.get('pocket-tts'), urls.get('hibari')]).toEqual([path, null, null])
  const headers = { range: 'bytes=0-3' }
  const answer = await instance.fetch(path, { key: instance.adminKey, headers })
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([206, 'audio/ogg', 'OggS'])
  const refused = await call('/console/api/admin/models/pocket-tts/sample', admin)
  expect([refused.status, refused.body.error.code]).toEqual([404, 'model_not_found'])
})

const adminPaths = ['accounts', 'keys', 'models', 'server'].map((name) => `/console/api/admin/${name}`)

test.each(adminPaths)('%s is for administrators with an unrestricted key', async (path) => {
  const user = await signIn(await instance.key())
  const { key, secret } = await instance.server.administration.createKey({
    account: 'admin',
    name: 'only for speaking',
    scopes: ['tts', 'voices', 'usage'],
    expires: null,
  })
  expect(key.scopes).toHaveLength(3)
  const limited = await signIn(secret)
  for (const session of [user, limited]) {
    expect((await call(path, session)).body.error.code).toBe('admin_required')
    expect((await post(path, session, { name: 'x' })).status).toBeOneOf([403, 405])
  }
  expect((await instance.fetch(path)).status).toBe(401)
})
