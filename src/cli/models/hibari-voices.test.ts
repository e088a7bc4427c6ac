/**
 * The card of hibari's other voices in the whole program. The hub's own graphs are not here: the built-in one, which
 * has the same inputs and outputs, is in the place of each, so this shows the pull, the routing and the English of each
 * voice, and nothing of how the real ones sound.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sound } from '../../audio/clip.ts'
import { cards } from '../../catalog/cards.ts'
import type { Card } from '../../domain/card.ts'
import { embeddedFile } from '../../embedded/models.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { sha256Of, TestHub } from '../../testing/hub.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { clipRateHz, speech } from '../../testing/speech-clips.ts'
import { until } from '../../testing/until.ts'

// Real engines, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

const dataDir = join(temporaryFolder(), 'data')
const hibari = cards.find(({ id }) => id === 'hibari')!
let hub: TestHub
let command: string[]
let program: Program
let clone: string
let clonedBefore: Buffer

beforeAll(async () => {
  hub = await TestHub.start()
  const content = await embeddedFile(hibari, 'hibari.onnx')
  const stand = { sizeBytes: content.length, sha256: sha256Of(content) }
  const published = cards.find(({ id }) => id === 'hibari-voices')!
  for (const { repo, revision, path } of published.files) hub.add({ repo, revision, path, content, isLarge: true })
  const card: Card = { ...published, files: published.files.map((file) => ({ ...file, ...stand })) }
  command = withCards([...cards.filter(({ builtIn }) => builtIn), card])
  program = await startProgram(dataDir, {}, [], command)
})
afterAll(async () => {
  await program?.end()
  await hub.stop()
})

const models = (...args: string[]) =>
  runCommand(['models', ...args], { program: command, env: { MYNA_DATA: dataDir, HF_ENDPOINT: hub.url } })
const speak = (body: Record<string, unknown>) =>
  program.speak(program.key, { input: 'He can not dance.', response_format: 'wav', ...body })
async function wav(body: Record<string, unknown>): Promise<Buffer> {
  const answer = await speak(body)
  if (answer.status !== 200) throw new Error(await answer.text())
  return Buffer.from(await answer.arrayBuffer())
}
const get = async (path: string) => (await (await program.fetch(path, program.key)).json()) as Record<string, unknown>

async function cloned(): Promise<string> {
  const body = new FormData()
  const pcm = await speech('This clip was spoken by the built-in voice, and it lasts for longer than three seconds.')
  body.append('file', new File([sound.wav(pcm, clipRateHz) as Uint8Array<ArrayBuffer>], 'clip.wav'))
  body.append('name', 'Ada')
  const made = await program.fetch('/v1/voices', program.key, { method: 'POST', body })
  const { voice_id: id } = (await made.json()) as { voice_id: string }
  await until('it is made', async () => (await get(`/v1/voices/${id}`))['status'] !== 'processing', 60_000)
  return id
}

test('before it is pulled, a voice of it is refused with the command, and a clip is cloned without it', async () => {
  const refused = await speak({ voice: 'kestrel' })
  expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('models pull hibari-voices')])
  clone = await cloned()
  clonedBefore = await wav({ voice: clone })
})

test('pulled from a hub, each of its voices speaks, shaped or not, and the British in their English', async () => {
  const pulled = await models('pull', 'hibari-voices')
  expect([pulled.code, pulled.stderr]).toEqual([0, expect.any(String)])
  const lark = await wav({ voice: 'lark' })
  for (const voice of ['kestrel', 'linnet']) expect((await wav({ voice })).equals(lark)).toBe(true)
  const british = await wav({ voice: 'dunnock' })
  expect([british.equals(lark), (await wav({ voice: 'rook' })).equals(british)]).toEqual([false, true])
  const merle = await wav({ voice: 'merle' })
  for (const voice of ['harrier', 'siskin']) expect((await wav({ voice })).equals(merle)).toBe(true)
  const heron = await wav({ voice: 'heron' })
  expect([heron.equals(merle), heron.equals(british), (await wav({ voice: 'pipit' })).equals(heron)]).toEqual([
    false,
    false,
    true,
  ])
  expect(await get('/v1/voices/rook')).toMatchObject({ model: 'hibari-voices', language: 'en-GB', status: 'ready' })
  const preview = await program.fetch('/v1/voices/kestrel/preview', program.key)
  expect([preview.status, (await preview.arrayBuffer()).byteLength > 1000]).toEqual([200, true])
})

test('voices that are shaped and clones stay as they were, and new clips are cloned as before', async () => {
  expect((await wav({ voice: clone })).equals(clonedBefore)).toBe(true)
  expect((await wav({ voice: 'martin' })).equals(await wav({ voice: 'martin', model: 'hibari' }))).toBe(true)
  const second = await cloned()
  expect(await get(`/v1/voices/${second}`)).toMatchObject({ model: 'hibari', fidelity: 'approximate', status: 'ready' })
  expect((await wav({ voice: second })).equals(clonedBefore)).toBe(true)
  const foreign = await speak({ voice: 'lark', model: 'hibari-voices' })
  expect([foreign.status, await foreign.text()]).toEqual([400, expect.stringContaining('voice_model_mismatch')])
})

test('a clone is shared: named with the other model, it speaks as it does with its own', async () => {
  const shared = await speak({ voice: clone, model: 'hibari-voices' })
  expect(shared.status).toBe(200)
  // Spoken by the built-in model: the pulled one has no graph of that name.
  expect(Buffer.from(await shared.arrayBuffer()).equals(clonedBefore)).toBe(true)
})

test('once it is removed, its voices are gone and the others remain', async () => {
  expect((await models('rm', 'hibari-voices')).code).toBe(0)
  expect((await speak({ voice: 'kestrel' })).status).toBe(404)
  expect((await speak({ voice: clone })).status).toBe(200)
})
