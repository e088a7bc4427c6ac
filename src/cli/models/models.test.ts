import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { InstalledModels } from '../../catalog/installed.ts'
import type { Card } from '../../domain/card.ts'
import { finished, runCommand, startCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, TestHub } from '../../testing/hub.ts'
import { withCards } from '../../testing/models-child.ts'
import { blobSizes, publish, testCard } from '../../testing/test-model.ts'
import { until } from '../../testing/until.ts'
import { modelsFolder } from './local.ts'

const files = [
  { path: 'onnx/model.onnx', sizeBytes: 300_000 },
  { path: 'config.json', sizeBytes: 700, isLarge: false },
  { path: 'voices/anna.bin', sizeBytes: 50_000, knows: 'nothing' as const },
]

// Each command is a process of its own.
setDefaultTimeout(60_000)

let hub: TestHub
let card: Card
let gated: Card
let program: string[]
let dataDir: string
beforeAll(async () => {
  hub = await TestHub.start()
  const limits = 'Not for anything unlawful.'
  const license = { name: 'CC-BY-4.0', attribution: 'By somebody, CC BY 4.0.', limits }
  card = testCard('speaker', publish(hub, 'org/speaker', 300, files), { license })
  gated = testCard('gated', publish(hub, 'org/gated', 301, files))
  hub.gate('org/gated', 'hf_good')
  const hibari = (await import('../../catalog/cards.ts')).cards.find(({ id }) => id === 'hibari')
  program = withCards([...(hibari === undefined ? [] : [hibari]), card, gated])
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.requests.length = 0
  hub.trouble = () => null
  dataDir = join(temporaryFolder(), 'data')
})

const options = (env: Record<string, string> = {}) => ({
  program,
  env: { MYNA_DATA: dataDir, HF_ENDPOINT: hub.url, ...env },
})
const models = (...args: string[]) => runCommand(['models', ...args], options())
const isInstalled = (one = card) => new InstalledModels(modelsFolder({ dataDir })).has(one)
const place = () => modelsFolder({ dataDir }).model(card.id)

test('a model is pulled: the licence and its limits are shown first, and its location last', async () => {
  const { code, stdout, stderr } = await models('pull', 'speaker')
  expect([code, stdout]).toEqual([0, `speaker is installed: 3 files, 351 kB in ${place()}\n`])
  expect(stderr.split('\n')).toEqual([
    'License CC-BY-4.0: By somebody, CC BY 4.0.',
    'Terms of use: Not for anything unlawful.',
    '3 files, 351 kB',
    expect.any(String),
    expect.any(String),
    expect.any(String),
    '',
  ])
  expect(stderr).toContain('\n  onnx/model.onnx, 300 kB\n')
  expect(isInstalled()).toBe(true)
  const again = await models('pull', 'speaker')
  expect([again.code, again.stderr]).toEqual([0, ''])
  expect(again.stdout).toBe(`speaker is installed already, and complete: 3 files, 351 kB in ${place()}\n`)
})

test('with --json each event is a line, and the last describes the installed model', async () => {
  const { code, stdout } = await models('pull', 'speaker', '--json')
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(code).toBe(0)
  expect(events[0]).toMatchObject({ event: 'planned', files: 3, total_bytes: 350_700, unknown_sizes: 0 })
  expect(events[0]).toMatchObject({ license: { name: 'CC-BY-4.0', limits: 'Not for anything unlawful.' } })
  expect(events.filter(({ event }) => event === 'finished')).toHaveLength(3)
  const last = { event: 'installed', id: 'speaker', files: 3, size_bytes: 350_700, unchecked: [], was_whole: false }
  expect(events.at(-1)).toEqual({ ...last, path: place() })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s stops it and explains how to continue, and continuing asks only for the rest', async (signal, exit) => {
  hub.trouble = ({ at }) => (at === 'cdn' ? { kind: 'silent', afterBytes: 30_000 } : null)
  const child = startCommand(['models', 'pull', 'speaker'], options())
  const sizes = () => blobSizes(modelsFolder({ dataDir }).blobs)
  const stopped = ['30000 partial', '30000 partial', '700']
  await until('the small file is complete, and both large ones have stopped', () => isDeepStrictEqual(sizes(), stopped))
  child.kill(signal)
  const { code, stderr } = await finished(child)
  expect([code, isInstalled()]).toEqual([exit, false])
  expect(stderr).toEndWith('myna: Stopped. The partial download is kept; resume with: myna models pull speaker\n')
  hub.trouble = () => null
  hub.requests.length = 0
  const on = await models('pull', 'speaker')
  expect([on.code, hub.sentBytes]).toEqual([0, 290_000])
  expect(on.stderr).toContain('2 files, 350 kB; 60.0 kB of it downloaded earlier; 1 more exist already\n')
})

