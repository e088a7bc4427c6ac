import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { InstalledModels } from '../../catalog/installed.ts'
import { namesIn } from '../../catalog/models-folder.ts'
import { verify } from '../../catalog/install/verify.ts'
import type { Card } from '../../domain/card.ts'
import { finished, startCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { TestHub } from '../../testing/hub.ts'
import { withCards } from '../../testing/models-child.ts'
import { forEachSeed, type Seeded } from '../../testing/seeded.ts'
import { never, publish, testCard } from '../../testing/test-model.ts'
import { modelsFolder } from './local.ts'

setDefaultTimeout(120_000)

let hub: TestHub
let card: Card
let program: string[]
beforeAll(async () => {
  hub = await TestHub.start()
  const files = publish(hub, 'org/model', 400, [
    { path: 'a.onnx', sizeBytes: 1_200_000 },
    { path: 'b.onnx', sizeBytes: 400_000, knows: 'nothing' },
    { path: 'c/d.bin', sizeBytes: 90_000 },
    { path: 'c/e.json', sizeBytes: 2000, isLarge: false, knows: 'nothing' },
    { path: 'f.json', sizeBytes: 1, isLarge: false },
  ])
  card = testCard('model', files)
  program = withCards([card])
})
afterAll(() => hub.stop())

const totalBytes = 1_692_001

const startPull = (dataDir: string) =>
  startCommand(['models', 'pull', 'model', '--json'], { program, env: { MYNA_DATA: dataDir, HF_ENDPOINT: hub.url } })

/**
 * Kills a pull at some moment: after this many bytes were sent, after this many lines, or while it builds the folder.
 */
async function killedPull(dataDir: string, random: Seeded): Promise<string> {
  const moment = random.pick(['bytes', 'events', 'building', 'building'] as const)
  const [bytes, events, laterMs] = [random.whole(0, totalBytes), random.whole(0, 20), 12 * random.next() ** 2]
  let isKilled = false
  const kill = () => {
    isKilled = true
    child.kill('SIGKILL')
  }
  hub.requests.length = 0
  hub.onSent = () => {
    if (moment === 'bytes' && !isKilled && hub.sentBytes >= bytes) kill()
  }
  const watcher = watch(modelsFolder({ dataDir }).installed, () => {
    if (moment !== 'building' || isKilled) return
    // A file has appeared in the folder of models. The next steps take some milliseconds, and the kill may hit any of
    // them.
    for (const startMs = performance.now(); performance.now() - startMs < laterMs;);
    kill()
  })
  const child = startPull(dataDir)
  let told = ''
  for await (const block of child.stdout) {
    told += new TextDecoder().decode(block)
    if (moment === 'events' && told.split('\n').length > events) kill()
  }
  await child.exited
  watcher.close()
  hub.onSent = () => {}
  return `${moment} ${bytes} ${events} ${laterMs}`
}

/** Bytes that a killed pull has left: of complete and of partial blobs. */
function keptBytes(dataDir: string): number {
  const { blobs } = modelsFolder({ dataDir })
  return readdirSync(blobs).reduce((sum, name) => sum + statSync(join(blobs, name)).size, 0)
}

test('killed at any moment, a pull leaves a whole model or none, and the next fetches what is missing', async () => {
  const seen = { installed: 0, absent: 0 }
  await forEachSeed(8, async (random) => {
    const dataDir = join(temporaryFolder(), 'data')
    const folder = modelsFolder({ dataDir })
    await folder.make()
    for (let kills = random.whole(1, 3); kills > 0; kills--) {
      const moment = await killedPull(dataDir, random)
      const isThere = (await folder.modelIds()).length === 1
      const { isGood } = await verify(card, { folder, onEvent: () => {} }, never)
      expect([moment, new InstalledModels(folder).stateOf(card), isGood]).toEqual(
        isThere ? [moment, 'installed', true] : [moment, 'absent', false],
      )
      seen[isThere ? 'installed' : 'absent']++
    }
    const missing = totalBytes - keptBytes(dataDir)
    hub.requests.length = 0
    const { code, stderr } = await finished(startPull(dataDir))
    expect([code, stderr, hub.sentBytes]).toEqual([0, '', missing])
    expect(await verify(card, { folder, onEvent: () => {} }, never)).toMatchObject({ isGood: true })
    expect(
      (await namesIn(folder.installed)).concat(await namesIn(folder.blobs)).filter((name) => /^\.|part$/.test(name)),
    ).toEqual([])
  })
  // Seeds that never let a pull finish, or always do, would prove only half of it.
  expect([seen.absent > 3, seen.installed > 0]).toEqual([true, true])
})
