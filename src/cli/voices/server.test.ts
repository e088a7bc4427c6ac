/** `myna voices` against the real server; its failures, one by one, are in `voices.test.ts`. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { MynaError } from '../../domain/error.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import type { VoiceRecord } from './clone.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const folder = temporaryFolder()
const path = (name: string) => join(folder, name)
let instance: Instance
let apiKey: string

beforeAll(async () => {
  instance = await startInstance({ freeClones: 1 })
  for (const [name, seconds, amplitude] of [
    ['anna.wav', 4, 8000],
    ['short.wav', 1, 8000],
    ['long.wav', 61, 8000],
    ['silent.wav', 4, 0],
  ] as const) {
    await Bun.write(path(name), hum(seconds, amplitude))
  }
  writeFileSync(path('text.wav'), 'This is no recording at all, whatever it is called.')
})
beforeEach(async () => {
  apiKey = await instance.key({ prepaidMicros: 1_500_000 })
})
afterAll(() => instance[Symbol.asyncDispose]())

const voices = (...args: string[]) =>
  runCommand(['voices', ...args], { env: { MYNA_URL: instance.url, MYNA_API_KEY: apiKey } })

async function voicesJson<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await voices(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

test('a recording becomes a voice that is listed, shown, drawn, played and removed', async () => {
  const given = ['--name', 'Anna', '--language', 'en_gb', '--consent', 'Hers.', '--alias', 'nova', '--alias', 'my anna']
  const made = await voicesJson<VoiceRecord & { charged_micros: number }>('clone', path('anna.wav'), ...given)
  expect(made).toMatchObject({ name: 'Anna', status: 'ready', language: 'en-GB', charged_micros: 0 })
  expect([...(made.aliases ?? [])].sort()).toEqual(['my anna', 'nova'])
  const id = made.voice_id
  const listed = await voicesJson<VoiceRecord[]>('list')
  expect(listed.filter((voice) => voice.is_owner).map((voice) => voice.voice_id)).toEqual([id])
  expect(listed.filter((voice) => voice.is_public).length).toBeGreaterThan(2)
  const shown = await voices('show', id, '--plot', path('anna.webp'), '--dark')
  expect(shown.stdout).toContain('Clip      anna.wav, 4.0 s, 128 kB\n')
  expect((await sharp(path('anna.webp')).metadata()).format).toBe('webp')
  expect((await voices('preview', id, '-o', path('anna.ogg'))).code).toBe(0)
  expect(await Bun.file(path('anna.ogg')).slice(0, 4).text()).toBe('OggS')
  expect((await voices('rm', id)).stdout).toBe(`Removed ${id}.\n`)
  expect((await voices('show', id)).stderr).toContain('myna voices list')
}, 30_000)

test('a voice is renamed, and refused a name that is none', async () => {
  const { voice_id: id } = await voicesJson<VoiceRecord>('clone', path('anna.wav'), '--name', 'Ana')
  expect((await voices('rename', 'Ana', 'Anna')).stdout).toBe(`${id} is now called 'Anna'.\n`)
  expect((await voicesJson<VoiceRecord>('show', 'Anna')).voice_id).toBe(id)
  expect(await voices('rename', id, '')).toMatchObject({ code: 1, stderr: expect.stringContaining('name') })
}, 30_000)

test('an administrator publishes a voice, and takes it back; other users cannot', async () => {
  const boss = (...args: string[]) =>
    runCommand(['voices', ...args], { env: { MYNA_URL: instance.url, MYNA_API_KEY: instance.adminKey } })
  await boss('clone', path('anna.wav'), '--name', 'House')
  expect((await boss('publish', 'house')).stdout).toBe("'House' is public: every account can use it.\n")
  expect((await voices('show', 'House')).code).toBe(0)
  expect((await voices('publish', 'House')).stderr).toContain('Only its owner may change this voice')
  expect((await boss('unpublish', 'House')).stdout).toBe("'House' is private.\n")
  expect((await voices('show', 'House')).code).toBe(1)
  await voices('clone', path('anna.wav'), '--name', 'Mine')
  expect((await voices('publish', 'Mine')).stderr).toContain('Only an administrator may make a voice public.')
}, 30_000)

test('an unsuitable clip is reported, with what to record instead', async () => {
  for (const [name, code, advice] of [
    ['short.wav', 'clip_too_short', 'Record more'],
    ['long.wav', 'clip_too_long', 'Cut out the best part'],
    ['silent.wav', 'clip_silent', 'microphone'],
    ['text.wav', 'clip_undecodable', 'WAV, FLAC or MP3'],
  ] as const) {
    const result = await voices('clone', path(name), '--name', 'X', '--json')
    const { error } = JSON.parse(result.stderr) as { error: { code: string; message: string } }
    expect([name, result.code, error.code]).toEqual([name, 1, code])
    expect(error.message).toContain(advice)
  }
  expect((await voicesJson<VoiceRecord[]>('list')).filter((voice) => voice.is_owner)).toEqual([])
}, 30_000)

test('a clip that the model refuses is refunded, and the second clone past the allowance costs money', async () => {
  const { engine } = instance
  const learn = engine.learn
  engine.learn = () => {
    throw new MynaError('clip_refused', 'Two people speak in this clip.')
  }
  const refused = await voices('clone', path('anna.wav'), '--name', 'Two')
  engine.learn = learn
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/^myna: Two people speak in this clip\. Record it again: .*Charged: \$0\.00\.\n$/)
  const clone = (name: string) => voices('clone', path('anna.wav'), '--name', name)
  expect((await clone('free')).stdout).toContain('Charged $0.00.')
  expect((await clone('paid')).stdout).toContain('Charged $1.00.')
  const third = await clone('too much')
  expect([third.code, third.stderr]).toEqual([1, expect.stringContaining('myna accounts credit NAME AMOUNT')])
}, 30_000)

test('a preset voice stays, because it cannot be removed', async () => {
  const result = await voices('rm', 'lark')
  expect([result.code, result.stderr]).toEqual([1, expect.stringContaining('List your voices: myna voices list')])
})

test('a mixture is played and named; an invalid one is refused with the reason', async () => {
  const mixed = await voices('mix', 'lark(2)+Wren', '-o', path('mix.wav'))
  expect([mixed.code, mixed.stderr]).toEqual([0, ''])
  expect(mixed.stdout).toStartWith(`${path('mix.wav')}: the voice "lark(2)+Wren(1)", charged`)
  expect(await Bun.file(path('mix.wav')).slice(0, 4).text()).toBe('RIFF')
  expect((await voices('mix', 'lark')).stderr).toContain("'lark' is not a mixture")
  expect((await voices('mix', 'lark(0)+wren')).stderr).toContain('a number above 0')
  const unknown = await voices('mix', 'lark+nobody', '-o', path('none.wav'))
  expect([unknown.code, await Bun.file(path('none.wav')).exists()]).toEqual([1, false])
  expect(unknown.stderr).toContain("The voice 'nobody' does not exist")
})