test('a full disk is reported, and the bytes it took are kept', async () => {
  // Files may have 100 KiB. A larger write fails with an error instead of ending the process.
  const limited = ['bash', '-c', 'trap "" XFSZ; ulimit -f 100; exec "$@"', 'limited', ...program]
  const { code, stderr } = await runCommand(['models', 'pull', 'speaker'], { ...options(), program: limited })
  const part = modelsFolder({ dataDir }).part(card.files[0]?.sha256 ?? '')
  expect([code, isInstalled(), statSync(part).size]).toEqual([1, false, 102_400])
  expect(stderr).toContain(`myna: ${part} cannot be written: EFBIG`)
  hub.requests.length = 0
  expect((await models('pull', 'speaker')).code).toBe(0)
  expect(hub.reads(card.files[0]).map(({ sentBytes }) => sentBytes)).toEqual([300_000 - 102_400])
})

test('a hub that does not answer now: the error lists the alternatives', async () => {
  const away = () => new Response('', { status: 503, headers: { 'retry-after': '3600' } })
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: away })
  const { code, stderr } = await runCommand(['models', 'pull', 'speaker'], options({ HF_ENDPOINT: server.url.origin }))
  await server.stop(true)
  expect([code, isInstalled()]).toEqual([1, false])
  expect(stderr).toContain('Try again later to resume. Other ways: a mirror (HF_ENDPOINT=https://...)')
  expect(stderr).toEndWith(
    'myna models show speaker --json lists them, myna models import speaker PATH installs them.\n',
  )
})

test('a gated repository: the error says what to accept and where, and HF_TOKEN opens it', async () => {
  const { code, stderr } = await models('pull', 'gated')
  expect(code).toBe(1)
  expect(stderr).toContain(`myna: ${hub.url}/org/gated requires accepting its conditions.`)
  expect(stderr).toContain('HF_TOKEN=hf_')
  const json = await models('pull', 'gated', '--json')
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'gated' } })
  const opened = await runCommand(['models', 'pull', 'gated'], options({ HF_TOKEN: 'hf_good' }))
  expect([opened.code, isInstalled(gated)]).toEqual([0, true])
})

test('two pulls of one model at once: both succeed, and each byte is fetched once', async () => {
  const waits = Promise.withResolvers<void>()
  const held = { kind: 'cut', afterBytes: 10_000, arrived: () => waits.promise } as const
  hub.trouble = ({ at, fromByte }) => (at === 'cdn' && fromByte === null ? held : null)
  const first = startCommand(['models', 'pull', 'speaker'], options())
  await until('the first is at work', () => hub.requests.some(({ at }) => at === 'cdn'), 20_000)
  const second = startCommand(['models', 'pull', 'speaker'], options())
  let told = ''
  const decoder = new TextDecoder()
  const reading = (async () => {
    for await (const block of second.stderr) {
      told += decoder.decode(block)
      if (told.includes('Another command is changing')) waits.resolve()
    }
  })()
  await waits.promise
  expect(await finished(first)).toMatchObject({ code: 0, stdout: expect.stringContaining('speaker is installed: ') })
  const said = await new Response(second.stdout).text()
  expect([await second.exited, said]).toEqual([
    0,
    expect.stringContaining('speaker is installed already, and complete'),
  ])
  await reading
  expect(hub.sentBytes).toBe(350_700)
})

test('verify names what is damaged and how to fix it, and a pull repairs only that', async () => {
  await models('pull', 'speaker')
  const good = await models('verify')
  expect(good).toEqual({
    code: 0,
    stdout: 'ok    speaker: 3 files, 351 kB, as installed\n',
    stderr: '',
  })
  writeFileSync(join(place(), 'onnx/model.onnx'), randomBytes(1, 300_000))
  rmSync(join(place(), 'config.json'))
  const bad = await models('verify', 'speaker')
  expect([bad.code, bad.stdout]).toEqual([
    1,
    'FAIL  speaker: onnx/model.onnx is damaged, config.json is missing\n' +
      '      -> Fix it with: myna models pull speaker\n',
  ])
  expect(JSON.parse((await models('verify', '--json')).stdout)).toMatchObject([{ id: 'speaker', is_good: false }])
  hub.requests.length = 0
  const mended = await models('pull', 'speaker')
  expect([mended.code, hub.sentBytes]).toEqual([0, 300_000])
  expect(mended.stderr).toContain('onnx/model.onnx is damaged; downloading it again.\n')
  expect((await models('verify', 'speaker')).code).toBe(0)
})

