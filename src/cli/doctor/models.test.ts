import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importModel } from '../../catalog/install/import.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, sha256Of } from '../../testing/hub.ts'
import { never, testCard, testImport, testRevision } from '../../testing/test-model.ts'
import { checkModels } from './doctor.ts'

test('each model on disk has a line: complete, incomplete with what is missing, or unknown', async () => {
  const [dataDir, source] = [temporaryFolder(), temporaryFolder()]
  const files = ['a.bin', 'b.bin', 'c.bin', 'd.bin', 'e.bin'].map((name, at) => {
    const content = randomBytes(at, 1000)
    writeFileSync(join(source, name), content)
    const place = { name, path: name, repo: 'org/repo', revision: testRevision }
    return { ...place, sizeBytes: content.length, sha256: sha256Of(content) }
  })
  const cards = ['whole', 'broken', 'absent'].map((id) => testCard(id, files))
  const find = () => checkModels({ dataDir }, cards)
  expect(await find()).toEqual([])
  const parts = testImport(dataDir)
  for (const card of cards.slice(0, 2)) await importModel(card, source, parts, never)
  mkdirSync(join(parts.folder.installed, 'stranger'))
  rmSync(join(parts.folder.model('broken'), 'd.bin'))
  expect(await find()).toEqual([
    { state: 'failed', message: 'broken is incomplete: missing: d.bin', remedy: 'Fix it: myna models pull broken' },
    {
      state: 'warning',
      message: 'this version of Myna does not know the model stranger',
      remedy: 'Remove it: myna models rm stranger',
    },
    { state: 'ok', message: 'whole: 5 files, 5.0 kB; to verify them: myna models verify', remedy: null },
  ])
  for (const name of ['a.bin', 'b.bin', 'c.bin']) rmSync(join(parts.folder.model('broken'), name))
  expect((await find())[0]?.message).toBe('broken is incomplete: missing: a.bin, b.bin, c.bin and 1 more')
  writeFileSync(join(parts.folder.model('broken'), 'e.bin'), 'half')
  writeFileSync(join(parts.folder.model('broken'), 'd.bin'), 'half')
  for (const name of ['a.bin', 'b.bin']) cpSync(join(source, name), join(parts.folder.model('broken'), name))
  expect((await find())[0]?.message).toBe('broken is incomplete: missing: c.bin; cut short or changed: d.bin, e.bin')
  rmSync(join(parts.folder.model('broken'), 'myna.json'))
  expect((await find())[0]?.message).toBe('broken is incomplete: its files are not the ones it needs')
})
