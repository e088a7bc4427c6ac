import { expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Card, CardFile } from '../../domain/card.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, sha256Of } from '../../testing/hub.ts'
import { never, testCard, testImport, testRevision } from '../../testing/test-model.ts'
import { claimingSize, tarOf, zipOf } from '../../testing/archives.ts'
import { importModel } from './import.ts'
import { InstalledModels } from '../installed.ts'
import { verify } from './verify.ts'

const model = randomBytes(1, 100_000)
const voice = randomBytes(2, 20_000)
const config = randomBytes(3, 500)

const file = (name: string, path: string, content: Uint8Array, isKnown = true): CardFile => ({
  name,
  repo: 'org/repo',
  revision: testRevision,
  path,
  sizeBytes: isKnown ? content.length : null,
  sha256: isKnown ? sha256Of(content) : null,
})
const card = testCard('imported', [
  file('model.onnx', 'onnx/model_int8.onnx', model),
  file('voices/anna.bin', 'v/anna.bin', voice),
  file('config.json', 'config.json', config, false),
])

type Contents = Record<string, Uint8Array>
const asCardSays: Contents = { 'model.onnx': model, 'voices/anna.bin': voice, 'config.json': config }

function folderOf(contents: Contents): string {
  const folder = temporaryFolder()
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

function written(name: string, bytes: Uint8Array): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, bytes)
  return path
}

const tarOfAll = (contents: Contents): Promise<Uint8Array> =>
  tarOf(Object.entries(contents).map(([name, content]) => ({ name, content })))

const sources: [string, (contents: Contents) => string | Promise<string>][] = [
  ['a folder', folderOf],
  [
    'a .zip',
    (contents) => written('a.zip', zipOf(Object.entries(contents).map(([name, content]) => ({ name, content })))),
  ],
  ['a .tar', async (contents) => written('a.tar', await tarOfAll(contents))],
  ['a .tar.gz', async (contents) => written('a.tgz', Bun.gzipSync(new Uint8Array(await tarOfAll(contents))))],
]

async function imported(path: string, parts = testImport(), meant: Card = card) {
  const { path: place, manifest } = await importModel(meant, path, parts, never)
  expect(new InstalledModels(parts.folder).has(meant)).toBe(true)
  expect(await verify(meant, parts, never)).toMatchObject({ isGood: true })
  for (const [name, content] of Object.entries(asCardSays)) {
    expect([name, sha256Of(readFileSync(join(place, name)))]).toEqual([name, sha256Of(content)])
  }
  return { manifest, parts }
}

test.each(sources)('%s with the names of the card', async (_what, make) => {
  const { manifest } = await imported(await make(asCardSays))
  // A file without a published hash is recorded as found, and its record says so.
  expect(manifest.files.map(({ evidence }) => evidence)).toEqual(['card', 'card', 'none'])
})

test('a folder is searched although a part of it leads back to it, or cannot be read', async () => {
  const folder = folderOf(asCardSays)
  symlinkSync('.', join(folder, 'again'))
  symlinkSync('/nowhere', join(folder, 'gone'))
  // Only root may look into it, as into `lost+found` on a disk.
  mkdirSync(join(folder, 'closed'), { mode: 0o000 })
  await imported(folder)
})

test.each(sources)('%s as the repository has it, inside another folder', async (_what, make) => {
  await imported(await make({ 'x/onnx/model_int8.onnx': model, 'x/v/anna.bin': voice, 'x/config.json': config }))
})

test.each(sources)('%s without folders, among other files', async (_what, make) => {
  const others = { 'README.md': config, 'model.onnx.bak': voice.slice(1), 'anna.txt': config }
  await imported(await make({ ...others, 'model_int8.onnx': model, 'anna.bin': voice, 'config.json': config }))
})

test.each(sources)('%s: a file with a known hash may have any name', async (_what, make) => {
  const decoy = randomBytes(9, model.length)
  await imported(await make({ a: decoy, b: model, 'model.onnx': decoy, c: voice, 'config.json': config }))
})

