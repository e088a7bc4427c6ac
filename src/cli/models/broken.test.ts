import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'

setDefaultTimeout(60_000)

let program: Program | undefined
afterEach(() => program?.end())

test('whatever damage the folder of models has, the server runs and reports which models are incomplete', async () => {
  const dataDir = temporaryFolder()
  const models = join(dataDir, 'models')
  mkdirSync(join(models, 'installed/pocket-tts/voices'), { recursive: true })
  writeFileSync(join(models, 'installed/pocket-tts/myna.json'), '{"version":1,"id":"pocket-tts","files":[{}]}')
  writeFileSync(join(models, 'installed/whisper-base'), 'a file where a folder should be')
  mkdirSync(join(models, 'installed/.new-1'))
  writeFileSync(join(models, 'blobs'), 'another one')
  program = await startProgram(dataDir)
  const response = await program.speak(program.key, { input: 'Hello there.' })
  expect([response.status, (await response.arrayBuffer()).byteLength > 1000]).toEqual([200, true])
  const list = (await (await program.fetch('/v1/models', program.key)).json()) as { data: { root: string }[] }
  expect(new Set(list.data.map(({ root }) => root))).toEqual(new Set(['hibari', 'moonshine-tiny-en']))
  for (const id of ['pocket-tts', 'whisper-base']) {
    expect(program.stderr()).toContain(`counts as not installed model=${id} mend="myna models pull ${id}"`)
  }
  const ready = await program.fetch('/readyz')
  const words = 'is incomplete: its files are not the ones it needs'
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    {
      status: 'degraded',
      checks: { tts: 'degraded', transcription: 'degraded' },
      models: expect.arrayContaining(
        ['pocket-tts', 'whisper-base'].map((id) => expect.objectContaining({ id, reason: `${id} ${words}` })),
      ),
    },
  ])
  const refused = await program.speak(program.key, { input: 'Hello.', model: 'pocket-tts' })
  expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('myna models pull pocket-tts')])
  const { code, stdout } = await runCommand(['doctor'], { env: { MYNA_DATA: dataDir } })
  expect(code).toBe(1)
  expect(stdout).toContain('FAIL  model        pocket-tts is incomplete: its files are not the ones it needs\n')
  expect(stdout).toContain('-> Fix it: myna models pull whisper-base\n')
})
