import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cards } from '../../catalog/cards.ts'
import { concatFloats, levelDb } from '../../audio/pcm.ts'
import { countChars } from '../../domain/charge.ts'
import type { SpeechModel, SpokenChunk } from '../architecture.ts'
import { load } from './pipeline.ts'
import { levelDb as aimedDb } from './voices.ts'

const card = cards.find(({ id }) => id === 'flite')!
const sentence = 'The quick brown fox jumps over the lazy dog, and the dog does not mind it at all.'
const story =
  'It was a cold day in early spring. The children, who had waited all winter, ran outside at once! ' +
  'Was there still snow on the hills?\n\nNobody knew. They climbed up the path and looked around for a long time.'

let model: SpeechModel

beforeAll(async () => {
  model = await load({ card, filesDir: null, pronunciations: null, workers: 2 })
})
afterAll(() => model.unload())

interface Wish {
  voiceId?: string
  speed?: number
  signal?: AbortSignal
  from?: SpeechModel
}

function speak(text: string, { voiceId = 'rms', speed = 1, signal, from = model }: Wish = {}) {
  const input = { voiceId, text, voiceState: null, speed, language: null, instructions: null, seed: null }
  return from.speak(input, signal ?? new AbortController().signal)
}

async function collect(chunks: AsyncIterable<SpokenChunk>): Promise<SpokenChunk[]> {
  const all: SpokenChunk[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

const pcmOf = (chunks: readonly SpokenChunk[]) => concatFloats(chunks.map(({ pcm }) => pcm))
const soundOf = async (text: string, wish: Wish = {}) => pcmOf(await collect(speak(text, wish)))
const secondsOf = (pcm: Float32Array) => pcm.length / card.sampleRateHz
const peakOf = (pcm: Float32Array) => pcm.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)

/** See pool.test.ts: `expect().rejects` is no good where threads start. */
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: Error) => error.message,
  )

test.each(card.voices.map(({ id }) => id))('%s speaks at the common level without clipping', async (voiceId) => {
  const pcm = await soundOf(sentence, { voiceId })
  expect(secondsOf(pcm)).toBeWithin(3.5, 6.5)
  expect(Math.abs(levelDb(pcm) - aimedDb)).toBeLessThan(2.5)
  expect(peakOf(pcm)).toBeWithin(0.2, 0.99)
})

test('the voices are four different ones', async () => {
  const sounds = await Promise.all(card.voices.map(({ id }) => soundOf('Good morning.', { voiceId: id })))
  expect(new Set(sounds.map((pcm) => Bun.hash(pcm.buffer))).size).toBe(4)
})

const speeds = [0.25, 0.5, 2, 4].map((speed, at) => [speed, card.voices[at]!.id] as const)

test.each(speeds)('speed %p changes the time that %s takes by as much', async (speed, voiceId) => {
  const text = 'It was a cold day, they said. Nobody went out.'
  const [normal, changed] = await Promise.all([soundOf(text, { voiceId }), soundOf(text, { voiceId, speed })])
  expect(secondsOf(changed) * speed).toBeWithin(0.9 * secondsOf(normal), 1.1 * secondsOf(normal))
})

test('the same text is the same sound, whoever else speaks meanwhile', async () => {
  const texts = story.split(/(?<=[.!?])\s+/).map((part, at) => `${part} That was ${at}. ${part}`)
  const wish = (at: number): Wish => ({ voiceId: card.voices[at % 4]!.id, speed: at % 2 === 0 ? 1 : 1.5 })
  const alone: Float32Array[] = []
  for (const [at, text] of texts.entries()) alone.push(await soundOf(text, wish(at)))
  const together = await Promise.all(texts.map((text, at) => soundOf(text, wish(at))))
  expect(together.map((pcm) => Bun.hash(pcm.buffer))).toEqual(alone.map((pcm) => Bun.hash(pcm.buffer)))
}, 20_000)

test('what is covered grows to exactly the length of the text, and each chunk owns its buffer', async () => {
  const text = `${story} 👋 Café, déjà vu: 40 % of $1,234.50! 😀`
  const chunks = await collect(speak(text, { voiceId: 'kal16' }))
  const covered = chunks.map(({ coveredChars }) => coveredChars)
  expect(covered).toEqual(covered.toSorted((a, b) => a - b))
  expect(covered.at(-1)).toBe(countChars(text))
  expect(chunks.length).toBeGreaterThan(4)
  for (const { pcm } of chunks) expect(pcm.buffer.byteLength).toBe(pcm.byteLength)
})