test('what is installed under a strict umask can be read by a service of another user', async () => {
  const source = folderOf(asCardSays)
  const parts = testImport()
  const before = process.umask(0o077)
  try {
    await importModel(card, source, parts, never)
  } finally {
    process.umask(before)
  }
  const entries = readdirSync(parts.folder.path, { recursive: true, withFileTypes: true })
  const modes = entries
    .filter(({ name }) => !name.startsWith('install.lock'))
    .map((entry) => {
      const { mode } = statSync(join(entry.parentPath, entry.name))
      return `${entry.isDirectory() ? 'folder' : 'file'} ${(mode & 0o777).toString(8)}`
    })
  expect([...new Set(modes)].sort()).toEqual(['file 644', 'folder 755'])
  expect((statSync(parts.folder.path).mode & 0o777).toString(8)).toBe('755')
})

test("the hub's own cache, whose files are links", async () => {
  const [blobs, snapshot] = [folderOf({ b1: model, b2: voice, b3: config }), temporaryFolder()]
  mkdirSync(join(snapshot, 'onnx'))
  symlinkSync(join(blobs, 'b1'), join(snapshot, 'onnx/model_int8.onnx'))
  symlinkSync(join(blobs, 'b2'), join(snapshot, 'anna.bin'))
  symlinkSync(join(blobs, 'b3'), join(snapshot, 'config.json'))
  await imported(snapshot)
})

test('Myna keeps its own copy of an import, so the source may change or disappear', async () => {
  const folder = folderOf(asCardSays)
  const { parts } = await imported(folder)
  writeFileSync(join(folder, 'model.onnx'), 'something else')
  expect(await verify(card, parts, never)).toMatchObject({ isGood: true })
})

