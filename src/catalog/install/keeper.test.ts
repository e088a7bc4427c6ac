import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import type { KeptModel } from '../../service/ports/models.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { TestHub } from '../../testing/hub.ts'
import { publish, testCard, type TestFile, testPull } from '../../testing/test-model.ts'
import { until } from '../../testing/until.ts'
import { InstalledModels } from '../installed.ts'
import { BackgroundKeeper } from './keeper.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await TestHub.start()
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.trouble = () => null
})

const files: readonly TestFile[] = [
  { path: 'model.onnx', sizeBytes: 200_000 },
  { path: 'config.json', sizeBytes: 700, isLarge: false, knows: 'nothing' },
]

let seed = 7000
function keeper(change: { isInUse?: boolean } = {}) {
  seed++
  const card = testCard(`kept-${seed}`, publish(hub, `org/kept-${seed}`, seed, files))
  const builtIn: Card = { ...card, id: 'inside', builtIn: true, files: [] }
  const parts = testPull(hub)
  const dismissed: string[] = []
  const reports: unknown[] = []
  const kept = new BackgroundKeeper({
    cards: () => [card, builtIn],
    installed: new InstalledModels(parts.folder),
    clock: new ManualClock(),
    installation: (onEvent) => ({ ...parts, onEvent }),
    dismiss: (id) => dismissed.push(id),
    isInUse: async () => change.isInUse === true,
    report: (...told) => reports.push(told),
  })
  const look = async (): Promise<KeptModel> => (await kept.list()).find((model) => model.card.id === card.id)!
  const ended = () =>
    until('the pull has ended', async () => ['failed', undefined].includes((await look()).pull?.state))
  return { kept, card, parts, look, ended, dismissed, reports }
}

test('a pull runs in the background and reports its progress', async () => {
  const { kept, card, look, ended, dismissed } = keeper()
  expect(await look()).toMatchObject({ state: 'absent', downloadBytes: 200_000, unknownSizes: 1, pull: null })
  kept.pull(card.id)
  kept.pull(card.id)
  expect((await look()).pull).toMatchObject({ error: null })
  await ended()
  expect(await look()).toMatchObject({ state: 'installed', diskBytes: 200_700, pull: null })
  expect(dismissed).toEqual([card.id])
})

test('the reason why a pull failed is kept until the next pull', async () => {
  const { kept, card, look, ended, reports } = keeper()
  hub.trouble = () => ({ kind: 'refuse', status: 403, headers: { 'x-error-code': 'GatedRepo' } })
  kept.pull(card.id)
  await ended()
  const { state, pull } = await look()
  expect([state, pull?.state]).toEqual(['absent', 'failed'])
  expect(pull?.error).toContain(card.files[0]!.repo)
  expect(reports).toEqual([])
  hub.trouble = () => null
  kept.pull(card.id)
  await ended()
  expect(await look()).toMatchObject({ state: 'installed', pull: null })
})

test('a cancelled pull leaves only the bytes that arrived', async () => {
  const { kept, card, parts, look, ended } = keeper()
  hub.trouble = () => ({ kind: 'silent', afterBytes: 1000 })
  kept.pull(card.id)
  await until('bytes come', async () => ((await look()).pull?.doneBytes ?? 0) > 0)
  kept.cancel(card.id)
  await ended()
  expect(await look()).toMatchObject({ state: 'absent', pull: null })
  expect(existsSync(join(parts.folder.installed, card.id))).toBe(false)
  kept.cancel(card.id)
})

test('removes a model, but not one that is in use or being pulled', async () => {
  const { kept, card, look, ended } = keeper()
  kept.pull(card.id)
  await expect(kept.remove(card.id)).rejects.toThrow('is being pulled')
  await ended()
  expect(await kept.remove(card.id)).toBe(200_700)
  expect((await look()).state).toBe('absent')
  const used = keeper({ isInUse: true })
  await expect(used.kept.remove(used.card.id)).rejects.toThrow('is in use')
})

test('refuses unknown and built-in models', async () => {
  const { kept } = keeper()
  expect(() => kept.pull('nothing')).toThrow("There is no model 'nothing'")
  expect(() => kept.pull('inside')).toThrow('inside the program')
  await expect(kept.remove('inside')).rejects.toThrow('inside the program')
})
