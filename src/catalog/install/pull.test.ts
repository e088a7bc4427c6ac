import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Card } from '../../domain/card.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, sha256Of, TestHub } from '../../testing/hub.ts'
import {
  blobSizes,
  never,
  publish,
  testCard,
  type TestFile,
  testPull,
  type TestPull,
} from '../../testing/test-model.ts'
import { until } from '../../testing/until.ts'
import { InstalledModels } from '../installed.ts'
import { pull } from './pull.ts'
import { verify } from './verify.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await TestHub.start()
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.requests.length = 0
  hub.trouble = () => null
})

const files: readonly TestFile[] = [
  { path: 'onnx/model.onnx', sizeBytes: 300_000 },
  { path: 'config.json', sizeBytes: 700, isLarge: false },
  { path: 'voices/anna.bin', sizeBytes: 50_000, knows: 'nothing' },
  { path: 'tokenizer.json', sizeBytes: 30_000, isLarge: false, knows: 'nothing' },
]
const totalBytes = 380_700

let seed = 0
const newCard = (): Card => {
  seed++
  return testCard(`model-${seed}`, publish(hub, `org/repo-${seed}`, seed, files))
}
const contentOf = (at: number) => randomBytes(1000 * seed + at, files[at]?.sizeBytes ?? 0)
const installed = ({ folder }: TestPull) => new InstalledModels(folder)
const blobs = ({ folder }: TestPull) => readdirSync(folder.blobs).sort()

test('installs a model: its files under their names, and a record of where they came from', async () => {
  const card = newCard()
  const parts = testPull(hub)
  expect(installed(parts).stateOf(card)).toBe('absent')
  const { path, manifest, wasWhole } = await pull(card, parts, never)
  expect([wasWhole, installed(parts).stateOf(card)]).toEqual([false, 'installed'])
  for (const [at, { path: name }] of files.entries()) {
    expect(sha256Of(readFileSync(join(path, name)))).toBe(sha256Of(contentOf(at)))
    // A second name for the blob: no byte is stored twice, and ONNX Runtime finds a regular file, not a symbolic link.
    expect(statSync(join(path, name)).nlink).toBe(2)
    expect(manifest.files[at]).toMatchObject({ name, sha256: sha256Of(contentOf(at)), repo: `org/repo-${seed}` })
  }
  expect(manifest.files.map(({ evidence }) => evidence)).toEqual(['card', 'card', 'hub', 'hub'])
  expect(readdirSync(parts.folder.installed)).toEqual([card.id])
  expect(blobs(parts).filter((name) => name.endsWith('.part'))).toEqual([])
  expect(hub.sentBytes).toBe(totalBytes)
})

test('an installed model is checked and not fetched again, even without a hub', async () => {
  const card = newCard()
  const parts = testPull(hub)
  const { manifest } = await pull(card, parts, never)
  hub.requests.length = 0
  const again = await pull(card, parts, never)
  expect([again.wasWhole, again.manifest]).toEqual([true, manifest])
  expect(hub.requests).toEqual([])
  expect(parts.names('checking').sort()).toEqual(files.map(({ path }) => path).sort())
})

test('what the hub first reported is pinned, even if the hub later says something else', async () => {
  const card = newCard()
  const parts = testPull(hub)
  const { path } = await pull(card, parts, never)
  const voice = readFileSync(join(path, 'voices/anna.bin'))
  rmSync(join(path, 'voices/anna.bin'))
  rmSync(parts.folder.blob(sha256Of(voice)))
  hub.claims = () => ({ sha256: 'f'.repeat(64) })
  await expect(pull(card, parts, never)).rejects.toMatchObject({ code: 'other_content' })
  hub.claims = () => ({})
  await pull(card, parts, never)
  expect(readFileSync(join(path, 'voices/anna.bin')).equals(voice)).toBe(true)
})

interface Harm {
  what: string
  damage(path: string, parts: TestPull): void
  /** How many bytes the repair fetches. */
  bytes: number
  /** The folder itself is unchanged. */
  isWhole?: boolean
}