test('without an installed model verify has nothing to do; naming a missing one is an error', async () => {
  expect(await models('verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to verify') })
  expect(await models('verify', 'speaker')).toMatchObject({ code: 1, stderr: 'myna: speaker is not installed.\n' })
})

test('rm removes a model, and frees its space and the remains of an interrupted pull', async () => {
  await models('pull', 'speaker')
  expect(await models('rm', 'speaker')).toMatchObject({
    code: 0,
    stdout: 'Removed speaker; 351 kB freed.\n',
  })
  const { blobs, installed } = modelsFolder({ dataDir })
  expect([readdirSync(blobs), readdirSync(installed), isInstalled()]).toEqual([[], [], false])
  expect(await models('rm', 'speaker')).toMatchObject({ code: 1, stderr: 'myna: speaker is not installed.\n' })
  writeFileSync(join(blobs, `${card.files[0]?.sha256}.part`), 'begun')
  expect(await models('rm', 'speaker', '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"freed_bytes": 5'),
  })
})

test('rm: a built-in model stays, a model without a card is removed, an unknown name is an error', async () => {
  expect(await models('rm', 'hibari')).toMatchObject({ code: 1, stderr: expect.stringContaining('inside the program') })
  mkdirSync(join(modelsFolder({ dataDir }).installed, 'of-another-version'), { recursive: true })
  expect((await models('rm', 'of-another-version')).code).toBe(0)
  expect((await models('rm', 'speakr')).stderr).toBe(
    "myna: There is no model 'speakr'. List the models with: myna models list\n",
  )
  expect((await models('pull', 'speak')).stderr).toBe("myna: There is no model 'speak'. Did you mean speaker?\n")
})

test('list and show report which models are here, how large they are, and which are incomplete', async () => {
  const before = await models('list')
  expect(before.stdout).toMatch(/\nspeaker +speech +no +301 kB\+ /)
  await models('pull', 'speaker')
  expect((await models('list')).stdout).toMatch(/\nspeaker +speech +yes +301 kB\+ /)
  const { stdout } = await models('show', 'speaker')
  expect(stdout).toContain(`\nInstalled  351 kB in ${place()}\n`)
  expect(stdout).toContain('\nDownload   301 kB+ in 3 files; the sizes of 1 are not published\n')
  expect(stdout).toMatch(/\nSource +http:\S+\/org\/speaker at 0123456789abcdef/)
  expect(stdout).toContain('\nLimits     Not for anything unlawful.\n')
  rmSync(join(place(), 'config.json'))
  expect((await models('list')).stdout).toMatch(/\nspeaker +speech +broken /)
  expect((await models('show', 'speaker')).stdout).toContain('fix it with: myna models pull speaker\n')
  const [first] = JSON.parse((await models('list', '--json')).stdout) as {
    id: string
    state: string
    files: object[]
  }[]
  expect(first).toMatchObject({ id: 'hibari', state: 'installed', installed: true })
})

test('a model is imported from a folder, and files that could not be verified are named', async () => {
  const folder = temporaryFolder()
  for (const [at, { path, sizeBytes }] of files.entries()) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), randomBytes(300_000 + at, sizeBytes))
  }
  const missing = await models('import', 'speaker', join(folder, 'voices'))
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('speaker needs files that are not in ')])
  const { code, stdout, stderr } = await models('import', 'speaker', folder)
  expect([code, stdout]).toEqual([0, `speaker is installed: 3 files, 351 kB in ${place()}\n`])
  expect(stderr).toContain('they are recorded as found: voices/anna.bin\n')
  expect([isInstalled(), hub.requests.length]).toEqual([true, 0])
})

test('misuse and bad settings are reported', async () => {
  expect(await models('pull')).toMatchObject({ code: 2 })
  expect((await models('pull', 'hibari')).stderr).toContain('hibari is inside the program')
  const wrong = await runCommand(['models', 'pull', 'speaker'], options({ HF_ENDPOINT: 'huggingface' }))
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('HF_ENDPOINT=huggingface is not a hub address'),
  })
})