test('chunks join in silence: no click, and a pause as long as the boundary asks', async () => {
  const chunks = await collect(speak('One day, it began. Then it went on.\n\nIt ended.'))
  const pausesMs = chunks.map(({ pcm }) => (1000 * quietTail(pcm)) / card.sampleRateHz)
  for (const { pcm } of chunks) {
    expect(Math.abs(pcm[0]!)).toBe(0)
    expect(Math.abs(pcm.at(-1)!)).toBeLessThan(1e-6)
  }
  const joined = pcmOf(chunks)
  const joins = chunks.slice(0, -1).map((_, at) => pcmOf(chunks.slice(0, at + 1)).length)
  for (const at of joins) expect(stepAround(joined, at, 240)).toBeLessThan(0.02)
  expect(pausesMs[0]).toBeWithin(250, 400)
  expect(pausesMs[1]).toBeWithin(500, 650)
  expect(pausesMs[2]).toBeLessThan(120)
})

/** Samples at the end that are below -60 dB. */
function quietTail(pcm: Float32Array): number {
  return pcm.length - 1 - pcm.findLastIndex((sample) => Math.abs(sample) > 0.001)
}

/** Largest difference of neighbouring samples near `at`. */
function stepAround(pcm: Float32Array, at: number, width: number): number {
  let step = 0
  for (let i = at - width; i < at + width; i++) step = Math.max(step, Math.abs(pcm[i + 1]! - pcm[i]!))
  return step
}

test('a cancelled stream ends at once and the others do not notice', async () => {
  const abort = new AbortController()
  const other = soundOf(story, { voiceId: 'kal16' })
  const chunks: SpokenChunk[] = []
  const cancelled = (async () => {
    for await (const chunk of speak(story.repeat(20), { signal: abort.signal })) {
      chunks.push(chunk)
      abort.abort(new Error('cancelled by the client'))
    }
  })()
  expect(await failure(cancelled)).toBe('cancelled by the client')
  expect(chunks.length).toBe(1)
  expect(Bun.hash((await other).buffer)).toBe(Bun.hash((await soundOf(story, { voiceId: 'kal16' })).buffer))
})

test('a reader that leaves takes its chunks out of the pool', async () => {
  for (let i = 0; i < 8; i++) for await (const _ of speak(story.repeat(20), { voiceId: 'kal16' })) break
  const chunks = speak('Next, please.')[Symbol.asyncIterator]()
  const { value } = await chunks.next()
  expect(secondsOf(value.pcm)).toBeGreaterThan(0.4)
})

const nasty: [string, string, number, number][] = [
  ['40 digits', '1234567890'.repeat(4), 5, 40],
  ['an option', '-o evil.wav', 0.4, 4],
  ['control characters', 'con\u0001trol \u0000 and \u001b[31m red', 0.4, 6],
  ['mark-up', '<speak>Hello <break time="99s"/> there</speak>', 0.4, 3],
  ['a shell', '$(reboot); `reboot` && reboot > in.txt', 0.4, 12],
  ['right to left with Latin', 'שלום hello', 0.2, 4],
  ['dots and letters', 'a.'.repeat(100), 5, 60],
  ['only brackets round a word', `${'('.repeat(3000)}word${')'.repeat(3000)}`, 0.2, 3],
]

test.each(nasty)(
  'nasty text: %s',
  async (_, text, minS, maxS) => {
    expect(secondsOf(await soundOf(text, { voiceId: 'kal16' }))).toBeWithin(minS, maxS)
  },
  20_000,
)

test('a word of 5,000 letters is spoken piece by piece and can be cancelled', async () => {
  const abort = new AbortController()
  const chunks = speak('b'.repeat(5000), { voiceId: 'kal16', signal: abort.signal })[Symbol.asyncIterator]()
  const { value } = await chunks.next()
  expect(value.coveredChars).toBeLessThan(5000)
  abort.abort(new Error('enough'))
  expect(await failure(chunks.next())).toBe('enough')
})

test('a voice that flite has not is an error, not another voice', async () => {
  for (const voiceId of ['alloy', 'RMS', 'constructor', '']) {
    expect(await failure(collect(speak('Hello.', { voiceId })))).toBe(`flite has no voice "${voiceId}"`)
  }
  const foreign = { ...card, voices: [{ ...card.voices[0]!, id: 'bob' }] }
  const loading = load({ card: foreign, filesDir: null, pronunciations: null, workers: 1 })
  expect(await failure(loading)).toContain('flite has no voice bob')
})

test("the user's dictionary is spoken, and unloading ends what runs", async () => {
  const taught = await load({ card, filesDir: null, pronunciations: 'myna=mine ah', workers: 1 })
  const heard = await soundOf('A myna sings.', { from: taught })
  expect(Bun.hash(heard.buffer)).toBe(Bun.hash((await soundOf('A mine ah sings.')).buffer))
  expect(Bun.hash(heard.buffer)).not.toBe(Bun.hash((await soundOf('A myna sings.')).buffer))
  const running = failure(collect(speak(story.repeat(50), { from: taught })))
  await taught.unload()
  expect(await running).toBe('flite is unloaded')
  expect(await failure(soundOf('Hello?', { from: taught }))).toBe('flite is unloaded')
})

test('a dictionary that cannot be read is an error at load', async () => {
  const loading = load({ card, filesDir: null, pronunciations: 'no equals sign', workers: 1 })
  expect(await failure(loading)).toContain('Line 1')
})
