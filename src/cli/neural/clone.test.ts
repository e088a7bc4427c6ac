/**
 * Clones of a neural model in the whole program: made from an upload, bound to its family, still there after a restart.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { decodeFile } from '../../audio/decode/clip.ts'
import { sound } from '../../audio/clip.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import {
  kokoroCard,
  kokoroFolder,
  pocketCard,
  pocketFolder,
  pocketSibling,
  smallCards,
} from '../../testing/small-models.ts'
import { clipRateHz, speech } from '../../testing/speech-clips.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const dataDir = join(temporaryFolder(), 'data')
const command = withCards(smallCards)
let program: Program
let key: string
let clip: File
let voiceId: string
beforeAll(async () => {
  const pocket = await pocketFolder()
  for (const [id, folder] of [
    [pocketCard.id, pocket],
    [pocketSibling.id, pocket],
    [kokoroCard.id, await kokoroFolder()],
  ] as const) {
    const { code, stderr } = await runCommand(['models', 'import', id, folder], {
      program: command,
      env: { MYNA_DATA: dataDir },
    })
    if (code !== 0) throw new Error(stderr)
  }
  const pcm = await speech('This clip was spoken by the built-in voice, and it lasts for longer than three seconds.')
  clip = new File([sound.wav(pcm, clipRateHz) as Uint8Array<ArrayBuffer>], 'clip.wav')
  program = await startProgram(dataDir, {}, [], command)
  key = program.key
})
afterAll(() => program?.end())

const input = 'The birds in the old garden learn every song they hear.'
const speak = (body: Record<string, unknown>) => program.speak(key, { input, seed: 5, response_format: 'wav', ...body })
const wav = async (body: Record<string, unknown>) => {
  const answer = await speak(body)
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}
const get = async (path: string) => (await (await program.fetch(path, key)).json()) as Record<string, unknown>
const voice = (id = voiceId) => get(`/v1/voices/${id}`)

async function clone(name: string): Promise<Response> {
  const body = new FormData()
  body.append('file', clip)
  body.append('name', name)
  return program.fetch('/v1/voices', key, { method: 'POST', body })
}

test('a clip becomes a voice of the preferred model, with a preview and a picture', async () => {
  const made = await clone('Ada')
  expect(made.status).toBe(201)
  voiceId = ((await made.json()) as { voice_id: string }).voice_id
  await until('it is made', async () => (await voice()).status !== 'processing', 30_000)
  expect(await voice()).toMatchObject({ status: 'ready', model: pocketCard.id, fidelity: 'full', error: null })
  const preview = await program.fetch(`/v1/voices/${voiceId}/preview`, key)
  const { pcm } = await decodeFile(new Uint8Array(await preview.arrayBuffer()), 600)
  expect([preview.status, pcm.some((sample) => Math.abs(sample) > 0.01)]).toEqual([200, true])
  const picture = await program.fetch(`/v1/voices/${voiceId}/preview.png`, key)
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
})

test('it speaks by id, name and alias, sounds unlike a preset, and works with every model of its family', async () => {
  const own = await wav({ voice: voiceId })
  expect((await wav({ voice: 'Ada' })).equals(own)).toBe(true)
  expect((await wav({ voice: 'alba' })).equals(own)).toBe(false)
  expect((await wav({ voice: voiceId, model: 'tts-1' })).equals(own)).toBe(true)
  // The same weights under another name.
  expect((await wav({ voice: voiceId, model: pocketSibling.id })).equals(own)).toBe(true)
  const patched = await program.fetch(`/v1/voices/${voiceId}`, key, {
    method: 'PATCH',
    body: JSON.stringify({ aliases: ['nova'] }),
  })
  expect(patched.status).toBe(200)
  expect((await wav({ voice: 'nova' })).equals(own)).toBe(true)
})

test.each([kokoroCard.id, 'hibari'])('%s, a model of another family, refuses it with an explanation', async (model) => {
  const refused = await speak({ model, voice: voiceId })
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { error: object }).error).toMatchObject({
    code: 'voice_model_mismatch',
    param: 'model',
    message: expect.stringContaining(model),
  })
})

test('after a restart it still exists and sounds the same', async () => {
  const before = await wav({ voice: voiceId })
  program.kill('SIGKILL')
  await program.exited
  program = await startProgram(dataDir, {}, [], command)
  expect(await voice()).toMatchObject({ status: 'ready', name: 'Ada', aliases: ['nova'] })
  expect((await wav({ voice: voiceId })).equals(before)).toBe(true)
  expect((await wav({ voice: voiceId, model: pocketSibling.id })).equals(before)).toBe(true)
})

test('without the model that made it, its sibling speaks; without either, the error names what it needs', async () => {
  const before = await wav({ voice: voiceId })
  const remove = (id: string) => runCommand(['models', 'rm', id], { program: command, env: { MYNA_DATA: dataDir } })
  expect((await remove(pocketCard.id)).code).toBe(0)
  expect((await wav({ voice: voiceId })).equals(before)).toBe(true)
  expect((await remove(pocketSibling.id)).code).toBe(0)
  const refused = await speak({ voice: voiceId })
  expect(refused.status).toBe(404)
  expect(((await refused.json()) as { error: object }).error).toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining(`myna models pull ${pocketCard.id}`),
  })
  expect(await voice()).toMatchObject({ status: 'ready' })
})

test('a clip is cloned by the best model that clones, even if another is preferred for speech', async () => {
  const { voices } = (await get('/v1/voices')) as { voices: { voice_id: string }[] }
  expect(voices.map(({ voice_id }) => voice_id)).toEqual(expect.arrayContaining(['a', voiceId]))
  const made = (await (await clone('Bob')).json()) as { voice_id: string }
  await until('it is made', async () => (await voice(made.voice_id)).status !== 'processing', 30_000)
  expect(await voice(made.voice_id)).toMatchObject({ status: 'ready', model: 'hibari', fidelity: 'approximate' })
  expect((await wav({ voice: 'Bob' })).length).toBeGreaterThan(10_000)
})