test('missing files are named, found files are kept, and a second import adds the rest', async () => {
  const parts = testImport()
  const wrong = { 'voices/anna.bin': randomBytes(8, voice.length), 'config.json': config }
  const failed = importModel(card, folderOf(wrong), parts, never)
  await expect(failed).rejects.toMatchObject({ code: 'files_missing' })
  const { message } = (await failed.catch((error: unknown) => error)) as Error
  expect(message).toMatch(
    /^imported needs files that are not in .*: model\.onnx, voices\/anna\.bin \(of .*, its SHA-256 is/,
  )
  expect(message).toMatch(/What was found is kept\. .* run: myna models pull imported$/)
  expect(new InstalledModels(parts.folder).stateOf(card)).toBe('absent')
  expect(readdirSync(parts.folder.blobs)).toEqual([sha256Of(config)])
  await expect(importModel(card, folderOf({ 'model.onnx': model.slice(1) }), parts, never)).rejects.toThrow(
    'model.onnx (model.onnx has 99999 bytes instead of 100000)',
  )
  await importModel(card, folderOf({ 'model.onnx': model, 'config.json': config }), parts, never).catch(() => {})
  await imported(folderOf({ 'anna.bin': voice, 'config.json': config }), parts)
})

test('when two files could be the same file of unknown hash, neither is chosen', async () => {
  const contents = { ...asCardSays, 'config.json': config, 'a/config.json': voice, 'b/config.json': model }
  await imported(folderOf(contents))
  const { 'config.json': _, ...without } = contents
  await expect(importModel(card, folderOf(without), testImport(), never)).rejects.toMatchObject({
    code: 'bad_archive',
    message: expect.stringMatching(/^config\.json could be any of [ab]\/config\.json, [ab]\/config\.json, and no hash/),
  })
})

test('a source is not read when the model is already complete', async () => {
  const { parts } = await imported(folderOf(asCardSays))
  expect((await importModel(card, folderOf({}), parts, never)).wasWhole).toBe(true)
})

test('a full disk is reported before anything is written', async () => {
  const parts = { ...testImport(), freeBytes: () => 100_000_000 }
  await expect(importModel(card, folderOf(asCardSays), parts, never)).rejects.toMatchObject({ code: 'disk_full' })
  expect(readdirSync(parts.folder.blobs)).toEqual([])
})

test('Ctrl-C leaves nothing half-finished', async () => {
  const parts = testImport()
  const stop = new AbortController()
  parts.onEvent = ({ event }) => {
    if (event === 'received') stop.abort(new Error('stopped'))
  }
  await expect(importModel(card, folderOf(asCardSays), parts, stop.signal)).rejects.toThrow('stopped')
  expect(readdirSync(parts.folder.blobs).filter((name) => name.endsWith('.part'))).toEqual([])
  expect(new InstalledModels(parts.folder).stateOf(card)).toBe('absent')
})

test('names that climb out of an archive are ignored', async () => {
  const climbing = { '../../model.onnx': model, 'voices/anna.bin': voice, 'config.json': config }
  const [zip, tar] = [sources[1]?.[1], sources[2]?.[1]]
  for (const make of [zip, tar]) {
    const path = (await make?.(climbing)) ?? ''
    await expect(importModel(card, path, testImport(), never)).rejects.toThrow(/model\.onnx|relative path/)
    expect(existsSync(join(dirname(path), '../../model.onnx'))).toBe(false)
  }
})

test('links in an archive are skipped', async () => {
  const secret = written('secret', model)
  const links = (['symlink', 'link'] as const).map((type) => ({ name: 'model.onnx', type, linkname: secret }))
  const path = written('links.tar', await tarOf(links))
  await expect(importModel(card, path, testImport(), never)).rejects.toMatchObject({ code: 'files_missing' })
})

test('an archive that holds more than it declares is refused', async () => {
  const bomb = { name: 'model.onnx', content: new Uint8Array(50_000_000), claimedBytes: model.length }
  const parts = testImport()
  await expect(importModel(card, written('bomb.zip', zipOf([bomb])), parts, never)).rejects.toMatchObject({
    code: 'bad_archive',
    message: expect.stringContaining('too many bytes in the stream'),
  })
  expect(readdirSync(parts.folder.blobs)).toEqual([])
})

test('a file of unknown hash is refused when it is larger than any such model', async () => {
  const small = { ...card, memoryBytes: 1_000_000 }
  const contents = { ...asCardSays, 'config.json': new Uint8Array(70_000_000) }
  const parts = testImport()
  const path = written('large.zip', zipOf(Object.entries(contents).map(([name, content]) => ({ name, content }))))
  await expect(importModel(small, path, parts, never)).rejects.toMatchObject({
    code: 'files_missing',
    message: expect.stringContaining('config.json has 70000000 bytes, which is more than the 68000000'),
  })
})

test('reading stops when an archive declares more than any model holds', async () => {
  const tar = await tarOf([{ name: 'huge', content: config }])
  const path = written('huge.tar', claimingSize(tar, 300 * 2 ** 30))
  await expect(importModel(card, path, testImport(), never)).rejects.toMatchObject({
    code: 'bad_archive',
    message: `${path} contains more files than any model.`,
  })
})

test.each([
  ['nothing', '/nowhere/at/all', /^There is no file or folder \/nowhere/],
  [
    'some other file',
    written('notes.txt', new TextEncoder().encode('hello')),
    /notes\.txt is not an archive that Myna knows/,
  ],
  [
    'bzip2',
    written('a.tar.bz2', new TextEncoder().encode('BZh91AY&SY')),
    /is a bzip2 archive, which Myna cannot read\. Give/,
  ],
])('%s is refused as a source', async (_what, path, words) => {
  await expect(importModel(card, path, testImport(), never)).rejects.toMatchObject({
    code: 'no_such_source',
    message: expect.stringMatching(words),
  })
})

test.each([
  ['.zip', async () => zipOf([{ name: 'model.onnx', content: model }]).slice(0, -30)],
  ['.tar', async () => (await tarOfAll(asCardSays)).slice(0, 60_000)],
  ['.tar.gz', async () => Bun.gzipSync(new Uint8Array(await tarOfAll(asCardSays))).slice(0, 60_000)],
])('a damaged %s is reported as damaged and installs nothing', async (name, make) => {
  const parts = testImport()
  const path = written(`a${name}`, await make())
  await expect(importModel(card, path, parts, never)).rejects.toMatchObject({
    code: 'bad_archive',
    message: expect.stringContaining(`${path} cannot be read to the end: `),
  })
  expect(new InstalledModels(parts.folder).stateOf(card)).toBe('absent')
})

test('files with the same content are imported once', async () => {
  const twins = testCard('twins', [file('a.bin', 'a.bin', voice), file('b.bin', 'b.bin', voice)])
  const parts = testImport()
  const { manifest } = await importModel(twins, folderOf({ 'a.bin': voice }), parts, never)
  expect([manifest.files.length, readdirSync(parts.folder.blobs)]).toEqual([2, [sha256Of(voice)]])
  renameSync(parts.folder.model('twins'), join(temporaryFolder(), 'gone'))
})
