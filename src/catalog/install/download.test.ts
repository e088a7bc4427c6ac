import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { CardFile } from '../../domain/card.ts'
import { type HubRequest, randomBytes, sha256Of, TestHub, type Trouble } from '../../testing/hub.ts'
import { never, publish, type TestFile, testPull, type TestPull } from '../../testing/test-model.ts'
import { until } from '../../testing/until.ts'
import { download } from './download.ts'
import { Hub } from './hub.ts'
import { knownOf } from './required.ts'

let hub: TestHub
let parts: TestPull
beforeAll(async () => {
  hub = await TestHub.start()
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.requests.length = 0
  hub.trouble = () => null
  hub.claims = () => ({})
  parts = testPull(hub)
})

const sizeBytes = 200_000
let seed = 100

/** Each test has its own large file. */
function newFile(more: Partial<TestFile> = {}): CardFile {
  const [file] = publish(hub, 'org/files', ++seed, [{ path: `${seed}.bin`, sizeBytes, ...more }])
  if (file === undefined) throw new Error('there is no file')
  return file
}

const content = () => randomBytes(1000 * seed, sizeBytes)

/** The next answers of the host that has the bytes; after them all answers are good. */
function troubles(...kinds: (Trouble | null)[]): void {
  const isForBytes = ({ at, method, path }: HubRequest) =>
    method === 'GET' && (at === 'cdn' || path.startsWith('/api/'))
  hub.trouble = (request) => (isForBytes(request) ? (kinds.shift() ?? null) : null)
}

/** The connection breaks after this many bytes of the answer, once the file holds `sofarBytes`. */
const cutAt = (file: CardFile, afterBytes: number, sofarBytes: number): Trouble => ({
  kind: 'cut',
  afterBytes,
  arrived: () => until(`${sofarBytes} bytes are here`, () => sizeOf(partOf(file)) === sofarBytes),
})

const partOf = (file: CardFile) => parts.folder.part(knownOf(file, null).blob)

async function fetched(file: CardFile, there = parts.hub) {
  await parts.folder.make()
  const wanted = knownOf(file, null)
  const found = await download(wanted, { ...parts, hub: there }, never)
  expect(sha256Of(readFileSync(parts.folder.blob(wanted.blob)))).toBe(found.sha256)
  return { found, froms: hub.reads(file).map(({ fromByte }) => fromByte) }
}

test('a download resumes where its connection broke', async () => {
  const file = newFile()
  troubles(cutAt(file, 50_000, 50_000), cutAt(file, 1, 50_001), cutAt(file, 0, 50_001))
  const { froms, found } = await fetched(file)
  expect([froms, found.sha256]).toEqual([[null, 50_000, 50_001, 50_001], file.sha256 ?? ''])
  expect(hub.sentBytes).toBe(sizeBytes)
  expect(parts.names('retrying')).toHaveLength(3)
})

test('a connection that keeps breaking is given up, and the bytes that arrived are kept', async () => {
  const file = newFile()
  hub.trouble = ({ at, fromByte }) => (at === 'cdn' ? cutAt(file, fromByte === null ? 1000 : 0, 1000) : null)
  await expect(fetched(file)).rejects.toMatchObject({
    code: 'no_hub',
    message: expect.stringMatching(
      /^127\.0\.0\.1:\d+ cannot be reached .*The partial download is kept. Try again later to resume\.$/,
    ),
  })
  expect(statSync(partOf(file)).size).toBe(1000)
  // The pause after each try that brought no bytes: longer each time, and slightly random.
  expect(parts.timer.pauses).toHaveLength(5)
  for (const [at, pauseMs] of parts.timer.pauses.entries()) expect(pauseMs / (1000 * 2 ** at)).toBeWithin(1, 1.25)
})

test('a silent connection is ended and the download resumes', async () => {
  const file = newFile()
  troubles({ kind: 'silent', afterBytes: 70_000 })
  const done = fetched(file)
  await until('more than 70,000 bytes are expected', () => sizeOf(partOf(file)) === 70_000 && parts.timer.running > 0)
  parts.timer.expire()
  expect((await done).froms).toEqual([null, 70_000])
  expect(parts.events).toContainEqual(expect.objectContaining({ reason: 'nothing has arrived for 1000000 s' }))
})

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

test('a host that does not answer at all is given up after a few tries', async () => {
  const mute = createServer(() => {})
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const { port } = mute.address() as { port: number }
  const { timer } = parts
  const there = new Hub({ endpoint: `http://127.0.0.1:${port}`, token: null, timer, answerMs: 1e9, userAgent: 'test' })
  timer.isHasty = true
  await expect(fetched(newFile(), there)).rejects.toMatchObject({
    code: 'no_hub',
    message: expect.stringContaining('did not answer'),
  })
  expect(timer.pauses).toHaveLength(5)
  mute.close()
})

