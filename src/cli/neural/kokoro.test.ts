/** Kokoro in the whole program: voices, mixtures, speed and languages, through HTTP and the command. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { kokoroCard, kokoroFolder, pocketCard, pocketFolder, smallCards } from '../../testing/small-models.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const dataDir = join(temporaryFolder(), 'data')
const command = withCards(smallCards)
let program: Program
let key: string
beforeAll(async () => {
  for (const [id, folder] of [
    [kokoroCard.id, await kokoroFolder()],
    [pocketCard.id, await pocketFolder()],
  ] as const) {
    const { code, stderr } = await run('models', 'import', id, folder)
    if (code !== 0) throw new Error(stderr)
  }
  // A path without espeak-ng, whatever this machine has.
  program = await startProgram(dataDir, { PATH: temporaryFolder() }, [], command)
  key = program.key
})
afterAll(() => program?.end())

const run = (...args: string[]) => runCommand(args, { program: command, env: { MYNA_DATA: dataDir } })
const speak = (body: Record<string, unknown>) =>
  program.speak(key, { input: 'The old garden learned 3 new songs; nobody knew why.', response_format: 'pcm', ...body })
async function sound(body: Record<string, unknown>): Promise<Buffer> {
  const answer = await speak(body)
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}
async function refusal(body: Record<string, unknown>) {
  const answer = await speak(body)
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  return { status: answer.status, ...error }
}

test('each voice has a sound of its own, which is repeatable', async () => {
  const [a, again, b] = [await sound({ voice: 'a' }), await sound({ voice: 'a' }), await sound({ voice: 'b' })]
  expect(a.length).toBeGreaterThan(2000)
  expect([a.equals(again), a.equals(b)]).toEqual([true, false])
})

test('a mixture sounds unlike its voices, and the operation names it', async () => {
  const [a, b] = [await sound({ voice: 'a' }), await sound({ voice: 'b' })]
  const answer = await speak({ voice: 'a(2)+b(1)' })
  const mixed = Buffer.from(await answer.arrayBuffer())
  expect([answer.status, mixed.equals(a), mixed.equals(b)]).toEqual([200, false, false])
  expect((await sound({ voice: 'a(4)+b(2)' })).equals(mixed)).toBe(true)
  expect((await sound({ voice: 'a+b' })).equals(mixed)).toBe(false)
  expect((await sound({ voice: 'a+a' })).equals(a)).toBe(true)
  const operation = await program.fetch(`/v1/operations/${answer.headers.get('x-request-id')}`, key)
  expect(await operation.json()).toMatchObject({ outcome: 'completed', voice_id: expect.stringMatching(/a.*\+.*b/) })
})

test('an impossible mixture is refused with an explanation', async () => {
  const refused = { status: 400, code: 'unsupported_value', param: 'voice' }
  expect(await refusal({ voice: 'a+nobody' })).toMatchObject({ status: 404, code: 'voice_not_found', param: 'voice' })
  expect(await refusal({ voice: 'a(0)+b' })).toMatchObject(refused)
  const message = "These are not voices of one model that can mix them: 'a' (kokoro-small), 'alba' (pocket-small)."
  expect(await refusal({ voice: 'a+alba' })).toMatchObject({ ...refused, message })
  const alone = { voice: 'alba+alba', model: pocketCard.id }
  expect(await refusal(alone)).toMatchObject({
    ...refused,
    message: `Voices of the model '${pocketCard.id}' cannot be mixed.`,
  })
})

test('a faster voice takes less time', async () => {
  const plain = (await sound({ voice: 'a' })).length
  expect((await sound({ voice: 'a', speed: 2 })).length).toBeLessThan(0.8 * plain)
  expect((await sound({ voice: 'a', speed: 0.5 })).length).toBeGreaterThan(1.2 * plain)
})

test('without espeak-ng other languages are refused, the error names it, and nothing is charged', async () => {
  const answer = await speak({ voice: 'ef', input: 'Hola a todos.' })
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('its package is called espeak-ng'),
  ])
  const operation = await program.fetch(`/v1/operations/${answer.headers.get('x-request-id')}`, key)
  expect(await operation.json()).toMatchObject({ charged_micros: 0 })
})

test('the command supports mixtures, too', async () => {
  const path = join(temporaryFolder(), 'mixed.wav')
  const env = { MYNA_URL: program.url, MYNA_API_KEY: key }
  const args = ['speak', 'Hello there.', '--voice', 'a(2)+b', '-o', path]
  const { code, stderr } = await runCommand(args, { program: command, env })
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('myna:')])
  expect(Bun.file(path).size).toBeGreaterThan(100)
})
