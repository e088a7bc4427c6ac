/** The catalog over HTTP: pages, filters, both list shapes, changes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Instance, startInstance, type VoiceJson } from '../../testing/instance.ts'

interface List {
  object: string
  data: VoiceJson[]
  has_more: boolean
  first_id: string | null
  last_id: string | null
  total_count: number
  voices?: VoiceJson[]
}

let instance: Instance
let key: string
let stranger: string
/** Own voices from the oldest, then a public one of an administrator. */
let ids: string[]
/** The newest first. */
const presets = ['wren', 'robin', 'merle', 'martin', 'lark', 'jay']
beforeAll(async () => {
  instance = await startInstance({ clonesPerMinute: 1000 })
  key = await instance.key()
  stranger = await instance.key()
  ids = []
  for (const [name, language] of [
    ['Ada', 'en-GB'],
    ['Bea', 'de'],
    ['Cy', 'en'],
  ] as const) {
    instance.clock.advance(1000)
    ids.push((await instance.cloned(key, { name, language, labels: `{"mood":"${name} smiles"}` })).voice_id)
  }
  instance.clock.advance(1000)
  ids.push((await instance.cloned(instance.adminKey, { name: 'Public', public: 'true' })).voice_id)
})
afterAll(() => instance[Symbol.asyncDispose]())

const list = async (query = '', as = key) =>
  (await (await instance.fetch(`/v1/voices${query}`, { key: as })).json()) as List
const idsOf = ({ data }: List) => data.map(({ voice_id }) => voice_id)
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code

describe('the list', () => {
  test('has own voices and public ones, the newest first, in both shapes', async () => {
    const all = await list()
    expect(idsOf(all)).toEqual([...ids.toReversed(), ...presets])
    expect(all).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: ids[3]!,
      last_id: 'jay',
      total_count: 10,
      voices: all.data,
    })
    const bare = await list('?compat=0')
    expect(bare).toEqual({ ...bare, data: all.data })
    expect(bare.voices).toBeUndefined()
    expect(idsOf(await list('', stranger))).toEqual([ids[3]!, ...presets])
  })

  test('presets look like every voice', async () => {
    const preset = (await list('?search=lark')).data[0]
    expect(preset).toMatchObject({
      object: 'audio.voice',
      voice_id: 'lark',
      id: 'lark',
      name: 'Lark',
      category: 'premade',
      status: 'ready',
      is_owner: false,
      is_public: true,
      access: 'public',
      model: 'hibari',
      fidelity: 'native',
      preview_url: `${instance.url}/v1/voices/lark/preview`,
      aliases: [],
      samples: [],
      operation_id: null,
    })
    const clone = (await list('?owner=me')).data[0]
    expect(Object.keys(clone ?? {})).toEqual(Object.keys(preset ?? {}))
  })

  test.each<[string, (own: string[]) => string[]]>([
    ['?owner=me', (own) => [own[2]!, own[1]!, own[0]!]],
    ['?is_owner=true', (own) => [own[2]!, own[1]!, own[0]!]],
    ['?type=custom', (own) => [own[2]!, own[1]!, own[0]!]],
    ['?voice_type=personal', (own) => [own[2]!, own[1]!, own[0]!]],
    ['?owner=public', (own) => [own[3]!, ...presets]],
    ['?type=preset&order=asc', (own) => [...presets.toReversed(), own[3]!]],
    ['?category=premade', () => presets],
    ['?category=cloned&order=asc', (own) => own],
    ['?language=en-US', () => presets],
    ['?language=en-GB', (own) => [own[0]!]],
    ['?language=en&owner=me', (own) => [own[2]!, own[0]!]],
    ['?language=de', (own) => [own[1]!]],
    ['?status=failed', () => []],
    ['?search=SMILES', (own) => [own[2]!, own[1]!, own[0]!]],
    ['?q=announcements', () => ['jay']],
    ['?q=jay', () => ['jay']],
    ['?search=%25', () => []],
    ['?limit=2', (own) => [own[3]!, own[2]!]],
    ['?page_size=1&order=asc', () => ['jay']],
    ['?nonsense=1&cursor=x', (own) => [...own.toReversed(), ...presets]],
  ])('%s', async (query, expected) => {
    const page = await list(query)
    expect(idsOf(page)).toEqual(expected(ids))
    expect(page.first_id).toBe(expected(ids)[0] ?? null)
  })

  test.each([1, 2, 3, 5, 8])('is read to its end in both directions, %d at a time', async (limit) => {
    for (const order of ['asc', 'desc']) {
      const whole = idsOf(await list(`?order=${order}`))
      const seen: string[] = []
      for (let after = ''; ;) {
        const page = await list(`?order=${order}&limit=${limit}${after}`)
        expect(page.total_count).toBe(10)
        seen.push(...idsOf(page))
        if (!page.has_more) break
        after = `&after=${page.last_id}`
      }
      expect(seen).toEqual(whole)
      expect(await list(`?order=${order}&starting_after=${whole.at(-1)}`)).toMatchObject({ data: [], has_more: false })
      const back: string[] = []
      for (let before = whole.at(-1)!; ;) {
        const page = await list(`?order=${order}&limit=${limit}&before=${before}`)
        back.unshift(...idsOf(page))
        if (!page.has_more) break
        before = page.first_id!
      }
      expect(back).toEqual(whole.slice(0, -1))
    }
  })

  test.each([
    '?limit=0',
    '?limit=1001',
    '?limit=two',
    '?order=up',
    '?owner=you',
    '?type=other',
    '?status=gone',
    '?category=all',
    '?language=!',
    '?after=a~b',
    `?search=${'x'.repeat(300)}`,
  ])('%s is a 422 that names the field', async (query) => {
    const response = await instance.fetch(`/v1/voices${query}`, { key })
    const field = /\?(\w+)/.exec(query)?.[1]
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { error: { code: 'validation_error', param: field }, detail: [{ loc: ['query', field] }] },
    ])
  })

  test('a cursor that is not a voice, or another account’s, is invalid_cursor', async () => {
    for (const cursor of [ids[0], 'voice_nobody']) {
      for (const name of ['after', 'before']) {
        const response = await instance.fetch(`/v1/voices?${name}=${cursor}`, { key: stranger })
        expect([response.status, await codeOf(response)]).toEqual([422, 'invalid_cursor'])
      }
    }
  })

  test('without a key, for pickers: the public voices, and any page may read them', async () => {
    const response = await instance.fetch('/v1/audio/voices')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(idsOf((await response.json()) as List)).toEqual([ids[3]!, ...presets])
    const keyed = (await (await instance.fetch('/v1/audio/voices', { key })).json()) as List
    expect(keyed).toEqual(await list())
    expect((await instance.fetch('/v1/audio/voices', { key: 'sk-myna-wrong' })).status).toBe(401)
    const narrow = await instance.key({ scopes: ['usage'] })
    expect((await instance.fetch('/v1/audio/voices', { key: narrow })).status).toBe(403)
  })
})

