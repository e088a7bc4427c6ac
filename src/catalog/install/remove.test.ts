import { beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CardFile } from '../../domain/card.ts'
import { preparedFolder } from '../../domain/card.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, sha256Of } from '../../testing/hub.ts'
import { never, testCard, testImport, type TestImport, testRevision } from '../../testing/test-model.ts'
import { importModel } from './import.ts'
import { InstalledModels } from '../installed.ts'
import { remove } from './remove.ts'
import { verify } from './verify.ts'

const contents = { 'shared.bin': randomBytes(1, 5000), 'one.bin': randomBytes(2, 300), 'other.bin': randomBytes(3, 20) }
const file = (name: keyof typeof contents): CardFile => ({
  name,
  path: name,
  repo: 'org/repo',
  revision: testRevision,
  sizeBytes: contents[name].length,
  sha256: sha256Of(contents[name]),
})
const one = testCard('one', [file('shared.bin'), file('one.bin')])
const other = testCard('other', [file('shared.bin'), file('other.bin')])
const nothing = async () => {}

let parts: TestImport
let installed: InstalledModels
beforeEach(async () => {
  const source = temporaryFolder()
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(source, name), content)
  parts = testImport()
  installed = new InstalledModels(parts.folder)
  for (const card of [one, other]) await importModel(card, source, parts, never)
})

const blobs = () => readdirSync(parts.folder.blobs).sort()
const named = (...names: (keyof typeof contents)[]) => names.map((name) => sha256Of(contents[name])).sort()

test('files that two models share stay until both are removed', async () => {
  expect(await remove('one', one, parts, never, nothing)).toEqual({ wasThere: true, freedBytes: 300 })
  expect([installed.stateOf(one), blobs()]).toEqual(['absent', named('shared.bin', 'other.bin')])
  expect((await verify(other, parts, never)).isGood).toBe(true)
  expect(await remove('other', other, parts, never, nothing)).toEqual({ wasThere: true, freedBytes: 5020 })
  expect(blobs()).toEqual([])
})

test('what an engine has made of a graph goes with the model, and counts', async () => {
  const made = join(parts.folder.model('one'), preparedFolder, 'graph-1')
  mkdirSync(made, { recursive: true })
  writeFileSync(join(made, 'weights.bin'), 'w'.repeat(70))
  expect((await verify(one, parts, never)).isGood).toBe(true)
  expect(await remove('one', one, parts, never, nothing)).toEqual({ wasThere: true, freedBytes: 370 })
  expect(existsSync(made)).toBe(false)
})

test('when the server is notified, the model can no longer be loaded, but loaded files still exist', async () => {
  const seen: unknown[] = []
  await remove('one', one, parts, never, async () => {
    seen.push(installed.stateOf(one), blobs().length)
  })
  expect(seen).toEqual(['absent', 3])
})

test('a model without its manifest, and a model that no card knows, still give back their blobs', async () => {
  for (const id of ['one', 'other']) rmSync(join(parts.folder.model(id), 'myna.json'))
  expect(await remove('one', null, parts, never, nothing)).toEqual({ wasThere: true, freedBytes: 5300 })
  expect(statSync(join(parts.folder.model('other'), 'shared.bin')).size).toBe(5000)
})

test('removes the remains of an interrupted pull too; removing an unknown model does nothing', async () => {
  const third = testCard('third', [{ ...file('one.bin'), sha256: 'e'.repeat(64) }])
  const part = parts.folder.part('e'.repeat(64))
  writeFileSync(part, 'begun')
  expect(await remove('third', third, parts, never, nothing)).toEqual({ wasThere: true, freedBytes: 5 })
  expect(existsSync(part)).toBe(false)
  expect(await remove('third', third, parts, never, nothing)).toEqual({ wasThere: false, freedBytes: 0 })
})
