/**
 * Installed models that cannot be used: files that are cut short, or graphs that the pipeline does not expect. What the
 * client, the log and the doctor report about them, and that everything else works.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import {
  kokoroCard,
  kokoroFolder,
  parakeetCard,
  parakeetFolder,
  pocketCard,
  pocketFolder,
  pocketSibling,
  smallCards,
} from '../../testing/small-models.ts'
import { clipRateHz, speech } from '../../testing/speech-clips.ts'
import { until } from '../../testing/until.ts'
import { sound } from '../../audio/clip.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const dataDir = join(temporaryFolder(), 'data')
const command = withCards(smallCards)
let program: Program
let key: string
let broken: string
beforeAll(async () => {
  const pocket = await pocketFolder()
  broken = await pocketFolder()
  const graph = readFileSync(join(broken, 'flow_lm_main.onnx'))
  writeFileSync(join(broken, 'flow_lm_main.onnx'), graph.subarray(0, graph.length / 2))
  const kokoro = await kokoroFolder()
  cpSync(join(pocket, 'mimi_decoder.onnx'), join(kokoro, 'model.onnx'))
  const parakeet = await parakeetFolder()
  cpSync(join(parakeet, 'decoder_joint-model.onnx'), join(parakeet, 'encoder-model.onnx'))
  await install(pocketCard.id, broken)
  await install(pocketSibling.id, pocket)
  await install(kokoroCard.id, kokoro)
  await install(parakeetCard.id, parakeet)
  program = await startProgram(dataDir, {}, [], command)
  key = program.key
})
afterAll(() => program?.end())

const run = (...args: string[]) => runCommand(args, { program: command, env: { MYNA_DATA: dataDir, MYNA_PORT: '0' } })

async function install(id: string, folder: string): Promise<void> {
  const { code, stderr } = await run('models', 'import', id, folder)
  if (code !== 0) throw new Error(stderr)
}

const speak = (body: Record<string, unknown>) =>
  program.speak(key, { input: 'Hello.', response_format: 'pcm', ...body })

async function refusal(answer: Response) {
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  return { status: answer.status, code: error.code, message: error.message }
}

/** Warnings that name the operation or transcription. */
const linesOf = (answer: Response): string[] => {
  const id = answer.headers.get('x-request-id') ?? 'no id'
  return program
    .stderr()
    .split('\n')
    .filter((line) => line.includes(' WARN ') && line.includes(id))
}

test.each([
  [pocketCard.id, 'flow_lm_main.onnx cannot be opened'],
  [kokoroCard.id, 'model.onnx'],
])('%s: the client gets the model and the reason, and the log has the same in one line', async (model, why) => {
  const refused = await speak({ model })
  const lines = linesOf(refused)
  expect(await refusal(refused)).toEqual({
    status: 503,
    code: 'model_unavailable',
    message: `The model ${troubleOf(model).replace(/\.$/, '')}.`,
  })
  expect(lines).toEqual([expect.stringContaining(troubleOf(model))])
  expect(troubleOf(model)).toContain(why)
  expect(troubleOf(model)).not.toContain(dataDir)
  expect(lines[0]).not.toMatch(/\bat .*:\d+:\d+/)
})

/** `pocket-small could not be loaded: …`, with the same words everywhere. */
const troubleOf = (id: string) => {
  const words = new RegExp(`WARN (${id} could not be loaded: [^\\n]*)`).exec(program.stderr())?.[1]
  if (words === undefined) throw new Error(`no warning of ${id}`)
  return words
}