test('preview addresses follow the Host header, and use TLS only if a trusted proxy says so', async () => {
  const address = async (of: Instance, as: string, headers: Record<string, string>) =>
    ((await (await of.fetch('/v1/voices/lark', { key: as, headers })).json()) as VoiceJson).preview_url
  const told = { host: 'voice.example:8080', 'x-forwarded-proto': 'https' }
  expect(await address(instance, key, told)).toBe('http://voice.example:8080/v1/voices/lark/preview')
  await using behind = await startInstance({ trustedProxies: ['127.0.0.1'] })
  const as = await behind.key()
  expect(await address(behind, as, told)).toBe('https://voice.example:8080/v1/voices/lark/preview')
  expect(await address(behind, as, { ...told, 'x-forwarded-proto': 'gopher' })).toStartWith('http://')
})

test('preview addresses use the public URL if one is set, whatever the request says', async () => {
  await using behind = await startInstance({ publicUrl: 'https://voice.example' })
  const as = await behind.key()
  const answer = await behind.fetch('/v1/voices/lark', { key: as, headers: { host: 'other.example:8080' } })
  expect(((await answer.json()) as VoiceJson).preview_url).toBe('https://voice.example/v1/voices/lark/preview')
})

test('a key for speech alone lists the voices that it may use, its own ones too', async () => {
  const account = 'speaker'
  const { voice_id: own } = await instance.cloned(await instance.key({ account }), { name: 'Mine' })
  const ids = async (scopes: string[]) => {
    const answer = await instance.fetch('/v1/audio/voices?limit=1000', { key: await instance.key({ account, scopes }) })
    return answer.status === 200
      ? ((await answer.json()) as { data: VoiceJson[] }).data.map(({ voice_id: id }) => id)
      : answer.status
  }
  expect(await ids(['tts'])).toEqual(expect.arrayContaining([own, 'lark']))
  expect(await ids(['voices'])).toEqual(expect.arrayContaining([own, 'lark']))
  expect(await ids(['usage'])).toBe(403)
  expect((await instance.fetch('/v1/voices', { key: await instance.key({ account, scopes: ['tts'] }) })).status).toBe(
    403,
  )
})

