/**
 * Transcription in the whole program with an installed model: every answer that a client may request, silence, two at
 * once, an engine that is killed. The model is Parakeet with random weights: its text is nonsense, and always the same.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sound } from '../../audio/clip.ts'
import { concatS16 } from '../../audio/pcm.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { withCards } from '../../testing/models-child.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { parakeetCard, parakeetFolder, smallCards } from '../../testing/small-models.ts'
import { clipRateHz, silence, speech } from '../../testing/speech-clips.ts'
import { breaks, eventsOf } from '../../testing/streams.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const task = 'automatic-speech-recognition'
const dataDir = join(temporaryFolder(), 'data')
const env = { MYNA_DATA: dataDir }
const command = withCards(smallCards)
const wavOf = (pcm: Int16Array): File =>
  new File([sound.wav(pcm, clipRateHz) as Uint8Array<ArrayBuffer>], 'talk.wav', { type: 'audio/wav' })

let program: Program
let key: string
let talk: File
/** Some minutes, so that its stream has not ended before the test looks at it. */
let lecture: File
let text: string
beforeAll(async () => {
  const one = await speech('It rained for days, and the birds in the old garden were silent.')
  talk = wavOf(concatS16([one, silence(1.5), await speech('Then the sun came out again.', 'slt')]))
  lecture = wavOf(concatS16(Array.from({ length: 60 }, () => [one, silence(1.5)]).flat()))
  program = await startProgram(dataDir, {}, [], command)
  key = program.key
})
afterAll(() => program?.end())

async function transcribe(fields: Record<string, string> = {}, file = talk): Promise<Response> {
  const body = new FormData()
  body.append('file', file)
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return program.fetch('/v1/audio/transcriptions', key, { method: 'POST', body })
}

async function engine() {
  const answer = await fetch('http://localhost/status', {
    unix: join(dataDir, 'myna.sock'),
    method: 'POST',
    body: '{}',
  })
  const { result } = (await answer.json()) as { result: { engines: { task: string; pid: number | null }[] } }
  return result.engines.find((one) => one.task === task)
}

test('before a model is installed, any language except English is refused, and speech works', async () => {
  const refused = await transcribe({ model: 'whisper-1', language: 'fr' })
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { error: object }).error).toMatchObject({
    code: 'unsupported_value',
    message: expect.stringContaining("'moonshine-tiny-en' does not know this language (fr)"),
  })
  expect((await program.speak(key, { input: 'Hello.' })).status).toBe(200)
})

test('a running server has the model as soon as its import ends, and loads it before the first clip', async () => {
  const imported = await runCommand(['models', 'import', parakeetCard.id, await parakeetFolder()], {
    program: command,
    env,
  })
  expect(imported.code).toBe(0)
  const ready = async () =>
    (await (await program.fetch('/readyz')).json()) as { checks: object; models: Record<string, unknown>[] }
  const isLoaded = ({ id, state }: Record<string, unknown>) => id === parakeetCard.id && state === 'loaded'
  await until('it is loaded', async () => (await ready()).models.some(isLoaded), 20_000)
  const answer = await transcribe({ model: 'whisper-1' })
  expect(answer.status).toBe(200)
  text = ((await answer.json()) as { text: string }).text
  expect(text.split(' ').length).toBeGreaterThan(3)
  const { checks, models } = await ready()
  expect(checks).toMatchObject({ transcription: 'ok' })
  expect(models).toContainEqual(expect.objectContaining({ id: parakeetCard.id, task, state: 'loaded' }))
  const listed = (await (await program.fetch('/v1/models', key)).json()) as { data: { id: string }[] }
  expect(listed.data.map(({ id }) => id)).toEqual(expect.arrayContaining([parakeetCard.id, 'whisper-1']))
  expect((await runCommand(['ps'], { program: command, env })).stdout).toContain(parakeetCard.id)
  expect(await program.metrics()).toContain(`voice_engine_up{task="${task}",device="cpu"} 1`)
})

