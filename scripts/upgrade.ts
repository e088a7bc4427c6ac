/**
 * A rolling upgrade of servers that share a database, with the real programs: `bun scripts/upgrade.ts TREE [VOICE]`.
 * TREE is a checkout of an earlier version with its packages installed; VOICE is a voice that both versions have. Two
 * old servers work. A new one joins and migrates the database, an old one that starts afterwards is refused, and one is
 * killed. Requests reach all of them meanwhile. Prints one line for each check; exits 1 if one fails.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditPostgres } from '../src/audit/postgres.ts'
import { testPostgres } from '../src/testing/postgres.ts'
import { type Program, startProgram } from '../src/testing/program.ts'

const [tree, voice = 'alloy'] = process.argv.slice(2)
if (tree === undefined) throw new Error('usage: bun scripts/upgrade.ts TREE [VOICE]')
const of = (root: string) => [process.execPath, join(root, 'src', 'main.ts')]
const [older, newer] = [of(tree), of(join(import.meta.dir, '..'))]

const server = await testPostgres()
const database = server.urlOf(await server.create())
const many = '1000000'
const env = { MYNA_DATABASE: database, MYNA_LOG: 'quiet', MYNA_SPEECH_PER_MINUTE: many, MYNA_REQUESTS_PER_MINUTE: many }
const folders: string[] = []
const running = new Map<string, Program>()

async function start(name: string, command: string[]): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), `myna-upgrade-${name}-`))
  folders.push(folder)
  return startProgram(folder, { ...env, MYNA_BOX_NAME: name }, [], command)
}

function check(what: string, isRight: boolean, shown: unknown = ''): void {
  console.log(isRight ? 'ok  ' : 'FAIL', what, shown)
  if (!isRight) process.exitCode = 1
}

/** Speaks one sentence. @returns the status, once the sound has ended */
async function speak(program: Program, by: string, by_voice = voice): Promise<number> {
  const answer = await program.speak(by, { input: 'One sentence.', voice: by_voice, response_format: 'pcm' })
  await answer.arrayBuffer()
  return answer.status
}

/** Sends requests to every running server, one after the other, until it is stopped. */
function traffic(by: string) {
  const statuses = new Map<number, number>()
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      for (const program of running.values()) {
        const status = await speak(program, by).catch(() => 0)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
  })()
  return { statuses, end: () => ((isOver = true), done) }
}

/** Made from the servers' own speech. @returns the voice, or the refusal */
async function clone(program: Program, by: string, clip: File): Promise<string> {
  const form = new FormData()
  form.append('name', 'Ada')
  form.append('file', clip)
  const answer = await program.fetch('/v1/audio/voices', by, { method: 'POST', body: form })
  return ((await answer.json()) as { id?: string }).id ?? `refused with ${answer.status}`
}

const stateOf = async (program: Program, by: string, id: string) =>
  (await (await program.fetch(`/v1/operations/${id}`, by)).json()) as { state?: string; outcome?: string }

const one = await start('one', older)
const key = one.key
running.set('one', one)
running.set('two', await start('two', older))
const work = traffic(key)
await Bun.sleep(3000)
const third = await start('three', newer)
check('a new server joins two old ones', third.key === '' && (await speak(third, key)) === 200, third.stderr())
running.set('three', third)
const heard = [...running].map(async ([name, program]) => `${name} ${await speak(program, key)}`)
check(
  'all three speak',
  (await Promise.all(heard)).every((line) => line.endsWith('200')),
)
const spoken = await one.speak(key, {
  input: 'This is a clip of some seconds, which is long enough for a voice to be made from it.',
  voice,
  response_format: 'wav',
})
const clip = new File([await spoken.bytes()], 'clip.wav')
const [fromNew, fromOld] = [await clone(third, key, clip), await clone(one, key, clip)]
check('a voice of the new one is spoken by an old one', (await speak(one, key, fromNew)) === 200, fromNew)
check('a voice of an old one is spoken by the new one', (await speak(third, key, fromOld)) === 200, fromOld)

const late = await start('late', older)
const said = late.stderr().trim().split('\n').at(-1) ?? ''
check('an old one that starts now is refused in a sentence', /newer myna/.test(said), said)

const killed = running.get('two')
running.delete('two')
const long = await killed?.speak(key, { input: 'A long text. '.repeat(300), voice, response_format: 'pcm' })
const id = long?.headers.get('x-request-id') ?? ''
const reading = long?.arrayBuffer().catch(() => null)
killed?.kill('SIGKILL')
await Promise.all([killed?.exited, reading])
const beganMs = performance.now()
let state = await stateOf(third, key, id)
while (state.state !== 'terminal' && performance.now() - beganMs < 180_000) {
  await Bun.sleep(1000)
  state = await stateOf(third, key, id)
}
const seconds = Math.round((performance.now() - beganMs) / 1000)
check(
  'what an old one was speaking when it was killed is settled',
  state.state === 'terminal',
  `${state.outcome}, ${seconds} s`,
)
await work.end()
check('no request of all these was refused', [...work.statuses.keys()].join() === '200', [...work.statuses])
for (const program of running.values()) {
  program.kill('SIGTERM')
  await program.exited
}
const { faults, seen } = await auditPostgres(database, 'full')
check('every rule holds', faults.length === 0, faults.length === 0 ? seen : faults)
for (const folder of folders) rmSync(folder, { recursive: true, force: true })
process.exit()
