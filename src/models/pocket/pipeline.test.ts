import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { concatFloats } from '../../audio/pcm.ts'
import type { Card } from '../../domain/card.ts'
import { countChars } from '../../domain/charge.ts'
import { randomText } from '../../text/random-text.fixture.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import { forEachSeed } from '../../testing/seeded.ts'
import type { SpeechInput, SpeechModel, SpokenChunk } from '../architecture.ts'
import { load, loadPocket, type Seams } from './pipeline.ts'
import { golden, goldenClip, goldenNoise, smallCard, writeSmall } from './small.fixture.ts'

const root = mkdtempSync(join(tmpdir(), 'myna-pocket-'))
const filesDir = join(root, 'small')
const story = golden.cases.at(-2)!.text
const never = new AbortController().signal
let model: SpeechModel

beforeAll(async () => {
  await writeSmall(filesDir)
  model = await load({ card: smallCard, filesDir, pronunciations: null, workers: 1 })
})
afterAll(async () => {
  await model.unload()
  rmSync(root, { recursive: true })
})

const opened = (changes: Partial<Card>, seams: Seams = {}, pronunciations: string | null = null) =>
  loadPocket({ card: { ...smallCard, ...changes }, filesDir, pronunciations, workers: 1 }, seams)

const plain = { voiceId: 'alba', voiceState: null, speed: 1, language: null, instructions: null, seed: 5 }
const speak = (text: string, wish: Partial<SpeechInput> = {}, from = model, signal = never) =>
  from.speak({ ...plain, text, ...wish }, signal)
const pcmOf = (chunks: readonly SpokenChunk[]) => concatFloats(chunks.map(({ pcm }) => pcm))
const soundOf = async (text: string, wish: Partial<SpeechInput> = {}, from = model) =>
  pcmOf(await Array.fromAsync(speak(text, wish, from)))
const hash = (pcm: Float32Array) => Bun.hash(pcm.buffer)
const frame = 1920

const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: Error) => error.message,
  )

test("a text is spoken in the package's frames, except for pauses and fades", async () => {
  const { text, guard, after, steps, temperature, chunks } = golden.cases.at(-2)!
  const options = { eos_guard_frames: guard, frames_after_eos: after, lsd_steps: steps, temperature }
  const told: string[] = []
  const same = await opened({ options }, { noise: goldenNoise, tell: (line) => told.push(line) })
  const pcm = await soundOf(text, {}, same)
  await same.unload()
  expect(told).toEqual([])
  const frames = chunks.reduce((sum, chunk) => sum + chunk.frames, 0)
  // Each join may add or remove a pause.
  const spareS = (chunks.length - 1) * 0.45
  expect(Math.abs(pcm.length - frames * frame)).toBeLessThan(spareS * 24_000)
  expect(pcm.every(Number.isFinite)).toBe(true)
})

test('blocks begin small and grow: the first sound comes after two frames', async () => {
  const slow = await opened({}, { frames: () => 60 })
  const chunks = await Array.fromAsync(speak('One sentence.', {}, slow))
  await slow.unload()
  expect(chunks.map(({ pcm }) => pcm.length / frame)).toEqual([2, 3, 4, 6, 9, 13, 15, 8])
  for (const { pcm } of chunks) expect(pcm.buffer.byteLength).toBe(pcm.byteLength)
})

test('one seed always gives the same sound, even beside other streams; another seed gives another sound', async () => {
  const text = 'It was a cold day. Nobody went out.'
  const seeds = [1, 2, 3]
  const alone: ReturnType<typeof hash>[] = []
  for (const seed of seeds) alone.push(hash(await soundOf(text, { seed })))
  const together = await Promise.all(seeds.map((seed) => soundOf(text, { seed })))
  expect(together.map(hash)).toEqual(alone)
  expect(new Set(alone).size).toBe(3)
  const [one, two] = [await soundOf('Hello.', { seed: null }), await soundOf('Hello.', { seed: null })]
  expect(hash(one)).not.toBe(hash(two))
})

test('streams take turns: a long text does not keep a short one waiting', async () => {
  const order: string[] = []
  const listen = async (name: string, text: string) => {
    for await (const _ of speak(text)) order.push(name)
  }
  await Promise.all([listen('long', story), listen('short', 'Hello.')])
  const last = order.lastIndexOf('short')
  expect(order.slice(last).filter((name) => name === 'long').length).toBeGreaterThan(5)
})

test('for any text, the covered position grows to exactly its length', async () => {
  let frames = 1
  const short = await opened({}, { frames: () => frames })
  await forEachSeed(6, async (random) => {
    const text = `A ${randomText(random, random.whole(1, 20))} word.`
    frames = random.whole(1, 4)
    const chunks = await Array.fromAsync(speak(text, {}, short))
    const covered = chunks.map(({ coveredChars }) => coveredChars)
    expect(covered).toEqual(covered.toSorted((a, b) => a - b))
    expect(covered.at(-1)).toBe(countChars(text))
    expect(chunks.findIndex(({ isLast }) => isLast === true)).toBe(chunks.length - 1)
    expect(pcmOf(chunks).every(Number.isFinite)).toBe(true)
  })
  await short.unload()
})

