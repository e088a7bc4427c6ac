import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatS16, fromS16 } from '../../audio/pcm.ts'
import { cards } from '../../catalog/cards.ts'
import type { Card } from '../../domain/card.ts'
import { noise, silence, speech, words } from '../../testing/speech-clips.ts'
import { errorRate, wordErrors } from '../../testing/word-errors.ts'
import { InputRefused, type TranscriptionInput, type TranscriptionModel } from '../architecture.ts'
import { meanLogProbability, wasSaid } from './judgement.ts'
import { load } from './pipeline.ts'

// The real graphs, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const card = cards.find(({ id }) => id === 'moonshine-tiny-en') as Card
let model: TranscriptionModel
beforeAll(async () => {
  model = await load({ card, filesDir: null, pronunciations: null, workers: 2 })
})
afterAll(() => model.unload())

const never = new AbortController().signal
const plain: TranscriptionInput = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: false }
const hear = (pcm: Int16Array, signal = never) => model.begin(plain).hear(fromS16(pcm), signal)
const textOf = async (pcm: Int16Array) =>
  (await hear(pcm))
    .map(({ text }) => text)
    .join('')
    .trim()

test('a synthetic sentence is transcribed nearly word for word, with a capital and a full stop', async () => {
  const heard = await textOf(await speech(words, 'slt'))
  expect(heard).toMatch(/^[A-Z].*\.$/)
  expect(errorRate([wordErrors(words, heard)])).toBeLessThan(0.25)
})

test("segments are timed from the start of the window, in order, with the model's confidence", async () => {
  const said = ['Good morning to you all.', 'It rained for days.']
  const window = concatS16([await speech(said[0]!), silence(0.4), await speech(said[1]!, 'slt')])
  const segments = await hear(window)
  expect(segments.map(({ text }) => text.trim()).join(' ')).toContain('rained for days')
  const times = segments.flatMap(({ startMs, endMs }) => [startMs, endMs])
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect([times[0], Math.round(times.at(-1)!)]).toEqual([0, Math.round(window.length / 16)])
  for (const { avgLogprob, words: none, seekMs } of segments) {
    expect(avgLogprob).toBeWithin(-0.6, 0)
    expect([none, seekMs]).toEqual([null, 0])
  }
})

test('silence, noise and sounds too short for a step give no text', async () => {
  for (const pcm of [silence(2), noise(3), noise(3, 0.01), silence(0.05), silence(0)]) {
    expect(await hear(pcm)).toEqual([])
  }
})

test('another language and translation are refused; a tag of English is English', () => {
  const begin = (changed: Partial<TranscriptionInput>) => () => model.begin({ ...plain, ...changed })
  expect(begin({ language: 'fr' })).toThrow(InputRefused)
  expect(begin({ task: 'translate' })).toThrow("The model 'moonshine-tiny-en' cannot translate.")
  expect(model.begin({ ...plain, language: 'en-AU' }).language).toBe('en')
})

test('the signal ends the work, and the next window is transcribed', async () => {
  const leaving = new AbortController()
  const left = hear(await speech(words), leaving.signal)
  leaving.abort(new Error('gone'))
  expect(await left.catch((error: Error) => error.message)).toBe('gone')
  expect(await textOf(await speech(words))).not.toBe('')
})

const written = (logProbability: number) => [{ token: 5, logProbability }]
test.each([
  ['words that it is sure of', 'It rained.', -0.1, false, 1, true],
  ['words that it is not sure of', 'It rained.', -0.7, false, 1, false],
  ['music', '♪♪♪', -0.1, true, 1, false],
  ['nothing', '', -0.1, false, 0, false],
  ['a phrase again and again until it is cut off', 'the first is '.repeat(20), -0.3, true, 5, false],
  ['a long sentence that is cut off', 'It was the best of times', -0.1, true, 1.1, true],
])('%s', (_, text, logProbability, isCutOff, compression, expected) => {
  expect(wasSaid({ written: written(logProbability), isCutOff }, text, compression)).toBe(expected)
  expect(meanLogProbability(written(logProbability))).toBe(logProbability)
})
