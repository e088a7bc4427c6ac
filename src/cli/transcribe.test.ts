/** The command as its users run it, against a real server whose engine measures only the length of a clip. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { encodedFile } from '../audio/decode/containers.fixture.ts'
import { buzz } from '../audio/encode/readback.fixture.ts'
import { deaf, recording, recordingOf, said, startListening } from '../http/transcription/transcription.fixture.ts'
import { type CommandOptions, finished, runCommand, startCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import type { Instance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

let instance: Instance
let env: Record<string, string>
const folder = temporaryFolder()
const talk = join(folder, 'talk.wav')
beforeAll(async () => {
  await Bun.write(talk, recording)
  instance = await startListening()
  env = { MYNA_URL: instance.url, MYNA_API_KEY: await instance.key() }
})
afterAll(() => instance[Symbol.asyncDispose]())
afterEach(() => {
  instance.transcriber.plan = () => ({})
})

const run = (args: string[], options: CommandOptions = {}) => runCommand(['transcribe', ...args], { env, ...options })
const lastOrder = () => instance.transcriber.orders.at(-1)
const subtitles = '1\n00:00:00,000 --> 00:00:01,000\nheard 0.\n\n2\n00:00:02,000 --> 00:00:03,000\nheard 2.\n'

test('prints only the text', async () => {
  expect(await run([talk])).toEqual({ code: 0, stdout: `${said}\n`, stderr: '' })
})

test.each([
  ['json', `{"text":"${said}","languages":[{"code":"en"}],"usage":{"type":"duration","seconds":3}}\n`],
  ['srt', subtitles],
  ['vtt', `WEBVTT\n\n${'00:00.000 --> 00:01.000\nheard 0.\n\n00:02.000 --> 00:03.000\nheard 2.\n'}`],
])('prints it as %s', async (format, text) => {
  expect(await run([talk, '--format', format])).toEqual({ code: 0, stdout: text, stderr: '' })
})

test.each(['text', 'srt'])('reports beside the %s what could not be decoded', async (format) => {
  const flac = await encodedFile('flac', buzz(3, 24_000))
  flac.fill(0, flac.length / 2, flac.length / 2 + 40)
  const path = join(folder, 'harmed.flac')
  await Bun.write(path, flac)
  const { code, stdout, stderr } = await run([path, '--format', format])
  expect([code, stderr]).toEqual([0, `${path} is damaged: 0.2 s of it could not be decoded.\n`])
  expect(stdout).toContain('heard 2.')
})

test('with word times', async () => {
  const { stdout, code } = await run([talk, '--words'])
  const { words, segments } = JSON.parse(stdout) as { words: unknown[]; segments: unknown[] }
  expect([code, words.length, segments.length]).toEqual([0, 4, 2])
})

test('for a script', async () => {
  const { stdout, code } = await run([talk, '--json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { text: said }])
})

test('without a key: a complete sentence, and how to get one', async () => {
  const { code, stderr } = await run([talk], { env: { ...env, MYNA_API_KEY: '' } })
  expect(code).toBe(1)
  expect(stderr).toContain('Bearer <key>. Create a key with: myna keys create --account NAME')
})

test('writes a file in the format that its name says', async () => {
  const file = join(folder, 'talk.srt')
  expect(await run([talk, '-o', file])).toEqual({
    code: 0,
    stdout: `${file}: ${subtitles.length} characters\n`,
    stderr: '',
  })
  expect(await Bun.file(file).text()).toBe(subtitles)
  const text = join(folder, 'talk')
  const { stdout } = await run([talk, '-o', text, '--json'])
  expect(JSON.parse(stdout)).toEqual({ file: text, format: 'text', characters: said.length + 1 })
  expect(await Bun.file(text).text()).toBe(`${said}\n`)
})

test('reads standard input', async () => {
  expect(await run(['-'], { stdin: recording })).toMatchObject({ code: 0, stdout: `${said}\n` })
})

test('passes its options on', async () => {
  const options = ['--language', 'german', '--prompt', 'Ünder "quotes"', '--model', 'whisper-base', '--format', 'srt']
  expect((await run([talk, ...options])).code).toBe(0)
  expect(lastOrder()).toMatchObject({
    task: 'transcribe',
    language: 'de',
    prompt: 'Ünder "quotes"',
    model: 'whisper-base',
  })
  expect((await run([talk, '--translate'])).stdout).toBe(`${said}\n`)
  expect(lastOrder()).toMatchObject({ task: 'translate' })
})

test('sends a long recording as it is read', async () => {
  const long = join(folder, 'long.wav')
  await Bun.write(long, recordingOf(...Array.from({ length: 300 }, () => 9)))
  const { stdout } = await run([long])
  expect(stdout.split('heard')).toHaveLength(301)
}, 20_000)

test('tries again when the server is full for a moment', async () => {
  let refusals = 2
  const full = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const body = await request.arrayBuffer()
      if (refusals-- > 0) {
        const error = { code: 'engine_overloaded', message: 'Full.' }
        return Response.json({ error }, { status: 503, headers: { 'retry-after-ms': '1' } })
      }
      return fetch(instance.url + pathname + search, { method: 'POST', headers: request.headers, body })
    },
  })
  const answer = await run([talk, '--url', full.url.href, '--format', 'srt'])
  await full.stop(true)
  expect([answer.code, answer.stdout, refusals]).toEqual([0, subtitles, -1])
})

describe('reports what is wrong', () => {
  test.each<[string, string[], CommandOptions, number, string]>([
    ['no file', [join(folder, 'none.wav')], {}, 1, 'There is no file '],
    ['a folder', [folder], {}, 1, 'not a regular file'],
    ['Standard input is empty', ['-'], { stdin: '' }, 1, 'Standard input is empty'],
    ['no audio', ['-'], { stdin: 'Call me Ishmael.' }, 1, 'This is text, not audio.'],
    ['an unknown model', [talk, '--model', 'whisper-9'], {}, 1, "The model 'whisper-9' does not exist"],
    ['one not installed', [talk, '--model', 'whisper-small'], {}, 1, 'myna models pull whisper-small'],
    ['no language', [talk, '--language', 'loud!'], {}, 1, "Expected a language such as 'en'"],
    ['no format', [talk, '--format', 'docx'], {}, 2, 'Expected one of text, json'],
    ['a file of no format', [talk, '-o', 'talk.docx'], {}, 2, "'.docx' is not a known transcript format"],
    ['words of a text', [talk, '--words', '--format', 'srt'], {}, 2, '--words needs --format verbose_json'],
    ['a language to translate from', [talk, '--translate', '--language', 'de'], {}, 2, 'leave out --language'],
    ['a folder that is not there', [talk, '-o', join(folder, 'none', 'a.txt')], {}, 1, 'Cannot write'],
    ['a wrong key', [talk, '--key', 'sk-myna-wrong'], {}, 1, 'myna keys create'],
    ['no server', [talk, '--url', 'http://127.0.0.1:1'], {}, 1, 'Start one with: myna serve'],
  ])('%s', async (_, args, options, code, words) => {
    const result = await run(args, options)
    expect([result.code, result.stdout]).toEqual([code, ''])
    expect(result.stderr).toContain(words)
  })

  test('a failure half way: no file, and no text that looks complete', async () => {
    instance.transcriber.plan = () => ({ failAt: 2 })
    const file = join(folder, 'broken.txt')
    for (const format of ['text', 'srt']) {
      const failed = await run([talk, '-o', file, '--format', format, '--json'])
      expect([failed.code, failed.stdout]).toEqual([1, ''])
      expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'generation_failed' } })
    }
    const printed = await run([talk])
    expect([printed.code, printed.stdout]).toEqual([1, ''])
    expect(readdirSync(folder).filter((name) => name.startsWith('broken'))).toEqual([])
  })

  test('a file that is too large, before all of it was sent', async () => {
    await using small = await startListening({ maxTranscriptionBytes: 1_000_000 })
    const large = join(folder, 'large.wav')
    await Bun.write(large, recordingOf(...Array.from({ length: 120 }, () => 9)))
    const mine = { MYNA_URL: small.url, MYNA_API_KEY: await small.key() }
    const failed = await runCommand(['transcribe', large], { env: mine })
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('MYNA_MAX_TRANSCRIPTION_BYTES')])
  })

  test('no model', async () => {
    await using bare = await startListening({}, [], { catalog: deaf })
    const mine = { MYNA_URL: bare.url, MYNA_API_KEY: await bare.key() }
    const failed = await runCommand(['transcribe', talk], { env: mine })
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('myna models pull whisper-base')])
  })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s stops the work on the server, and the exit code is %d', async (signal, exit) => {
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  instance.transcriber.plan = () => ({
    before: (part) => {
      if (part === 1) reached.resolve()
      return part === 1 ? gate.promise : undefined
    },
  })
  const aborted = instance.transcriber.aborted
  const command = startCommand(['transcribe', talk], { env })
  await reached.promise
  command.kill(signal)
  const { code, stdout, stderr } = await finished(command)
  expect([code, stdout, stderr]).toEqual([exit, '', 'myna: Stopped; nothing is charged.\n'])
  await until('the engine was notified', () => instance.transcriber.aborted === aborted + 1)
  gate.resolve()
})
