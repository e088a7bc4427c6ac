/** Which neural models the whole program keeps in memory, for how long, and how it reports that. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import {
  kokoroCard,
  kokoroFolder,
  pocketCard,
  pocketFolder,
  smallCards,
  smallMemoryBytes,
} from '../../testing/small-models.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const command = withCards(smallCards)
const folders = { [pocketCard.id]: await pocketFolder(), [kokoroCard.id]: await kokoroFolder() }
let program: Program
let dataDir: string
afterEach(() => program?.end())

async function start(env: Record<string, string>): Promise<void> {
  dataDir = join(temporaryFolder(), 'data')
  for (const [id, folder] of Object.entries(folders)) {
    const { code, stderr } = await run('models', 'import', id, folder)
    if (code !== 0) throw new Error(stderr)
  }
  program = await startProgram(dataDir, { MYNA_MAX_INPUT_CHARS: '1000000', ...env }, [], command)
}

const run = (...args: string[]) => runCommand(args, { program: command, env: { MYNA_DATA: dataDir } })
const input = 'The birds in the old garden learn every song they hear. '
const speak = (body: Record<string, unknown>) => program.speak(program.key, { input, response_format: 'pcm', ...body })
async function spoken(body: Record<string, unknown>): Promise<number> {
  const answer = await speak(body)
  return (await answer.arrayBuffer()).byteLength > 0 ? answer.status : 0
}
const loaded = async () =>
  (await program.engine()).models
    .map(({ id }) => id)
    .filter((id) => id !== 'silero-vad')
    .toSorted()

test('the preferred model is loaded before the first request, and unloaded when it is unused', async () => {
  await start({ MYNA_KEEP_ALIVE_MS: '300' })
  await until('it is loaded and gone again', async () => (await program.engine()).state === 'stopped', 20_000)
  expect(await spoken({})).toBe(200)
  const { models } = (await (await program.fetch('/readyz')).json()) as { models: Record<string, unknown>[] }
  expect(models.find(({ id }) => id === pocketCard.id)).toMatchObject({ state: 'loaded' })
  await until('it is gone again', async () => (await program.engine()).models.length === 0, 20_000)
  expect(program.stderr()).not.toContain('Error')
})

test('where only one model fits, a second one replaces the first unless that is in use', async () => {
  await start({ MYNA_MODEL_MEMORY: String(1.5 * smallMemoryBytes), MYNA_QUEUE_WAIT_MS: '1000' })
  expect(await spoken({ model: pocketCard.id })).toBe(200)
  expect(await loaded()).toEqual([pocketCard.id])
  expect(await spoken({ model: kokoroCard.id })).toBe(200)
  expect(await loaded()).toEqual([kokoroCard.id])
  expect(await spoken({ model: pocketCard.id })).toBe(200)
  expect(await loaded()).toEqual([pocketCard.id])
  const long = await speak({ model: pocketCard.id, input: input.repeat(1000) })
  const reader = long.body!.getReader()
  await reader.read()
  const refused = await speak({ model: kokoroCard.id })
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
  // Either memory refuses it, or the queue before that: it depends on how fast the first one speaks on this machine.
  expect(((await refused.json()) as { error: object }).error).toMatchObject({
    code: 'engine_overloaded',
    message: expect.stringMatching(/^There is no memory for the model|^The engine has as much to say as it can/),
  })
  expect(await loaded()).toEqual([pocketCard.id])
  const waiting = speak({ model: kokoroCard.id })
  await reader.cancel()
  const answer = await waiting
  expect([answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([200, true])
})

test('a model that exceeds every budget is refused with what to change', async () => {
  await start({ MYNA_MODEL_MEMORY: '50MB' })
  const refused = await speak({ model: pocketCard.id })
  expect(refused.status).toBe(503)
  expect(((await refused.json()) as { error: object }).error).toMatchObject({ code: 'model_unavailable' })
  expect(program.stderr()).toContain('it needs 60 MB, and all models together may take 50 MB (MYNA_MODEL_MEMORY)')
})