test('a model that cannot be loaded is reported before the first request, everywhere in the same words', async () => {
  await until('the preferred model was tried', () => program.stderr().includes('WARN pocket-small could not be'))
  const words = troubleOf(pocketCard.id)
  expect(words).toContain('flow_lm_main.onnx cannot be opened')
  const response = await program.fetch('/readyz')
  const ready = (await response.json()) as { models: { id: string }[] }
  expect([response.status, ready]).toMatchObject([200, { status: 'degraded', checks: { tts: 'degraded' } }])
  expect(ready.models.filter(({ id }) => id === pocketCard.id)).toMatchObject([{ state: 'failed', reason: words }])
  expect((await run('ps')).stdout.split('\n')).toContain(words)
  expect((await run('doctor')).stdout).toMatch(/warn {2}server +degraded, [^\n]*: pocket-small could not be loaded: /)
  // The administrators' page says where the data is; its warnings and troubles do not.
  const page = await (await program.fetch('/console/api/admin/server', key)).json()
  const { machine: _, ...server } = page as Record<string, unknown>
  const warnings = expect.arrayContaining([expect.objectContaining({ message: words })])
  const troubles = expect.arrayContaining([{ id: pocketCard.id, task: 'text-to-speech', words }])
  expect(server).toMatchObject({ readiness: 'degraded', warnings, troubles })
  expect(JSON.stringify([ready, server]) + words).not.toContain(dataDir)
})

test('no other model speaks in its place unless requested; all others work', async () => {
  expect(await refusal(await speak({}))).toMatchObject({ code: 'model_unavailable' })
  for (const model of [pocketSibling.id, 'hibari']) {
    const answer = await speak({ model })
    expect([model, answer.status, (await answer.arrayBuffer()).byteLength > 1000]).toEqual([model, 200, true])
  }
  expect(await program.engine()).toMatchObject({ state: 'ready', restarts: 0 })
})

test('a transcription reports it too, and speech continues', async () => {
  const body = new FormData()
  const pcm = await speech('It rained for days.')
  body.append('file', new File([sound.wav(pcm, clipRateHz) as Uint8Array<ArrayBuffer>], 'talk.wav'))
  const refused = await program.fetch('/v1/audio/transcriptions', key, { method: 'POST', body })
  const lines = linesOf(refused)
  expect(await refusal(refused)).toMatchObject({ status: 503, code: 'model_unavailable' })
  expect(lines).toEqual([expect.stringContaining('encoder-model.onnx')])
  expect((await speak({ model: 'hibari' })).status).toBe(200)
})

test('the doctor tries each model, and says which one has which problem and what to do', async () => {
  const { code, stdout } = await run('doctor')
  expect(code).toBe(1)
  expect(stdout).toMatch(/FAIL {2}voice +Small cannot speak: pocket-small could not be loaded: flow_lm_main.onnx/)
  expect(stdout).toContain(`myna models rm ${pocketCard.id}, then pull it`)
  expect(stdout).toMatch(/ok {4}voice +Small spoke/)
  expect(stdout).toMatch(
    /FAIL {2}voice +Kokoro[^\n]* cannot speak: kokoro-small could not be loaded: [^\n]*model.onnx is not the graph/,
  )
  expect(stdout).toMatch(/ok {4}voice +hibari spoke/)
  expect(stdout).toMatch(/FAIL {2}hearing +Parakeet[^\n]* cannot transcribe: parakeet-small could not be loaded: /)
})

test("later damage is found by the files' content; a new import repairs a running server", async () => {
  expect((await run('models', 'verify', pocketCard.id)).code).toBe(0)
  const path = join(dataDir, 'models/installed', pocketCard.id, 'bundle.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"schema_version": 2', '"schema_version": 3'))
  const damaged = await run('models', 'verify', pocketCard.id)
  expect([damaged.code, damaged.stdout + damaged.stderr]).toEqual([1, expect.stringContaining('bundle.json')])
  expect((await run('models', 'rm', pocketCard.id)).code).toBe(0)
  await install(pocketCard.id, await pocketFolder())
  const again = await run('models', 'import', pocketCard.id, broken)
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('is installed already, and complete')])
  expect(again.stderr).toContain(`kept. To replace them, first run: myna models rm ${pocketCard.id}\n`)
  const answer = await speak({})
  expect([answer.status, (await answer.arrayBuffer()).byteLength > 1000]).toEqual([200, true])
  const { models } = (await (await program.fetch('/readyz')).json()) as { models: { id: string; state: string }[] }
  expect(models.filter(({ id }) => id === pocketCard.id).map(({ state }) => state)).toEqual(['loaded'])
  expect((await run('doctor')).stdout).toMatch(/ok {4}voice +Small spoke[^]*ok {4}voice +Small spoke/)
})