test('a text with nothing to say gives no sound', async () => {
  for (const text of ['', '  \n ', '👋', '---', '中文']) expect(await Array.fromAsync(speak(text))).toEqual([])
})

test('another speed gives another length, at once and from the first block', async () => {
  const text = 'It was a cold day. Nobody went out.'
  const normal = await soundOf(text)
  for (const speed of [0.25, 0.7, 4]) {
    const chunks = await Array.fromAsync(speak(text, { speed }))
    expect(pcmOf(chunks).length).toBe(Math.round(normal.length / speed))
    expect(chunks.at(-1)!.coveredChars).toBe(countChars(text))
  }
  await expect(soundOf('Hello.', { speed: 5 })).rejects.toThrow(RangeError)
})

test('instructions and language have no effect', async () => {
  const wish = { instructions: 'Whisper.', language: 'de' }
  expect(hash(await soundOf('Hello.', wish))).toBe(hash(await soundOf('Hello.')))
})

test('a stream ends at once when its signal aborts, and the others are unaffected', async () => {
  const abort = new AbortController()
  const other = soundOf('Is it? Yes!')
  const chunks: SpokenChunk[] = []
  const cancelled = (async () => {
    for await (const chunk of speak(story.repeat(20), {}, model, abort.signal)) {
      chunks.push(chunk)
      abort.abort(new Error('cancelled by the client'))
    }
  })()
  expect(await failure(cancelled)).toBe('cancelled by the client')
  expect(chunks.length).toBe(1)
  expect(hash(await other)).toBe(hash(await soundOf('Is it? Yes!')))
  const before = speak('Hello.', {}, model, abort.signal)[Symbol.asyncIterator]()
  expect(await failure(before.next())).toBe('cancelled by the client')
})

test('a model that does not finish is cut off at the limit of its text or of its memory', async () => {
  const told: string[] = []
  const tell = (line: string) => told.push(line)
  const endless = await opened({ options: { eos_guard_frames: 100 } }, { tell })
  // At three tokens a second, plus two spare seconds.
  const { text, chunks } = golden.cases.at(-1)!
  const limit = Math.ceil((chunks[0]!.ids.length / 3 + 2) * 12.5)
  expect([chunks[0]!.eos, chunks[0]!.frames]).toEqual([null, limit])
  expect((await soundOf(text, {}, endless)).length).toBe(limit * frame)
  await endless.unload()
  const length = countChars(text)
  expect(told).toEqual([
    `pocket-small did not end a chunk of ${length} characters that ends at character ${length} of its text: ` +
      'it was cut at the longest that such a chunk can take',
  ])
  const boundless = await opened({}, { frames: () => 1000 })
  // Of 160 positions the voice takes 13; the rest, less the text's, are frames.
  const room = 160 - golden.heard_frames - 1 - chunks[0]!.ids.length
  expect((await soundOf(text, {}, boundless)).length).toBe(room * frame)
  await boundless.unload()
})

test('a voice that leaves no room is refused', async () => {
  const long = { pcm: Float32Array.from({ length: 30 * 24_000 }, (_, at) => Math.sin(at / 10)), sampleRateHz: 24_000 }
  const state = await model.clone!(long, never)
  expect(await failure(soundOf('Hello.', { voiceState: state }))).toContain('positions of 160')
})

test('a clone speaks, the same each time, and not like the preset voice', async () => {
  const clip = { pcm: goldenClip(), sampleRateHz: 24_000 }
  const [one, two] = await Promise.all([model.clone!(clip, never), model.clone!(clip, never)])
  expect(one).toEqual(two)
  const [first, second] = [await soundOf('Hello.', { voiceState: one }), await soundOf('Hello.', { voiceState: two })]
  expect(hash(first)).toBe(hash(second))
  expect(hash(first)).not.toBe(hash(await soundOf('Hello.')))
})

test('a clone speaks with every model of its family, and with no other model', async () => {
  const state = await model.clone!({ pcm: goldenClip(), sampleRateHz: 24_000 }, never)
  const sibling = await opened({ id: 'pocket-other', cloning: null })
  const stranger = await opened({ family: 'pocket-german' })
  expect(sibling.clone).toBeUndefined()
  expect(hash(await soundOf('Hello.', { voiceState: state }, sibling))).toBe(
    hash(await soundOf('Hello.', { voiceState: state })),
  )
  expect(await failure(soundOf('Hello.', { voiceState: state }, stranger))).toContain('not with pocket-german')
  await Promise.all([sibling.unload(), stranger.unload()])
})