test('names a host that does not answer', async () => {
  const { timer } = parts
  const there = new Hub({ endpoint: 'http://127.0.0.1:1', token: null, timer, answerMs: 1e9, userAgent: 'test' })
  await expect(fetched(newFile(), there)).rejects.toMatchObject({
    code: 'no_hub',
    message: expect.stringMatching(/^127\.0\.0\.1:1 cannot be reached \(\w*REFUSED/i),
  })
})

test.each([
  ['refuses connections', 'http://127.0.0.1:1'],
  ['has no address', 'http://no-such-host.invalid'],
])('a host that %s from the beginning is given up after one more try', async (_what, endpoint) => {
  const { timer } = parts
  const there = new Hub({ endpoint, token: null, timer, answerMs: 1e9, userAgent: 'test' })
  await expect(fetched(newFile(), there)).rejects.toMatchObject({
    code: 'no_hub',
    message: expect.stringMatching(/ cannot be reached \(\w+\)\. Check the network/),
  })
  expect(timer.pauses).toHaveLength(1)
})

test('a host that goes away after its first answer is waited for', async () => {
  const leaving = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('', { status: 503 }) })
  const { timer } = parts
  const there = new Hub({ endpoint: leaving.url.origin, token: null, timer, answerMs: 1e9, userAgent: 'test' })
  const file = newFile()
  await expect(there.describe(file, never)).rejects.toThrow('has a problem')
  await leaving.stop(true)
  await expect(fetched(file, there)).rejects.toMatchObject({ message: expect.stringContaining('Try again later') })
  expect(timer.pauses).toHaveLength(5)
})

