import { expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preparedFolder } from '../domain/card.ts'
import { failureOf } from '../testing/failure.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { remembered } from './remembered.ts'

function model() {
  const folder = temporaryFolder()
  for (const name of ['graph.onnx', 'config.json']) {
    writeFileSync(join(folder, name), 'as published')
    utimesSync(join(folder, name), 1000, 1000)
  }
  let trials = 0
  const ask = (found: number | null, form = 'first') =>
    remembered(folder, form, async () => {
      trials++
      return found
    })
  return { folder, path: join(folder, preparedFolder, 'tried.json'), ask, trials: () => trials }
}

test('a trial is made once, and again for another form', async () => {
  const { folder, ask, trials } = model()
  expect([await ask(2), await ask(7), trials()]).toEqual([2, 2, 1])
  expect([await ask(3, 'second'), await ask(4, 'second'), trials()]).toEqual([3, 3, 2])
  expect(readdirSync(join(folder, preparedFolder))).toEqual(['tried.json'])
})

test.each<[string, (folder: string) => void]>([
  ['has other content', (folder) => writeFileSync(join(folder, 'graph.onnx'), 'of another length')],
  ['was written again', (folder) => utimesSync(join(folder, 'config.json'), 1000, 2000)],
  ['is new', (folder) => writeFileSync(join(folder, 'graph.onnx_data'), '')],
  [
    'kept the result and is damaged',
    (folder) => writeFileSync(join(folder, preparedFolder, 'tried.json'), '{"stamp":'),
  ],
  ['kept the result and is empty', (folder) => writeFileSync(join(folder, preparedFolder, 'tried.json'), 'null')],
])('it is made again when a file %s', async (_, change) => {
  const { folder, ask, trials } = model()
  await ask(2)
  change(folder)
  expect([await ask(5), await ask(6), trials()]).toEqual([5, 5, 2])
})

test('a failure is not kept', async () => {
  const { folder, path, ask } = model()
  const error = await failureOf(remembered(folder, 'first', () => Promise.reject(new Error('this export is broken'))))
  expect(error.message).toBe('this export is broken')
  expect([existsSync(path), await ask(2)]).toEqual([false, 2])
})

test('what may be otherwise the next time is not kept', async () => {
  const { path, ask, trials } = model()
  expect([await ask(null), existsSync(path), await ask(2), await ask(3), trials()]).toEqual([null, false, 2, 2, 2])
})

test('where nothing can be written, each load tries', async () => {
  const { folder, ask, trials } = model()
  // A file in its place, because root may write everywhere.
  writeFileSync(join(folder, preparedFolder), '')
  chmodSync(join(folder, preparedFolder), 0o444)
  expect([await ask(2), await ask(3), trials()]).toEqual([2, 3, 2])
})