test('a voice that the card lacks is an error and is never replaced by another voice', async () => {
  for (const voiceId of ['bob', '', '../voices/alba', 'constructor']) {
    expect(await failure(soundOf('Hello.', { voiceId }))).toBe(`pocket-small has no voice ${JSON.stringify(voiceId)}`)
  }
  const missing = await opened({ voices: [{ ...smallCard.voices[0]!, id: 'bob' }] })
  expect(await failure(soundOf('Hello.', { voiceId: 'bob' }, missing))).toContain('bob.safetensors')
  await missing.unload()
})

test("the user's dictionary is spoken by an English voice", async () => {
  const taught = await opened({}, {}, 'myna=mine ah')
  expect(hash(await soundOf('A myna.', {}, taught))).toBe(hash(await soundOf('A mine ah.')))
  expect(hash(await soundOf('A myna.', {}, taught))).not.toBe(hash(await soundOf('A myna.')))
  await taught.unload()
})

test('numbers become words in English and stay as they are in other languages', async () => {
  const german = await opened({ languages: ['de-DE'] })
  expect(hash(await soundOf('I have 3 birds.'))).toBe(hash(await soundOf('I have three birds.')))
  expect(hash(await soundOf('Drei 3 drei.', {}, german))).not.toBe(hash(await soundOf('Drei three drei.', {}, german)))
  await german.unload()
})

test('unloading ends running streams, even a stream that is not being read', async () => {
  const leaving = await opened({})
  const [pulled, waiting] = [speak(story, {}, leaving), speak(story, {}, leaving)]
  const iterator = waiting[Symbol.asyncIterator]()
  await iterator.next()
  const running = failure(Array.fromAsync(pulled))
  await leaving.unload()
  expect(await running).toBe('pocket-small is unloaded')
  expect(await failure(iterator.next())).toBe('pocket-small is unloaded')
  expect(await failure(soundOf('Hello.', {}, leaving))).toBe('pocket-small is unloaded')
})

/** The model's files with one of them replaced. */
async function loadWith(name: string, content: string | Uint8Array | null, card: Partial<Card> = {}): Promise<string> {
  const folder = mkdtempSync(join(root, 'broken-'))
  cpSync(filesDir, folder, { recursive: true })
  if (content === null) rmSync(join(folder, name))
  else await Bun.write(join(folder, name), content)
  const options = { card: { ...smallCard, ...card }, filesDir: folder, pronunciations: null, workers: 1 }
  return failure(load(options).then((loaded) => loaded.unload()))
}

const identity = onnxModel({
  name: 'identity',
  nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
  inputs: [{ name: 'x', type: 'float32', dims: [1] }],
  outputs: [{ name: 'y', type: 'float32', dims: [1] }],
})
const bundleWith = (changes: object) =>
  JSON.stringify({ ...JSON.parse(Buffer.from(golden.files['bundle.json']!, 'base64').toString()), ...changes })

test.each(['bundle.json', 'tokenizer.model', 'bos_before_voice.npy', 'flow_lm_main.onnx', 'mimi_encoder.onnx'])(
  'without %s it does not load, and the error names the file',
  async (name) => {
    expect(await loadWith(name, null)).toContain(name)
    expect(await loadWith(name, 'not what it should be')).toContain(name)
  },
)

test.each(['text_conditioner', 'flow_lm_main', 'flow_lm_flow', 'mimi_decoder', 'mimi_encoder'])(
  'another graph in place of %s is refused, and the error says what is expected',
  async (name) => {
    expect(await loadWith(`${name}.onnx`, identity)).toStartWith(
      `${name}.onnx is not the graph this model needs: no input`,
    )
  },
)

test('a bundle that does not fit its graphs or its card is refused', async () => {
  expect(await loadWith('bundle.json', bundleWith({ latent_dim: 32 }))).toContain('sequence is float32 [1, ')
  expect(await loadWith('bundle.json', bundleWith({ conditioning_dim: 8 }))).toContain('bos_before_voice.npy: float32')
  expect(await loadWith('bundle.json', bundleWith({}), { sampleRateHz: 16_000 })).toBe(
    'bundle.json: sample_rate is 24000, but pocket-small has 16000',
  )
})

test('an export without an encoder loads when its card says so', async () => {
  expect(await loadWith('mimi_encoder.onnx', null, { cloning: null })).toBe('no failure')
})

test('invalid options are refused by name', async () => {
  for (const [name, value] of Object.entries({ temperature: 9, lsd_steps: 0.5, eos_guard_frames: 'six' })) {
    expect(await failure(opened({ options: { [name]: value } }))).toContain(`pocket-small: the option ${name} is not a`)
  }
  expect(await failure(load({ card: smallCard, filesDir: null, pronunciations: null, workers: 1 }))).toContain(
    'its files',
  )
})
