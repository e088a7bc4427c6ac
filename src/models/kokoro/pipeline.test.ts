import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { countChars } from '../../domain/charge.ts'
import { randomText } from '../../text/random-text.fixture.ts'
import { speakable } from '../../text/speakable.ts'
import { forEachSeed } from '../../testing/seeded.ts'
import { InputRefused, type SpeechInput, type SpeechModel, type SpokenChunk } from '../architecture.ts'
import { Espeak } from './espeak.ts'
import { loadGraph } from './graph.ts'
import { type Folder, modelFolder } from './kokoro.fixture.ts'
import { load, loadKokoro } from './pipeline.ts'
import { finish } from './sound.ts'
import { Styles } from './styles.ts'

let folder: Folder
let model: SpeechModel
beforeAll(async () => {
  folder = await modelFolder()
  model = await load(folder.options)
})
afterAll(async () => {
  await model.unload()
  folder.remove()
})

const never = new AbortController().signal
const inputOf = (text: string, changed: Partial<SpeechInput> = {}): SpeechInput => ({
  voiceId: 'a',
  text,
  voiceState: null,
  speed: 1,
  language: null,
  instructions: null,
  seed: null,
  ...changed,
})

async function speak(input: SpeechInput, by = model): Promise<SpokenChunk[]> {
  const spoken: SpokenChunk[] = []
  for await (const chunk of by.speak(input, never)) spoken.push(chunk)
  return spoken
}

/** The sound of one chunk of these symbols. */
async function sound(symbols: string, voice = 'a', speed = 1): Promise<Float32Array> {
  const graph = await loadGraph(join(folder.filesDir, 'model.onnx'), 1, null)
  const styles = new Styles(join(folder.filesDir, 'voices'), new Set([voice]))
  const style = await styles.style([{ voice, weight: 1 }], Array.from(symbols).length)
  const { pcm } = finish((await graph.speak(symbols, style, speed)).pcm, speed, 0, 24_000)
  await graph.release()
  return pcm
}

const refusal = async (input: SpeechInput, by = model): Promise<unknown> => {
  try {
    await speak(input, by)
  } catch (error) {
    return error
  }
  throw new Error('it was not refused')
}

test('a sentence is one chunk of its symbols', async () => {
  const [chunk, ...more] = await speak(inputOf('The water is hot.'))
  expect(more).toEqual([])
  expect(chunk?.coveredChars).toBe(17)
  expect(chunk?.pcm).toEqual(await sound('ðə wˈɔTəɹ ɪz hˈɑt.'))
})

test('British voices use British symbols, and so does a British request', async () => {
  const british = 'ðə wˈɔːtə ɪz hˈɒt.'
  expect((await speak(inputOf('The water is hot.', { voiceId: 'bf' })))[0]?.pcm).toEqual(await sound(british, 'bf'))
  const asked = await speak(inputOf('The water is hot.', { language: 'en-GB' }))
  expect(asked[0]?.pcm).toEqual(await sound(british))
})

test("speed reaches the graph, within the graph's limits", async () => {
  const slow = await speak(inputOf('The water is hot.', { speed: 0.5 }))
  const half = await sound('ðə wˈɔTəɹ ɪz hˈɑt.', 'a', 0.5)
  expect(slow[0]?.pcm).toEqual(half)
  const slowest = await speak(inputOf('The water is hot.', { speed: 0.25 }))
  expect(slowest[0]?.pcm.length).toBe(2 * half.length)
})

test('a mixture of a voice with itself is that voice; a real mixture is not', async () => {
  const plain = await speak(inputOf('The water is hot.'))
  expect(await speak(inputOf('The water is hot.', { voiceId: 'a(2)+a' }))).toEqual(plain)
  expect(await speak(inputOf('The water is hot.', { voiceId: 'a+b' }))).not.toEqual(plain)
})

test("speaks phonemes from the text and from the user's dictionary", async () => {
  const spoken = await sound('kˈOkəɹO.')
  expect((await speak(inputOf('[Kokoro](/kˈOkəɹO/)')))[0]?.pcm).toEqual(spoken)
  const own = await load({ ...folder.options, pronunciations: 'Kokoro=/kˈOkəɹO/' })
  expect((await speak(inputOf('Kokoro'), own))[0]?.pcm).toEqual(spoken)
  await own.unload()
})