test('every format has the same text', async () => {
  const plain = await (await transcribe({ response_format: 'text' })).text()
  expect(plain.trim()).toBe(text)
  const srt = await (await transcribe({ response_format: 'srt' })).text()
  expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/)
  const vtt = await (await transcribe({ response_format: 'vtt' })).text()
  expect(vtt).toStartWith('WEBVTT\n\n00:0')
  const cues = (subtitles: string) =>
    subtitles
      .split('\n')
      .filter((line) => line !== '' && line !== 'WEBVTT' && !line.includes(' --> ') && !/^\d+$/.test(line))
      .join(' ')
  expect([cues(srt), cues(vtt)]).toEqual([text, text])
  const events = eventsOf(await (await transcribe({ stream: 'true' })).text())
  const deltas = events.flatMap(({ type, delta }) => (type === 'transcript.text.delta' ? [String(delta)] : []))
  expect([deltas.join(''), deltas.length > 1]).toEqual([text, true])
  expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text })
})

test('words and segments have times within the clip, in order', async () => {
  const answer = await transcribe({ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' })
  const { words, duration } = (await answer.json()) as {
    words: { word: string; start: number; end: number }[]
    duration: number
  }
  expect(words.map(({ word }) => word).join(' ')).toBe(text)
  const times = words.flatMap(({ start, end }) => [start, end])
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  expect(times.at(-1)).toBeLessThanOrEqual(duration)
})

test('silence gives no text, in every format', async () => {
  const quiet = wavOf(silence(4))
  const json = (await (await transcribe({}, quiet)).json()) as object
  expect(json).toMatchObject({ text: '' })
  expect((await (await transcribe({ response_format: 'srt' }, quiet)).text()).trim()).toBe('')
  expect((await (await transcribe({ response_format: 'vtt' }, quiet)).text()).trim()).toBe('WEBVTT')
})

test('two at once give the same texts as each alone', async () => {
  const both = await Promise.all([transcribe(), transcribe()])
  expect(await Promise.all(both.map(async (answer) => ((await answer.json()) as { text: string }).text))).toEqual([
    text,
    text,
  ])
})

test('the command reads a file', async () => {
  const path = join(temporaryFolder(), 'talk.wav')
  await Bun.write(path, talk)
  const asClient = { MYNA_URL: program.url, MYNA_API_KEY: key }
  const { code, stdout } = await runCommand(['transcribe', path], { program: command, env: asClient })
  expect([code, stdout.trim()]).toEqual([0, text])
})

test('killing the engine aborts its stream; speech and the next transcription work', async () => {
  const answer = await transcribe({ stream: 'true' }, lecture)
  const reader = answer.body!.getReader()
  await reader.read()
  const before = (await engine())?.pid
  process.kill(before!, 'SIGKILL')
  const decoder = new TextDecoder()
  let rest = ''
  const broken = await breaks({
    async read() {
      const step = await reader.read()
      rest += decoder.decode(step.value, { stream: true })
      return step
    },
  })
  expect([broken, eventsOf(rest).some(({ type }) => type === 'transcript.text.done')]).toEqual([true, false])
  expect(eventsOf(rest).at(-1)).toMatchObject({ error: { code: 'generation_failed' } })
  expect((await program.speak(key, { input: 'Hello.' })).status).toBe(200)
  const next = await transcribe()
  expect([next.status, ((await next.json()) as { text: string }).text]).toEqual([200, text])
  expect((await engine())?.pid).not.toBe(before)
})

test('a client that disconnects ends the work', async () => {
  const answer = await transcribe({ stream: 'true' }, lecture)
  const reader = answer.body!.getReader()
  await reader.read()
  await reader.cancel()
  const models = async () =>
    ((await (await program.fetch('/readyz')).json()) as { models: { id: string; active_streams: number }[] }).models
  await until('nothing is running', async () => (await models()).every((one) => one.active_streams === 0), 20_000)
  const usage = await program.metrics()
  expect(usage).toMatch(/voice_transcriptions_total\{result="(?!completed)\w+"\} [12]/)
})

test('requests that it cannot fulfil are refused with an explanation', async () => {
  const language = await transcribe({ model: parakeetCard.id, language: 'ja' })
  expect([language.status, await language.text()]).toEqual([400, expect.stringContaining('en, de')])
  const body = new FormData()
  body.append('file', talk)
  const translated = await program.fetch('/v1/audio/translations', key, { method: 'POST', body })
  expect(translated.status).toBeGreaterThanOrEqual(400)
  expect(await translated.text()).toContain('myna models pull')
})
