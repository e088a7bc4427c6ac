/** The compiled executable, alone in an empty folder of a machine that has neither Bun nor node_modules on its path. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { freshExecutable } from '../../build/compile.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { type Program, startProgram } from '../testing/program.ts'
import { until } from '../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

let home: string
let myna: string
let env: Record<string, string>
let program: Program
beforeAll(async () => {
  home = temporaryFolder()
  myna = join(home, 'myna')
  copyFileSync(await freshExecutable(), myna)
  env = { HOME: home, PATH: '/usr/bin:/bin', XDG_CACHE_HOME: join(home, 'cache'), XDG_DATA_HOME: join(home, 'data') }
  program = await startProgram(join(home, 'data', 'myna'), env, [], [myna])
}, 120_000)
afterAll(() => program?.end())

async function run(args: string[], more: Record<string, string> = {}) {
  const child = Bun.spawn([myna, ...args], { cwd: home, env: { ...env, ...more }, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, code }
}

test('it is one file that starts by itself', async () => {
  expect(readdirSync(home).sort()).toEqual(['cache', 'data', 'myna'].filter((name) => existsSync(join(home, name))))
  const { stdout, code } = await run(['--version'])
  expect([code, stdout.trim()]).toEqual([0, (await import('../../package.json')).version])
})

test('help costs the processor less than 80 ms', async () => {
  const costs: number[] = []
  for (let run = 0; run < 3; run++) {
    const child = Bun.spawn([myna, '--help'], { env, stdout: 'ignore' })
    await child.exited
    costs.push(Number(child.resourceUsage()?.cpuTime.total) / 1000)
  }
  expect(Math.min(...costs)).toBeLessThan(80)
})

test('the doctor finds ONNX Runtime, sharp and a working voice inside it', async () => {
  const { stdout, code } = await run(['doctor', '--json', '--data', join(home, 'other')])
  const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Record<string, string>[] }
  const ok = findings.filter(({ state }) => state === 'ok').map(({ about }) => about)
  expect([code, healthy]).toEqual([0, true])
  expect(ok).toEqual(expect.arrayContaining(['native code', 'inference', 'voice']))
  expect(stdout).toMatch(/libvips [\d.]+ draws/)
}, 60_000)

test.each(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])('it speaks %s', async (format) => {
  const response = await program.speak(program.key, { input: 'One sentence, spoken.', response_format: format })
  expect(response.status).toBe(200)
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(5000)
})

test('it clones a voice, speaks with it and draws it', async () => {
  const speech = await program.speak(program.key, {
    input: 'This clip was spoken by the machine itself, so that a voice can be made of it, and it lasts long enough.',
    voice: 'wren',
    response_format: 'wav',
  })
  const form = new FormData()
  form.append('file', new File([await speech.arrayBuffer()], 'clip.wav'))
  const made = await program.fetch('/v1/voices', program.key, { method: 'POST', body: form })
  expect(made.status).toBe(201)
  const { voice_id } = (await made.json()) as { voice_id: string }
  const voice = async () =>
    (await (await program.fetch(`/v1/voices/${voice_id}`, program.key)).json()) as Record<string, unknown>
  await until('it is made', async () => (await voice()).status !== 'processing', 30_000)
  expect(await voice()).toMatchObject({ status: 'ready', fidelity: 'approximate', model: 'hibari' })
  const spoken = await program.speak(program.key, { input: 'A cloned voice.', voice: voice_id, response_format: 'pcm' })
  expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(20_000)
  const picture = await program.fetch(`/v1/voices/${voice_id}/preview.png`, program.key)
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
}, 60_000)

test('its command speaks through it, and pays', async () => {
  const asClient = { MYNA_URL: program.url, MYNA_API_KEY: program.key }
  const { code, stderr } = await run(['speak', 'Hello from the command line.', '-o', 'hello.mp3'], asClient)
  expect([code, stderr.includes('Error')]).toEqual([0, false])
  expect(Bun.file(join(home, 'hello.mp3')).size).toBeGreaterThan(10_000)
  expect(existsSync(join(home, 'hello.mp3.part'))).toBe(false)
}, 30_000)

test('keys can be issued while it runs', async () => {
  const made = await run(['keys', 'create', '--account', 'ada', '--scopes', 'tts', '--json'])
  expect(made.code).toBe(0)
  const { secret } = JSON.parse(made.stdout) as { secret: string }
  const response = await program.speak(secret, { input: 'Hello.' })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
})

test('its documentation page and its notices are inside', async () => {
  const page = await (await program.fetch('/docs')).text()
  expect(page).not.toMatch(/https?:\/\//)
  for (const [, path] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
    expect([path, (await program.fetch(path!)).status]).toEqual([path, 200])
  }
  expect((await run(['licenses'])).stdout).toContain('libvips')
})