describe('changes', () => {
  const patch = (id: string, body: string | FormData, as = key) =>
    instance.fetch(`/v1/voices/${id}`, { method: 'PATCH', key: as, body })

  test('of named fields keep the rest', async () => {
    const { voice_id: id } = await instance.cloned(key, { name: 'Dora', description: 'Old.', labels: '{"a":"b"}' })
    instance.clock.advance(5000)
    const renamed = (await (await patch(id, '{"name":" Dorothy ","description":null}')).json()) as VoiceJson
    expect(renamed).toMatchObject({ name: 'Dorothy', description: null, labels: { a: 'b' } })
    expect(Number(renamed.updated_at)).toBe(Number(renamed.created_at) + 5)
    const labelled = await patch(id, '{"labels":{"c":"d"},"language":"en_us","aliases":["nova"]}')
    expect(await labelled.json()).toMatchObject({
      name: 'Dorothy',
      labels: { c: 'd' },
      language: 'en-US',
      aliases: ['nova'],
    })
    const cleared = await patch(id, '{"labels":null,"language":null,"aliases":null}')
    expect(await cleared.json()).toMatchObject({ labels: {}, language: null, aliases: [] })
    const form = new FormData()
    form.append('name', 'Doris')
    form.append('labels', '{"e":"f"}')
    expect(await (await patch(id, form)).json()).toMatchObject({ name: 'Doris', labels: { e: 'f' } })
    expect(await (await instance.fetch(`/v1/voices/${id}`, { key })).json()).toMatchObject({ name: 'Doris' })
    await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
  })

  test.each([
    '',
    '{',
    '[]',
    '{}',
    '{"unknown":1}',
    '{"name":""}',
    '{"name":7}',
    '{"labels":"{"}',
    '{"labels":{"":"x"}}',
    '{"labels":{"a":null}}',
    '{"aliases":"nova"}',
    '{"aliases":["a","A"]}',
    '{"language":"?"}',
  ])('%s is a 422', async (body) => {
    const response = await patch(ids[0]!, body)
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { error: { code: 'validation_error' }, detail: [{ loc: ['body', expect.any(String)] }] },
    ])
  })

  test("to an alias of the account's other voice are refused; another account may use it", async () => {
    expect((await patch(ids[0]!, '{"aliases":["mom"]}')).status).toBe(200)
    const taken = await patch(ids[1]!, '{"aliases":["MOM"]}')
    expect([taken.status, await taken.json()]).toMatchObject([422, { error: { param: 'aliases' } }])
    expect((await patch(ids[0]!, '{"aliases":["Mom","mama"]}')).status).toBe(200)
    expect((await patch(ids[3]!, '{"aliases":["mom"]}', instance.adminKey)).status).toBe(200)
    expect((await patch(ids[0]!, '{"aliases":[]}')).status).toBe(200)
  })

  test('of a visible voice of another account are voice_not_owned', async () => {
    for (const id of ['lark', ids[3]!]) {
      const change = await patch(id, '{"name":"x"}')
      expect([id, change.status, await codeOf(change)]).toEqual([id, 403, 'voice_not_owned'])
      const end = await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
      expect([id, end.status, await codeOf(end)]).toEqual([id, 403, 'voice_not_owned'])
    }
  })
})

