/**
 * The program transcribes its own speech: the real server, its engines and its codecs, with the built-in voice and the
 * built-in recogniser.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sound } from '../audio/clip.ts'
import { concatS16 } from '../audio/pcm.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { type Program, startProgram } from '../testing/program.ts'
import { buzz, noise, silence, tone } from '../testing/speech-clips.ts'
import { errorRate, type WordErrors, wordErrors } from '../testing/word-errors.ts'

// Two engines load real graphs, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

let program: Program
beforeAll(async () => {
  const limits = { MYNA_SPEECH_PER_MINUTE: '10000', MYNA_TRANSCRIPTIONS_PER_MINUTE: '10000' }
  program = await startProgram(temporaryFolder(), limits)
})
afterAll(() => program.end())

const sentences = [
  'The small boat drifted slowly past the old stone bridge.',
  'A loaf of warm bread was waiting on the kitchen table.',
  'She put the letters back into the drawer and locked it.',
  'Heavy rain is expected along the coast this evening.',
  'My neighbor keeps three chickens and a very loud dog.',
  'The meeting begins at half past nine and lasts two hours.',
  'There are 24 chairs, 6 tables and 118 guests.',
  'The invoice of 350 dollars was paid in 2019.',
  'He ran the last 15 miles in under 3 hours.',
  'Chapter 12 begins on page 206.',
  'Margaret and Daniel moved from Chicago to Boston.',
  'Doctor Williams will see Mrs. Parker on Thursday.',
  'Emily took the train to London with her brother Thomas.',
  'Where did you leave the keys to the garden shed?',
  'Could you tell me how far it is to the station?',
  'Why does the kettle take so long to boil?',
  'Please turn off the lights before you go to bed.',
  'If it stops raining, we will walk along the river.',
  'Nobody had expected the museum to be so crowded.',
]
const paragraph =
  'The library opened its doors early on Saturday morning. By ten o’clock every seat near the windows was taken, and ' +
  'a line of children waited for the story hour to begin. An old man read the newspaper from front to back, as he ' +
  'did every week. Outside, two workers painted the fence green, and the smell of fresh paint came in.'

const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
const rateHz = 24_000

/** @returns a file that can be uploaded: bare samples are put into a WAV file */
async function speak(input: string, format: (typeof formats)[number]): Promise<Blob> {
  const response = await program.speak(program.key, { input, response_format: format })
  expect(response.status).toBe(200)
  const bytes = await response.bytes()
  return new Blob([format === 'pcm' ? sound.wav(new Int16Array(bytes.buffer), rateHz) : bytes])
}

async function transcribe(file: Blob, fields: Record<string, string> = {}): Promise<Response> {
  const body = new FormData()
  body.append('file', file, 'clip')
  body.append('model', 'whisper-1')
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return program.fetch('/v1/audio/transcriptions', program.key, { method: 'POST', body })
}

async function textOf(file: Blob): Promise<string> {
  const response = await transcribe(file)
  expect(response.status).toBe(200)
  return ((await response.json()) as { text: string }).text
}

test('sentences with numbers, names and questions, in each format in turn: hardly a word is lost', async () => {
  const all: WordErrors[] = []
  for (const [index, sentence] of sentences.entries()) {
    const heard = await textOf(await speak(sentence, formats[index % formats.length]!))
    const found = wordErrors(sentence, heard)
    if (found.errors > 0) console.log(`${found.errors} of ${found.words}: ${sentence} -> ${heard}`)
    all.push(found)
  }
  expect(all.reduce((sum, { words }) => sum + words, 0)).toBeGreaterThan(180)
  expect(errorRate(all)).toBeLessThan(0.03)
})

test.each([...formats])('a paragraph as %s', async (format) => {
  const found = wordErrors(paragraph, await textOf(await speak(paragraph, format)))
  expect(found.words).toBeGreaterThan(60)
  expect(found.errors / found.words).toBeLessThan(0.05)
})

test('a paragraph has a segment for each sentence, in its own time, and subtitles', async () => {
  const file = await speak(paragraph, 'wav')
  const verbose = (await (await transcribe(file, { response_format: 'verbose_json' })).json()) as {
    language: string
    duration: number
    segments: { start: number; end: number; text: string }[]
  }
  expect(verbose.language).toBe('english')
  expect(verbose.segments.length).toBeGreaterThanOrEqual(4)
  const times = verbose.segments.flatMap(({ start, end }) => [start, end])
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times.at(-1)).toBeWithin(verbose.duration - 2, verbose.duration + 0.1)
  const subtitles = await (await transcribe(file, { response_format: 'srt' })).text()
  expect(subtitles).toMatch(/^1\n00:00:0\d,\d{3} --> /)
  expect(subtitles).toContain('library')
})

test('word times are estimated where the model has none, and the answer says so', async () => {
  const file = await speak(paragraph, 'wav')
  const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }
  const answer = (await (await transcribe(file, fields)).json()) as {
    text: string
    duration: number
    words: { word: string; start: number; end: number }[]
    words_estimated?: boolean
  }
  expect(answer.words_estimated).toBe(true)
  expect(answer.words.map(({ word }) => word).join(' ')).toBe(answer.text)
  const times = answer.words.flatMap(({ start, end }) => [start, end])
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times.at(-1)).toBeWithin(answer.duration - 2, answer.duration + 0.1)
})

test('silence, noise, tones and a buzz give no text', async () => {
  const sounds = {
    silence: silence(4),
    noise: noise(4),
    faint: noise(4, 0.02),
    tone: tone(3, 440),
    buzz: buzz(3, 140, 3),
  }
  const chord = concatS16([tone(1, 262), tone(1, 330), tone(1, 392), tone(1, 523)])
  for (const [name, pcm] of Object.entries({ ...sounds, chord })) {
    expect([name, await textOf(new Blob([sound.wav(pcm, 16_000)]))]).toEqual([name, ''])
  }
})

test('requests that the built-in recogniser cannot fulfil are refused with an explanation', async () => {
  const file = await speak('Good morning.', 'wav')
  const refused = await transcribe(file, { language: 'fr' })
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('One that does: myna models pull whisper-base')
  const body = new FormData()
  body.append('file', file, 'clip')
  body.append('model', 'whisper-1')
  const translated = await program.fetch('/v1/audio/translations', program.key, { method: 'POST', body })
  expect([translated.status, (await translated.text()).includes('myna models pull whisper-base')]).toEqual([400, true])
})

const shared = join(import.meta.dir, '../../../shared')
const clips = join(shared, 'data/clips')
const references = join(shared, 'prototypes/embedded/librispeech-references.py')

// Clips of real readers and their words are not in the repository: skipped where they are missing.
describe.skipIf(!existsSync(clips) || !existsSync(references))('real readers', () => {
  test('24 clips of six readers, each from an old book: one word in eight is lost', async () => {
    const said = [...readFileSync(references, 'utf8').matchAll(/^"([\d-]+)":"(.*)",?$/gm)]
    expect(said.length).toBe(24)
    const all: WordErrors[] = []
    for (const [, name, text] of said) {
      all.push(wordErrors(text!, await textOf(Bun.file(join(clips, `${name}.flac`)))))
    }
    expect(errorRate(all)).toBeLessThan(0.16)
    expect(errorRate(all)).toBeGreaterThan(0.05)
  })
})