test.each([
  ['seconds', 429, { 'retry-after': '7' }, 7000],
  ['a date', 503, { 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' }, 9000],
  ["the hub's own way", 429, { ratelimit: '"resolvers";r=0;t=55' }, 55_000],
])('a pause that is requested in %s is kept', async (_how, status, headers, pauseMs) => {
  const file = newFile()
  troubles({ kind: 'refuse', status, headers: headers as Record<string, string> })
  await fetched(file)
  expect(parts.timer.pauses).toEqual([pauseMs])
})

test('gives up when the requested pause is hours long', async () => {
  const file = newFile()
  troubles({ kind: 'refuse', status: 429, headers: { 'retry-after': '7200' } })
  await expect(fetched(file)).rejects.toMatchObject({ message: expect.stringContaining('to wait 120 minutes') })
})

test.each([500, 502, 503, 504, 408, 429])('status %d is retried', async (status) => {
  const file = newFile()
  troubles({ kind: 'refuse', status }, { kind: 'refuse', status })
  await fetched(file)
  expect(parts.names('retrying')).toHaveLength(2)
})

test("asks for a new address when the other host's address has expired", async () => {
  const file = newFile()
  troubles(cutAt(file, 10, 10), { kind: 'refuse', status: 403 })
  const { froms } = await fetched(file)
  expect(froms).toEqual([null, 10])
  expect(hub.requests.filter(({ at }) => at === 'hub')).toHaveLength(3)
})

test('starts over, without mixing anything up, when the host cannot resume', async () => {
  const file = newFile()
  troubles(cutAt(file, 50_000, 50_000), { kind: 'whole' })
  const { found } = await fetched(file)
  expect(found.sha256).toBe(sha256Of(content()))
  expect(parts.events).toContainEqual(expect.objectContaining({ event: 'restarted', lostBytes: 50_000 }))
})

test('asks for the whole file when a host sends the wrong part', async () => {
  const file = newFile()
  troubles(cutAt(file, 50_000, 50_000), { kind: 'shifted' })
  const { froms, found } = await fetched(file)
  expect([froms, found.sha256]).toEqual([[null, 50_000, null], sha256Of(content())])
})

test('a damaged download is thrown away and fetched once more', async () => {
  const file = newFile()
  troubles({ kind: 'corrupt' })
  const { found } = await fetched(file)
  expect([found.sha256, hub.sentBytes]).toEqual([sha256Of(content()), 2 * sizeBytes])
  expect(parts.events).toContainEqual(
    expect.objectContaining({ event: 'restarted', reason: expect.stringContaining('its SHA-256 is ') }),
  )
})

test('a file that arrives damaged twice is given up and not kept', async () => {
  const file = newFile()
  hub.trouble = ({ at }) => (at === 'cdn' ? { kind: 'corrupt' } : null)
  await expect(fetched(file)).rejects.toMatchObject({
    code: 'other_content',
    message: expect.stringMatching(
      new RegExp(`\\(downloaded twice\\): its SHA-256 is [0-9a-f]{64} instead of ${file.sha256}`),
    ),
  })
  expect([sizeOf(partOf(file)), hub.sentBytes]).toEqual([0, 2 * sizeBytes])
})

test('the hash shows that a partial file is not the beginning of the file', async () => {
  const file = newFile()
  await parts.folder.make()
  writeFileSync(partOf(file), randomBytes(5, 60_000))
  const { froms, found } = await fetched(file)
  expect([froms, found.sha256]).toEqual([[60_000, null], sha256Of(content())])
})

test('a partial file that is longer than the file is thrown away', async () => {
  const file = newFile()
  await parts.folder.make()
  writeFileSync(partOf(file), randomBytes(5, sizeBytes + 1))
  expect((await fetched(file)).froms).toEqual([null])
})

test('a login page instead of a file is reported at once', async () => {
  const file = newFile()
  hub.trouble = () => ({ kind: 'page' })
  await expect(fetched(file)).rejects.toMatchObject({
    code: 'no_file_came',
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ answered with a web page instead of .*a login page/),
  })
  expect([hub.requests.length, parts.timer.pauses]).toEqual([1, []])
})

test.each(['gzip', 'br'])(
  'a file that a proxy has compressed (%s) is reported at once and not kept',
  async (encoding) => {
    const file = newFile({ knows: 'nothing' })
    hub.trouble = ({ at }) =>
      at === 'cdn' ? { kind: 'refuse', status: 200, headers: { 'content-encoding': encoding }, body: 'less' } : null
    await expect(fetched(file)).rejects.toMatchObject({
      code: 'no_file_came',
      message: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:\\d+ sent .* compressed \\(${encoding}\\)`)),
    })
    expect([sizeOf(partOf(file)), parts.timer.pauses]).toEqual([0, []])
  },
)

test.each([
  ['size', { sizeBytes: 123 }, `a size of 123 on the hub; Myna expects ${sizeBytes}`],
  ['hash', { sha256: 'e'.repeat(64) }, `the SHA-256 ${'e'.repeat(64)} on the hub; Myna expects `],
])(
  'when %s differs between the hub and the card, both values are named and nothing is fetched',
  async (_what, claim, words) => {
    const file = newFile()
    hub.claims = () => claim
    await expect(fetched(file)).rejects.toMatchObject({
      code: 'other_content',
      message: expect.stringContaining(words),
    })
    expect(hub.sentBytes).toBe(0)
  },
)

test('a host that sends too many bytes does not fill the disk', async () => {
  const file = newFile()
  troubles({ kind: 'endless' })
  await expect(fetched(file)).rejects.toMatchObject({
    message: expect.stringMatching(/ is longer than 200000 bytes/),
  })
  expect(sizeOf(partOf(file))).toBeLessThan(sizeBytes + 600_000)
})

test('without a length, the end of the connection ends the file, if the size agrees', async () => {
  const file = newFile()
  troubles({ kind: 'nameless' })
  expect((await fetched(file)).found.sha256).toBe(sha256Of(content()))
})

test('a file without a hash is resumed only in the same process and from the same copy', async () => {
  const file = newFile({ knows: 'nothing' })
  await parts.folder.make()
  writeFileSync(parts.folder.part(knownOf(file, null).blob), content().slice(0, 1000))
  troubles(cutAt(file, 2000, 2000))
  const { found, froms } = await fetched(file)
  expect([found.sha256, froms]).toEqual([sha256Of(content()), [null, 2000]])
  expect(hub.reads(file)[1]?.headers['if-range']).toMatch(/^"[0-9a-f]{64}"$/)
})

test('where the card has no hash, the git id of a small file is compared with its content', async () => {
  const file = newFile({ isLarge: false, knows: 'nothing' })
  const facts = await parts.hub.describe(file, never)
  expect([facts.sizeBytes, facts.sha256]).toEqual([sizeBytes, null])
  expect(facts.gitSha1).toMatch(/^[0-9a-f]{40}$/)
  troubles({ kind: 'corrupt' }, { kind: 'corrupt' })
  await parts.folder.make()
  const { gitSha1 } = facts
  const wanted = { ...knownOf(file, null), sizeBytes, gitSha1 }
  await expect(download(wanted, parts, never)).rejects.toMatchObject({
    message: expect.stringMatching(/its git id is .* instead of /),
  })
  await download(wanted, parts, never)
})
