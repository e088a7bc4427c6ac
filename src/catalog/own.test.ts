import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { testCard } from '../testing/test-model.ts'
import { manifestName, manifestText } from './manifest.ts'
import { ModelsFolder } from './models-folder.ts'
import { OwnModels } from './own.ts'

test("a user's model is there as soon as its folder is, even if no model was ever installed", async () => {
  const folder = new ModelsFolder(join(temporaryFolder(), 'models'))
  const own = new OwnModels(folder, [testCard('base', [])])
  const ids = async () => {
    // It looks at the disk once in a turn of the event loop.
    await Promise.resolve()
    return own.cards().map(({ id }) => id)
  }
  expect([await ids(), await ids()]).toEqual([[], []])
  const path = join(folder.model('mine'), manifestName)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, manifestText({ id: 'mine', installedAtMs: 0, like: 'base', files: [] }))
  expect(await ids()).toEqual(['mine'])
  rmSync(folder.installed, { recursive: true })
  expect(await ids()).toEqual([])
})
