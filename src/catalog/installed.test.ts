import { beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Card } from '../domain/card.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { randomBytes, sha256Of } from '../testing/hub.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { never, testCard, testImport, type TestImport, testRevision } from '../testing/test-model.ts'
import { cards } from './cards.ts'
import { importModel } from './install/import.ts'
import { InstalledModels } from './installed.ts'
import { manifestName } from './manifest.ts'
import { verify } from './install/verify.ts'

const contents = { 'model.onnx': randomBytes(1, 5000), 'voices/anna.bin': randomBytes(2, 700) }
const files = Object.entries(contents).map(([name, content]) => ({
  name,
  path: name,
  repo: 'org/repo',
  revision: testRevision,
  sizeBytes: content.length,
  sha256: sha256Of(content),
}))
const card = testCard('model', files)

let parts: TestImport
let installed: InstalledModels
let path: string
beforeEach(async () => {
  const source = temporaryFolder()
  mkdirSync(join(source, 'voices'))
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(source, name), content)
  parts = testImport()
  path = (await importModel(card, source, parts, never)).path
  installed = new InstalledModels(parts.folder)
})

test('a running observer sees a model appear, disappear and come back', async () => {
  const states = async () => {
    await Promise.resolve()
    return [installed.has(card), installed.stateOf(card)]
  }
  expect(await states()).toEqual([true, 'installed'])
  renameSync(path, `${path}-elsewhere`)
  expect(await states()).toEqual([false, 'absent'])
  renameSync(`${path}-elsewhere`, path)
  expect(await states()).toEqual([true, 'installed'])
})

test.each([
  ['a file', () => rmSync(join(path, 'model.onnx')), ['model.onnx']],
  ['a file in a folder', () => rmSync(join(path, 'voices/anna.bin')), ['voices/anna.bin']],
  ['a folder', () => rmSync(join(path, 'voices'), { recursive: true }), ['voices/anna.bin']],
  ['the manifest', () => rmSync(join(path, manifestName)), ['model.onnx', 'voices/anna.bin']],
])('a model that lacks %s counts as not installed, and the missing file is named', async (_what, take, missing) => {
  expect(installed.has(card)).toBe(true)
  take()
  await Promise.resolve()
  expect([installed.has(card), installed.stateOf(card), installed.missing(card)]).toEqual([false, 'broken', missing])
})

test('recent changes are checked again; unchanged models are remembered', async () => {
  const clock = new ManualClock(Date.now())
  const keen = new InstalledModels(parts.folder, clock)
  const model = join(path, 'model.onnx')
  const isHere = async () => {
    await Promise.resolve()
    return keen.has(card)
  }
  expect(await isHere()).toBe(true)
  // A change of a file's content does not change its folder. It is noticed only while the file is new.
  truncateSync(model, 10)
  expect(await isHere()).toBe(false)
  writeFileSync(model, contents['model.onnx'])
  clock.jump(60_000)
  expect(await isHere()).toBe(true)
  truncateSync(model, 10)
  expect(await isHere()).toBe(true)
  rmSync(join(path, 'voices/anna.bin'))
  clock.jump(60_000)
  expect(await isHere()).toBe(false)
})

test('the first check notices a file that was cut short', () => {
  truncateSync(join(path, 'model.onnx'), 10)
  const afresh = new InstalledModels(parts.folder)
  expect([afresh.has(card), afresh.missing(card)]).toEqual([false, ['model.onnx']])
})

test('a file in the place of a folder is harmless', () => {
  rmSync(path, { recursive: true })
  writeFileSync(path, 'no folder')
  expect([installed.has(card), installed.stateOf(card)]).toEqual([false, 'broken'])
})

const otherCards: [string, Card][] = [
  ['another file', testCard('model', [...files, { ...files[0]!, name: 'new.bin', path: 'new.bin' }])],
  ['another hash', testCard('model', [{ ...files[0]!, sha256: 'a'.repeat(64) }, files[1]!])],
  ['another commit', testCard('model', [{ ...files[0]!, revision: 'b'.repeat(40) }, files[1]!])],
]

test.each(otherCards)('a model is not installed if its card now means %s', async (_what, other) => {
  expect(installed.stateOf(other)).toBe('broken')
  expect(await verify(other, parts, never)).toMatchObject({ isGood: false, reason: expect.stringContaining('other') })
})

test('a card that has since learned the recorded hash agrees with it', async () => {
  const source = temporaryFolder()
  writeFileSync(join(source, 'x.bin'), contents['model.onnx'])
  const [file] = files
  const unknown = { ...file!, name: 'x.bin', path: 'x.bin', sizeBytes: null, sha256: null }
  await importModel(testCard('x', [unknown]), source, parts, never)
  const { sizeBytes, sha256 } = file!
  expect(installed.has(testCard('x', [{ ...unknown, sizeBytes, sha256 }]))).toBe(true)
  expect(installed.stateOf(testCard('x', [{ ...unknown, sha256: 'c'.repeat(64) }]))).toBe('broken')
})

const manifests: [string, (text: string) => string][] = [
  ['no JSON', () => '{'],
  ['a list', () => '[]'],
  ['of a later version', (text) => text.replace('"version": 1', '"version": 2')],
  ['without files', (text) => text.replace('"files"', '"fils"')],
  ['with a file that is a word', (text) => text.replace(/"files": \[[^]*\]/, '"files": ["model.onnx"]')],
  ['with a size that is a word', (text) => text.replace('5000', '"5000"')],
  ['with a hash that is none', (text) => text.replace(/"sha256": "\w/, '"sha256": "x')],
  ['with a blob that is a path', (text) => text.replace(/"blob": "\w+"/, '"blob": "../../../etc/passwd"')],
  ['of another model', (text) => text.replace('"id": "model"', '"id": "other"')],
]

test.each(manifests)('a manifest that is %s is ignored', async (_what, change) => {
  const place = join(path, manifestName)
  const before = readFileSync(place, 'utf8')
  writeFileSync(place, change(before))
  expect(readFileSync(place, 'utf8')).not.toBe(before)
  const afresh = new InstalledModels(parts.folder)
  expect([afresh.has(card), afresh.stateOf(card)]).toEqual([false, 'broken'])
  expect((await verify(card, parts, never)).isGood).toBe(false)
})

test("every card can be installed: its id is a valid folder name, and no file has the manifest's name", () => {
  for (const { id, files: needed, builtIn } of cards) {
    expect(parts.folder.model(id)).toEndWith(`/installed/${id}`)
    expect([id, needed.length > 0]).toEqual([id, !builtIn])
    expect(needed.map(({ name }) => name)).not.toContain(manifestName)
    // A file may not have the name of another file's folder.
    const names = needed.map(({ name }) => name)
    expect(names.filter((name) => names.some((other) => other.startsWith(`${name}/`)))).toEqual([])
  }
})
