import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sound } from '../../audio/clip.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { kokoroCard, kokoroFolder, smallCards, whisperCard, whisperFolder } from '../../testing/small-models.ts'
import { clipRateHz, speech } from '../../testing/speech-clips.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

const sha256 = 'a'.repeat(64)
/** Like the published models: a file of another size or content does not belong to them. */
const pinned = smallCards.map((card) => ({
  ...card,
  files: card.files.map((file) => ({ ...file, sizeBytes: 7, sha256 })),
}))
const command = withCards(pinned)
const dataDir = join(temporaryFolder(), 'data')
const run = (...args: string[]) => runCommand(args, { program: command, env: { MYNA_DATA: dataDir, MYNA_PORT: '0' } })
const own = (path: string, id: string, like: string) => run('models', 'import', path, '--as', id, '--like', like)

let program: Program
beforeAll(async () => {
  program = await startProgram(dataDir, {}, [], command)
})
afterAll(() => program?.end())

async function transcribe(model: string) {
  const body = new FormData()
  const wav = sound.wav(await speech('Good morning to you all.'), clipRateHz)
  body.append('file', new File([wav as Uint8Array<ArrayBuffer>], 'talk.wav'))
  body.append('model', model)
  return program.fetch('/v1/audio/transcriptions', program.key, { method: 'POST', body })
}

test('files that differ from the published ones become a separate model, at once, in a running server', async () => {
  const folder = await whisperFolder()
  expect((await run('models', 'import', whisperCard.id, folder)).stderr).toContain('needs files that are not in')
  const { code, stdout, stderr } = await own(folder, 'my-whisper', whisperCard.id)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^my-whisper is installed: 6 files/m)])
  expect(stderr).toContain('it counts as unverified')
  const answer = await transcribe('my-whisper')
  expect([answer.status, typeof ((await answer.json()) as { text: string }).text]).toEqual([200, 'string'])
})

test('only that model is marked as unverified in the list, the record and the console', async () => {
  expect((await run('models', 'list')).stdout).toMatch(/^my-whisper +transcription +unverified +-/m)
  expect((await run('models', 'show', 'my-whisper')).stdout).toContain(`in place of ${whisperCard.id}`)
  const list = (await (await program.fetch('/v1/models', program.key)).json()) as {
    data: { id: string; verified: boolean }[]
  }
  expect(list.data.find(({ id }) => id === 'my-whisper')?.verified).toBe(false)
  expect(list.data.find(({ id }) => id === 'hibari')?.verified).toBe(true)
  const console = (await (await program.fetch('/console/api/admin/models', program.key)).json()) as {
    data: { id: string; like: string | null }[]
  }
  expect(console.data.filter(({ like }) => like !== null).map(({ id, like }) => [id, like])).toEqual([
    ['my-whisper', whisperCard.id],
  ])
  expect((await run('models', 'verify', 'my-whisper')).code).toBe(0)
})

test('a speech model has the voices of its family', async () => {
  expect((await own(await kokoroFolder(), 'my-kokoro', kokoroCard.id)).code).toBe(0)
  const [voice] = kokoroCard.voices
  const answer = await program.speak(program.key, {
    model: 'my-kokoro',
    voice: voice!.id,
    input: 'Hello.',
    response_format: 'pcm',
  })
  expect([answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([200, true])
})

test('files that the architecture cannot use are refused with the reason, and nothing of them stays', async () => {
  const folder = await whisperFolder()
  copyFileSync(join(folder, 'decoder_model_merged.onnx'), join(folder, 'encoder_model.onnx'))
  const { code, stderr } = await own(folder, 'my-broken', whisperCard.id)
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /my-broken could not be loaded: encoder_model\.onnx is not the graph[^\n]* Nothing was installed\./,
  )
  expect(existsSync(join(dataDir, 'models/installed/my-broken'))).toBe(false)
  expect((await transcribe('my-broken')).status).toBe(404)
})

test.each([
  [['--as', 'my-other'], 'give a path, --as NEW_ID and --like ID'],
  [['--as', 'hibari', '--like', whisperCard.id], "'hibari' is the name of another model"],
  [['--as', 'whisper-1', '--like', whisperCard.id], "'whisper-1' is the name of another model"],
  [['--as', '../x', '--like', whisperCard.id], 'cannot be an id'],
  [['--as', 'my-other', '--like', 'hibari'], 'hibari is inside the program'],
  [['--as', 'my-other', '--like', 'whisper-9'], "There is no model 'whisper-9'"],
])('%j is refused', async (args, why) => {
  const { code, stderr } = await run('models', 'import', temporaryFolder(), ...args)
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining(why)])
})

test('a model that was damaged later says how to restore it; rm removes it', async () => {
  writeFileSync(join(dataDir, 'models/installed/my-whisper/config.json'), '{}')
  const { stdout } = await run('models', 'verify', 'my-whisper')
  expect(stdout).toContain(`myna models import PATH --as my-whisper --like ${whisperCard.id}`)
  expect((await own(await whisperFolder(), 'my-whisper', whisperCard.id)).code).toBe(0)
  expect((await run('models', 'verify', 'my-whisper')).code).toBe(0)
  expect(await run('models', 'rm', 'my-whisper')).toMatchObject({ code: 0, stderr: '' })
  expect((await run('models', 'list')).stdout).not.toContain('my-whisper')
})