test('a long text comes in chunks that cover it piece by piece', async () => {
  const text = 'This is the first sentence of several. '.repeat(30)
  const spoken = await speak(inputOf(text))
  const covered = spoken.map(({ coveredChars }) => coveredChars)
  expect(covered.length).toBeGreaterThan(5)
  expect(covered[0]).toBe(38)
  expect(covered).toEqual([...covered].sort((a, b) => a - b))
  expect(covered.at(-1)).toBe(countChars(text))
})

test('for any text: no crash, finite sound, all of it covered; no sound where nothing can be said', () =>
  forEachSeed(60, async (random) => {
    const text = randomText(random, random.whole(0, 50))
    const input = inputOf(text, { voiceId: random.pick(['a', 'bf']) })
    if (!speakable(text, ['Latin'])) return expect(await refusal(input)).toBeInstanceOf(InputRefused)
    const spoken = await speak(input)
    expect(spoken.length).toBeGreaterThan(0)
    let covered = 0
    for (const { pcm, coveredChars } of spoken) {
      expect(pcm.length).toBeGreaterThan(0)
      expect(pcm.every((sample) => Math.abs(sample) <= 1)).toBe(true)
      expect(coveredChars).toBeGreaterThanOrEqual(covered)
      covered = coveredChars
    }
    expect(covered).toBe(countChars(text))
  }))

test('the signal ends the work between two chunks', async () => {
  const abort = new AbortController()
  const seen: number[] = []
  const reason = new Error('enough')
  const work = async () => {
    for await (const { coveredChars } of model.speak(inputOf('One sentence stands here. '.repeat(40)), abort.signal)) {
      seen.push(coveredChars)
      abort.abort(reason)
    }
  }
  expect(await work().catch((error: unknown) => error)).toBe(reason)
  expect(seen.length).toBe(1)
})

test('unknown voices, and languages without a speaker, are refused', async () => {
  expect(await refusal(inputOf('Hi', { voiceId: 'nobody' }))).toEqual(new Error('kokoro has no voice "nobody"'))
  expect(await refusal(inputOf('Hi', { voiceId: 'a+nobody' }))).toEqual(new Error('kokoro has no voice "nobody"'))
  expect(await refusal(inputOf('नमस्ते'))).toEqual(
    new InputRefused("The text contains nothing that the voice 'a' can read.", 'language'),
  )
  expect(await refusal(inputOf('Hi', { voiceId: 'jf' }))).toEqual(
    new InputRefused("Kokoro does not speak 'ja' here. Supported values are: en, es, fr, hi, it, pt.", 'language'),
  )
})

test('without espeak-ng its languages are refused, and the error names its package', async () => {
  const bare = await loadKokoro(folder.options, null)
  const error = await refusal(inputOf('Hola', { voiceId: 'ef' }), bare)
  expect(error).toBeInstanceOf(InputRefused)
  expect((error as Error).message).toContain('its package is called espeak-ng')
  expect((await speak(inputOf('Hello'), bare)).length).toBe(1)
  await bare.unload()
})

// A machine without espeak-ng cannot run this test.
test.skipIf(Espeak.find() === null)('Spanish through espeak-ng', async () => {
  const [chunk] = await speak(inputOf('Hola, amigo.', { voiceId: 'ef' }))
  expect(chunk?.coveredChars).toBe(12)
  expect(chunk?.pcm).toEqual(await sound('ˈola, amˈiɣo.', 'ef'))
})

test('missing files and wrong graphs are reported when the model is loaded', async () => {
  const message = (options: Parameters<typeof load>[0]) => load(options).then(String, (error: Error) => error.message)
  expect(await message({ ...folder.options, filesDir: null })).toBe('kokoro needs its files')
  expect(await message({ ...folder.options, filesDir: join(folder.filesDir, 'none') })).toContain('model.onnx')
})
