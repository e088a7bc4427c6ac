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

test('what is installed is seen, and seen to go and to come back, by one that keeps looking', async () => {
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
])('a model from which %s was taken counts as none, and says what is missing', async (_what, take, missing) => {
  expect(installed.has(card)).toBe(true)
  take()
  await Promise.resolve()
  expect([installed.has(card), installed.stateOf(card), installed.missing(card)]).toEqual([false, 'broken', missing])
})

test('what has changed a moment ago is looked at anew, and what has not is remembered', async () => {
  const clock = new ManualClock(Date.now())
  const keen = new InstalledModels(parts.folder, clock)
  const model = join(path, 'model.onnx')
  const isHere = async () => {
    await Promise.resolve()
    return keen.has(card)
  }
  expect(await isHere()).toBe(true)
  // A change of a file's content alone is none of its folder, and is seen only as long as that is new.
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

test('a file that was cut short is noticed by whoever looks for the first time', () => {
  truncateSync(join(path, 'model.onnx'), 10)
  const afresh = new InstalledModels(parts.folder)
  expect([afresh.has(card), afresh.missing(card)]).toEqual([false, ['model.onnx']])
})

test('a file in the place of a folder is no trouble', () => {
  rmSync(path, { recursive: true })
  writeFileSync(path, 'no folder')
  expect([installed.has(card), installed.stateOf(card)]).toEqual([false, 'broken'])
})

const otherCards: [string, Card][] = [
  ['another file', testCard('model', [...files, { ...files[0]!, name: 'new.bin', path: 'new.bin' }])],
  ['another hash', testCard('model', [{ ...files[0]!, sha256: 'a'.repeat(64) }, files[1]!])],
  ['another commit', testCard('model', [{ ...files[0]!, revision: 'b'.repeat(40) }, files[1]!])],
]

test.each(otherCards)('a model whose card means %s by now is not installed', async (_what, other) => {
  expect(installed.stateOf(other)).toBe('broken')
  expect(await verify(other, parts, never)).toMatchObject({ isGood: false, reason: expect.stringContaining('other') })
})

test('a card that has come to know what was recorded as found agrees with it', async () => {
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

test.each(manifests)('a manifest that is %s says nothing, and breaks nothing', async (_what, change) => {
  const place = join(path, manifestName)
  const before = readFileSync(place, 'utf8')
  writeFileSync(place, change(before))
  expect(readFileSync(place, 'utf8')).not.toBe(before)
  const afresh = new InstalledModels(parts.folder)
  expect([afresh.has(card), afresh.stateOf(card)]).toEqual([false, 'broken'])
  expect((await verify(card, parts, never)).isGood).toBe(false)
})

test('every card of this program can be installed: its id names a folder, and none of its files the manifest', () => {
  for (const { id, files: needed, builtIn } of cards) {
    expect(parts.folder.model(id)).toEndWith(`/installed/${id}`)
    expect([id, needed.length > 0]).toEqual([id, !builtIn])
    expect(needed.map(({ name }) => name)).not.toContain(manifestName)
    // A name may not be a folder of another.
    const names = needed.map(({ name }) => name)
    expect(names.filter((name) => names.some((other) => other.startsWith(`${name}/`)))).toEqual([])
  }
})
