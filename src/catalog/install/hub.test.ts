import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { CardFile } from '../../domain/card.ts'
import { TestHub } from '../../testing/hub.ts'
import { deadlineMs, ImpatientTimer } from '../../testing/impatient-timer.ts'
import { never, publish, testRevision } from '../../testing/test-model.ts'
import { Hub } from './hub.ts'
import { pauseAskedMs } from './hub.ts'

let hub: TestHub
let large: CardFile
let small: CardFile
beforeAll(async () => {
  hub = await TestHub.start()
  const files = publish(hub, 'org/plain', 200, [
    { path: 'onnx/a b+c.onnx', sizeBytes: 5000, knows: 'nothing' },
    { path: 'config.json', sizeBytes: 300, isLarge: false, knows: 'nothing' },
  ])
  const [first, second] = files
  if (first === undefined || second === undefined) throw new Error('there are no files')
  large = first
  small = second
  publish(hub, 'org/gated', 201, [{ path: 'config.json', sizeBytes: 300 }])
  hub.gate('org/gated', 'hf_good')
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.requests.length = 0
  hub.trouble = () => null
})

const asked = (token: string | null = null, endpoint = hub.url) =>
  new Hub({ endpoint, token, timer: new ImpatientTimer(), answerMs: deadlineMs, userAgent: 'myna/1.2.3' })

const read = (there: Hub, file: CardFile) => there.read(file, 0, null, never, () => {})
const describe = (there: Hub, file: CardFile) => there.describe(file, never)

test('one question identifies a large file, and the host that has it is not asked', async () => {
  const facts = await describe(asked(), large)
  expect(facts).toEqual({
    commit: testRevision,
    sizeBytes: 5000,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    gitSha1: null,
  })
  expect(hub.requests.map(({ at, method, path }) => `${at} ${method} ${path}`)).toEqual([
    `hub HEAD /org/plain/resolve/${testRevision}/onnx/a b+c.onnx`,
  ])
  expect(hub.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'myna/1.2.3' })
})

test('a small file is found behind a relative redirect and identified by its git id', async () => {
  const gitSha1 = expect.stringMatching(/^[0-9a-f]{40}$/)
  expect(await describe(asked(), small)).toEqual({ commit: testRevision, sizeBytes: 300, sha256: null, gitSha1 })
  expect(hub.requests.map(({ at }) => at)).toEqual(['hub', 'hub'])
})

test('sends the token to the hub only', async () => {
  const { body } = await read(asked('hf_good'), large)
  await body.cancel()
  await (await read(asked('hf_good'), small)).body.cancel()
  expect(hub.requests.map(({ at, headers }) => [at, headers.authorization])).toEqual([
    ['hub', 'Bearer hf_good'],
    ['cdn', undefined],
    ['hub', 'Bearer hf_good'],
    ['hub', 'Bearer hf_good'],
  ])
})

test('a hub at another address that only redirects gets no token for the target', async () => {
  const mirror = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => Response.redirect(`${hub.url}${new URL(url).pathname}`, 308),
  })
  const facts = await describe(asked('hf_secret', `http://127.0.0.1:${mirror.port}`), large)
  // A hash that another host sends is not trusted, because its meaning is unknown.
  expect(facts).toEqual({ commit: null, sizeBytes: 5000, sha256: null, gitSha1: null })
  expect(hub.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  await mirror.stop(true)
})

test('follows the rename of a repository', async () => {
  hub.rename('org/old', 'org/plain')
  expect(await describe(asked(), { ...large, repo: 'org/old' })).toMatchObject({ sizeBytes: 5000 })
})