const model = (path: string) => join(path, 'onnx/model.onnx')
const harms: Harm[] = [
  { what: 'a file cut short', damage: (path) => writeFileSync(model(path), 'short'), bytes: 300_000 },
  { what: 'a byte turned over', damage: (path) => flipByte(model(path)), bytes: 300_000 },
  { what: 'a file taken out of the folder', damage: (path) => rmSync(model(path)), bytes: 0 },
  { what: 'the folder half deleted', damage: (path) => rmSync(join(path, 'voices'), { recursive: true }), bytes: 0 },
  { what: 'no manifest', damage: (path) => rmSync(join(path, 'myna.json')), bytes: 0 },
  {
    what: 'a manifest that is none',
    damage: (path) => writeFileSync(join(path, 'myna.json'), '{"files": [3]'),
    bytes: 0,
  },
  {
    what: 'no blobs',
    damage: (_, { folder }) => rmSync(folder.blobs, { recursive: true }),
    bytes: 0,
    isWhole: true,
  },
  { what: 'nothing but blobs', damage: (path) => rmSync(path, { recursive: true }), bytes: 0 },
  {
    what: 'a file in place of the folder',
    damage: (path) => {
      rmSync(path, { recursive: true })
      writeFileSync(path, 'x')
    },
    bytes: 0,
  },
]

test.each(harms)(
  '$what: a pull repairs it and fetches only the damaged files',
  async ({ damage, bytes, isWhole = false }) => {
    const card = newCard()
    const parts = testPull(hub)
    const { path } = await pull(card, parts, never)
    damage(path, parts)
    hub.requests.length = 0
    const { wasWhole } = await pull(card, parts, never)
    expect([hub.sentBytes, wasWhole]).toEqual([bytes, isWhole])
    expect(await verify(card, parts, never)).toMatchObject({ isGood: true })
    expect(installed(parts).has(card)).toBe(true)
  },
)