describe('another account’s private voice counts as missing', () => {
  const routes: [string, string, RequestInit][] = [
    ['GET', '', {}],
    ['HEAD', '', {}],
    ['PATCH', '', { body: '{"name":"mine now"}' }],
    ['PATCH', '', { body: '{' }],
    ['DELETE', '', {}],
    ['GET', '/preview', {}],
    ['HEAD', '/preview', {}],
    ['GET', '/preview?response_format=mp3', {}],
    ['GET', '/preview.png', {}],
    ['GET', '/preview.webp?theme=dark', {}],
    ['PUT', '', {}],
    ['POST', '/preview', {}],
  ]
  const nobody = 'voice_00000000000000000000000000'

  /** Everything of an answer that must not distinguish one id from another. */
  async function told(response: Response, id: string) {
    const headers = Object.fromEntries(response.headers)
    for (const name of ['date', 'x-request-id', 'x-ratelimit-remaining-requests']) delete headers[name]
    return {
      status: response.status,
      headers,
      body: (await response.text()).replace(/req_\w+/g, 'R').replaceAll(id, 'V'),
    }
  }

  test.each(routes)('%s %s', async (method, path, init) => {
    for (const as of [stranger, undefined]) {
      const ask = (id: string) =>
        instance.fetch(`/v1/voices/${id}${path}`, { ...init, method, ...(as === undefined ? {} : { key: as }) })
      expect(await told(await ask(ids[0]!), ids[0]!)).toEqual(await told(await ask(nobody), nobody))
    }
  })

  test('in speech, by id, name and alias, and as a cursor', async () => {
    await instance.fetch(`/v1/voices/${ids[0]}`, { method: 'PATCH', key, body: '{"aliases":["secret alias"]}' })
    for (const [name, none] of [
      [ids[0]!, nobody],
      ['Ada', 'Nobody'],
      ['secret alias', 'no such alias'],
    ] as const) {
      const asked = async (voice: string) => {
        const answer = await told(await instance.speak(stranger, { voice }), voice)
        return { ...answer, headers: { ...answer.headers, 'content-length': '' } }
      }
      const foreign = await asked(name)
      expect(foreign.status).toBe(404)
      expect(foreign).toEqual(await asked(none))
    }
    const cursor = async (id: string) => told(await instance.fetch(`/v1/voices?after=${id}`, { key: stranger }), id)
    expect(await cursor(ids[0]!)).toEqual(await cursor(nobody))
    expect((await list('?search=ada', stranger)).total_count).toBe(0)
  })

  test('also while it is being made or has failed, even if it is meant to be public', async () => {
    const { learn } = instance.engine
    const { promise, reject } = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => promise
    const made = (await (await instance.clone(instance.adminKey, { public: 'true' })).json()) as VoiceJson
    const seen = async () => (await instance.fetch(`/v1/voices/${made.voice_id}`, { key })).status
    expect(await seen()).toBe(404)
    reject(new Error('no'))
    await instance.voice(instance.adminKey, made.voice_id)
    instance.engine.learn = learn
    expect(await seen()).toBe(404)
    expect((await instance.fetch(`/v1/voices/${made.voice_id}/preview`)).status).toBe(401)
  })
})

test.each(['a~b', 'x'.repeat(129), '%ff', '%zz', 'a%2Fb'])(
  'the id %s is a 422 on every route, after the gate',
  async (id) => {
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
    ] as const) {
      const init = method === 'PATCH' ? { method, body: '{"name":"x"}' } : { method }
      const response = await instance.fetch(`/v1/voices/${id}${path}`, { ...init, key })
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { error: { code: 'validation_error', param: 'voice_id' }, detail: [{ type: 'string_pattern_mismatch' }] },
      ])
      expect((await instance.fetch(`/v1/voices/${id}${path}`, init)).status).toBe(401)
    }
    expect((await instance.fetch(`/v1/voices/${id}/preview`)).status).toBe(422)
  },
)

test('an unsupported method is a 405 that names the supported ones', async () => {
  const allowed = async (method: string, path: string) => {
    const response = await instance.fetch(path, { method })
    return [response.status, response.headers.get('allow')?.split(', ').sort().join(' ')]
  }
  expect(await allowed('PUT', '/v1/voices')).toEqual([405, 'GET HEAD OPTIONS POST'])
  expect(await allowed('POST', `/v1/voices/${ids[0]}`)).toEqual([405, 'DELETE GET HEAD OPTIONS PATCH'])
  expect(await allowed('DELETE', `/v1/voices/lark/preview`)).toEqual([405, 'GET HEAD OPTIONS'])
  expect((await instance.fetch('/v1/voices/lark/nothing', { key })).status).toBe(404)
})