const refused: [string, Partial<CardFile>, string | null, string, RegExp][] = [
  [
    'a gate',
    { repo: 'org/gated' },
    null,
    'gated',
    /\/org\/gated requires accepting .* accept them; .*\/settings\/tokens; .*HF_TOKEN=hf_/,
  ],
  [
    'a gate for another account',
    { repo: 'org/gated' },
    'hf_other',
    'gated',
    /the account of HF_TOKEN has not done so, or its request is pending/,
  ],
  [
    'no such repository',
    { repo: 'org/none' },
    'hf_good',
    'not_on_hub',
    /no repository .*\/org\/none, or the account of HF_TOKEN has no access/,
  ],
  [
    'no such repository, or a private one',
    { repo: 'org/none' },
    null,
    'not_on_hub',
    /no repository .*\/org\/none, or it is private: set HF_TOKEN/,
  ],
  [
    'no such commit',
    { revision: 'f'.repeat(40) },
    null,
    'not_on_hub',
    /Revision f{40} does not exist in .*\/org\/plain/,
  ],
  ['no such file', { path: 'none.bin' }, null, 'not_on_hub', /no file none\.bin in .*\/org\/plain at revision 0123/],
]

test.each(refused)('explains %s', async (_what, change, token, code, words) => {
  const file = { ...small, ...change }
  for (const ask of [describe, read]) {
    const error = await ask(asked(token), file).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) })
  }
})

test('the right token opens a gated repository', async () => {
  expect(await describe(asked('hf_good'), { ...small, repo: 'org/gated' })).toMatchObject({ sizeBytes: 300 })
})

test('a token that the hub does not know is named as the cause', async () => {
  const headers = { 'x-error-message': 'Invalid credentials in Authorization header' }
  hub.trouble = () => ({ kind: 'refuse', status: 401, headers })
  await expect(describe(asked('hf_typo'), large)).rejects.toMatchObject({
    code: 'hub_refused',
    message: expect.stringMatching(
      /^The hub does not accept the token in HF_TOKEN.* The hub says: Invalid credentials/,
    ),
  })
})

test("the hub's own message is added in one line, whether it comes as JSON or as text", async () => {
  const body = JSON.stringify({ error: 'Access to this resource is disabled.\nSorry.' })
  hub.trouble = () => ({ kind: 'refuse', status: 403, headers: { 'content-type': 'application/json' }, body })
  await expect(read(asked(), large)).rejects.toThrow(
    /\(403\)\. The hub says: Access to this resource is disabled\. Sorry\.$/,
  )
  hub.trouble = () => ({ kind: 'refuse', status: 403, body: 'x'.repeat(1000) })
  await expect(read(asked(), large)).rejects.toThrow(/The hub says: x{300}\.\.\.$/)
})

test('refuses another commit than the requested one', async () => {
  const headers = { 'x-repo-commit': 'a'.repeat(40), location: '/' }
  hub.trouble = () => ({ kind: 'refuse', status: 302, headers })
  await expect(read(asked(), large)).rejects.toMatchObject({
    code: 'other_content',
    message: expect.stringContaining(`commit ${'a'.repeat(40)}; the model's card expects ${testRevision}`),
  })
})

test.each([
  ['in a circle', '', /redirects .* more than 10 times/],
  ['out of the web', 'file:///etc/passwd', /redirects to "file:\/\/\/etc\/passwd", which is not followed/],
  ['nowhere', null, /redirects to null, which is not followed/],
])('a redirect that leads %s is not followed', async (_where, location, words) => {
  const headers: Record<string, string> = location === null ? {} : { location }
  hub.trouble = () => ({ kind: 'refuse', status: 302, headers })
  await expect(read(asked(), large)).rejects.toThrow(words)
})

test('a request ends when the caller aborts it', async () => {
  const stop = new AbortController()
  hub.trouble = () => {
    stop.abort(new Error('enough'))
    return null
  }
  await expect(asked().describe(large, stop.signal)).rejects.toThrow('enough')
})

test('reads the requested pause in three formats', () => {
  const of = (headers: Record<string, string>) => pauseAskedMs(new Headers(headers))
  expect(of({})).toBeNull()
  expect(of({ 'retry-after': '3' })).toBe(3000)
  expect(of({ 'retry-after': 'soon' })).toBeNull()
  const date = 'Sat, 21 Nov 2026 12:00:00 GMT'
  expect(of({ 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT', date })).toBe(60_000)
  expect(of({ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT', date })).toBe(0)
  expect(of({ ratelimit: '"resolvers";r=0;t=12' })).toBe(12_000)
  expect(of({ ratelimit: '"resolvers";r=2999;t=12' })).toBeNull()
})