function flipByte(path: string): void {
  const bytes = readFileSync(path)
  bytes[1000] = (bytes[1000] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

test('Ctrl-C in the middle installs nothing, and the next pull asks for exactly the rest', async () => {
  const card = newCard()
  const parts = testPull(hub)
  hub.trouble = ({ path }) => (path.includes('xet-bridge') ? { kind: 'silent', afterBytes: 20_000 } : null)
  const interrupt = new AbortController()
  await parts.folder.make()
  const first = pull(card, parts, interrupt.signal)
  const sizes = () => blobSizes(parts.folder.blobs)
  const stopped = ['20000 partial', '20000 partial', '30000', '700']
  await until('the small files are complete, and both large ones have stopped', () =>
    isDeepStrictEqual(sizes(), stopped),
  )
  interrupt.abort(new Error('stopped'))
  await expect(first).rejects.toThrow('stopped')
  expect([installed(parts).stateOf(card), sizes()]).toEqual(['absent', stopped])
  hub.requests.length = 0
  hub.trouble = () => null
  await pull(card, parts, never)
  expect(hub.sentBytes).toBe(350_000 - 40_000)
  expect(hub.reads(card.files[0]).map(({ fromByte }) => fromByte)).toEqual([20_000])
})

test('an aborted pull does not begin', async () => {
  const card = newCard()
  await expect(pull(card, testPull(hub), AbortSignal.abort(new Error('no')))).rejects.toThrow('no')
  expect(hub.requests).toEqual([])
})

test('files with the same content are fetched and kept once, within one model and across two', async () => {
  const [first] = publish(hub, 'org/same', 77, [{ path: 'a.bin', sizeBytes: 40_000 }])
  if (first === undefined) throw new Error('there is no file')
  const parts = testPull(hub)
  await pull(testCard('same-1', [first, { ...first, name: 'b.bin' }]), parts, never)
  await pull(testCard('same-2', [{ ...first, name: 'c.bin' }]), parts, never)
  expect([hub.sentBytes, blobs(parts).length]).toEqual([40_000, 1])
  expect(statSync(join(parts.folder.model('same-2'), 'c.bin')).nlink).toBe(4)
})

test('two pulls at once: one waits, and each byte is fetched once', async () => {
  const card = newCard()
  const [one, other] = [testPull(hub), testPull(hub)]
  const parts = [one, { ...other, folder: one.folder, lock: one.lock }]
  const results = await Promise.all(parts.map((part) => pull(card, part, never)))
  expect(results.map(({ wasWhole }) => wasWhole).sort()).toEqual([false, true])
  expect(hub.sentBytes).toBe(totalBytes)
  expect([...one.events, ...other.events].filter(({ event }) => event === 'waiting')).toHaveLength(1)
})

test('a full disk is reported with its figures before anything is fetched', async () => {
  const card = newCard()
  const parts = testPull(hub, { freeBytes: 100_380_699 })
  const words = `1 MB will be written to ${parts.folder.path}, 100 MB must stay free there, and 101 MB are free`
  await expect(pull(card, parts, never)).rejects.toMatchObject({
    code: 'disk_full',
    message: expect.stringContaining(words),
  })
  expect(hub.sentBytes).toBe(0)
  await pull(card, testPull(hub, { freeBytes: 100_380_700 }), never)
})

test('bytes that arrived earlier count towards the required space', async () => {
  const card = newCard()
  const parts = testPull(hub, { freeBytes: 100_080_700 })
  await expect(pull(card, parts, never)).rejects.toMatchObject({ code: 'disk_full' })
  writeFileSync(parts.folder.part(sha256Of(contentOf(0))), contentOf(0))
  await pull(card, parts, never)
  expect(hub.reads(card.files[0])).toEqual([])
})

test('cleans up after a killed command: its folders at once, partial files and blobs after a week', async () => {
  const parts = testPull(hub)
  const card = newCard()
  await pull(card, parts, never)
  const [orphan, part] = [parts.folder.blob('a'.repeat(64)), parts.folder.part('b'.repeat(64))]
  const strange = join(parts.folder.blobs, 'notes.txt')
  for (const path of [orphan, part, strange]) writeFileSync(path, 'x')
  const folders = ['.new-1', '.gone-1'].map((name) => join(parts.folder.installed, name))
  for (const path of folders) renameSync(temporaryFolder(), path)
  await pull(card, parts, never)
  expect([...folders, orphan, part].map((path) => existsSync(path))).toEqual([false, false, true, true])
  const longAgo = parts.clock.nowMs() / 1000 - 8 * 86_400
  for (const path of [orphan, part, strange, ...blobs(parts).map((name) => join(parts.folder.blobs, name))]) {
    utimesSync(path, longAgo, longAgo)
  }
  expect((await pull(card, parts, never)).wasWhole).toBe(true)
  expect([orphan, part, strange].map((path) => existsSync(path))).toEqual([false, false, true])
})

test('a new version of a card counts as not installed until it is pulled, and reuses unchanged files', async () => {
  const card = newCard()
  const parts = testPull(hub)
  await pull(card, parts, never)
  const [changed] = publish(hub, `org/repo-${seed}`, 500 + seed, [{ path: 'config-2.json', sizeBytes: 900 }])
  if (changed === undefined) throw new Error('there is no file')
  const newer = { ...card, files: card.files.map((file) => (file.name === 'config.json' ? changed : file)) }
  expect(installed(parts).stateOf(newer)).toBe('broken')
  hub.requests.length = 0
  await pull(newer, parts, never)
  expect([hub.sentBytes, installed(parts).stateOf(newer)]).toEqual([900, 'installed'])
})

test("a card without a commit takes the branch's commit for all files and keeps it", async () => {
  const [older, newer] = ['a'.repeat(40), 'b'.repeat(40)]
  const unknown = files.map((file) => ({ ...file, knows: 'nothing' as const }))
  const published = publish(hub, 'org/moving', 600, unknown, older)
  publish(hub, 'org/moving', 601, unknown, newer)
  const card = testCard(
    'moving',
    published.map((file) => ({ ...file, revision: 'main' })),
  )
  hub.branch('main', older)
  const asked: string[] = []
  hub.trouble = ({ path, method }) => {
    asked.push(`${method} ${path}`)
    // The branch moves during the pull.
    queueMicrotask(() => hub.branch('main', newer))
    return null
  }
  const parts = testPull(hub)
  const { manifest, path } = await pull(card, parts, never)
  expect(manifest.files.map(({ revision, commit }) => [revision, commit])).toEqual(files.map(() => ['main', older]))
  expect(asked.filter((one) => one.includes('/main/'))).toHaveLength(1)
  expect((await pull(card, parts, never)).wasWhole).toBe(true)
  rmSync(parts.folder.blobs, { recursive: true })
  rmSync(join(path, 'onnx/model.onnx'))
  hub.requests.length = 0
  expect((await pull(card, parts, never)).manifest.files).toEqual(manifest.files)
  expect(hub.sentBytes).toBe(300_000)
})

test('a pull that resumes after weeks continues where it stopped', async () => {
  const card = newCard()
  const parts = testPull(hub)
  await parts.folder.make()
  const part = parts.folder.part(sha256Of(contentOf(0)))
  writeFileSync(part, contentOf(0).slice(0, 250_000))
  utimesSync(part, 1_700_000_000, 1_700_000_000)
  await pull(card, parts, never)
  expect(hub.reads(card.files[0]).map(({ fromByte }) => fromByte)).toEqual([250_000])
})
