import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { fromS16 } from '../../audio/pcm.ts'
import type { Card } from '../../domain/card.ts'
import { runCount } from '../../onnx/runs.ts'
import { failureOf } from '../../testing/failure.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { silence, speech, words } from '../../testing/speech-clips.ts'
import { InputRefused, type TranscriptionInput, type TranscriptionModel } from '../architecture.ts'
import { smallCard, type SmallModel, writeSmallModel } from './model.fixture.ts'
import { load } from './pipeline.ts'

const never = new AbortController().signal
const plain: TranscriptionInput = { task: 'transcribe', language: null, prompt: null, temperature: 0.2, words: true }
const greeting = fromS16(await speech('Good morning to you all.'))
const configs: Record<string, Record<string, unknown>> = await Bun.file(
  join(import.meta.dir, 'golden/configs.json'),
).json()

const loaded: TranscriptionModel[] = []
afterEach(async () => {
  for (const model of loaded.splice(0)) await model.unload()
})

async function loadSmall(small: SmallModel = {}, change: Partial<Card> = {}) {
  const filesDir = await writeSmallModel(temporaryFolder(), small)
  const model = await load({ card: { ...smallCard, ...change }, filesDir, pronunciations: null, workers: 1 })
  loaded.push(model)
  return model
}

/** @param fields changed in one of the JSON files */
const changed = (file: string, fields: object): SmallModel => ({ files: { [file]: { ...configs[file], ...fields } } })

test('files that were tried once load without a run; another decoder is tried', async () => {
  const filesDir = await writeSmallModel(temporaryFolder())
  const again = () => load({ card: smallCard, filesDir, pronunciations: null, workers: 1 })
  loaded.push(await again())
  const runs = runCount()
  loaded.push(await again())
  expect(runCount()).toBe(runs)
  const broken = replaced(await smallDecoder(), 'past_key_values.1.decoder.key', 'past_key_values.0.decoder.key', 1)
  await Bun.write(join(filesDir, 'decoder_model_merged.onnx'), broken)
  expect((await failureOf(again())).message).toContain('this export is broken')
})

describe('loading refuses', () => {
  const cases: [string, SmallModel, string][] = [
    ['a graph that is not there', { files: { 'encoder_model.onnx': null } }, 'encoder_model.onnx'],
    ['a file that is not there', { files: { 'generation_config.json': null } }, 'generation_config.json'],
    ['another width', changed('config.json', { d_model: 32 }), 'encoder_model.onnx is not the graph'],
    [
      'another number of layers',
      changed('config.json', { decoder_layers: 3 }),
      'no input past_key_values.2.decoder.key',
    ],
    [
      'another vocabulary',
      changed('config.json', { vocab_size: 2400 }),
      'output logits is float32 [batch, length, 2308]',
    ],
    ['no room for timestamps', changed('config.json', { vocab_size: 2000 }), 'has no room for timestamps'],
    ['other bands', changed('preprocessor_config.json', { feature_size: 128 }), 'feature_size is 128, not 80'],
    ['another rate', changed('preprocessor_config.json', { sampling_rate: 8000 }), 'sampling_rate is 8000'],
    ['other windows', changed('config.json', { max_source_positions: 1000 }), 'max_source_positions is 1000'],
    ['heads that do not fit', changed('config.json', { decoder_attention_heads: 3 }), '3 heads do not share'],
    ['nonsense for a number', changed('config.json', { d_model: 'wide' }), 'd_model is "wide"'],
    [
      'another token',
      changed('generation_config.json', { eos_token_id: 5 }),
      '<|endoftext|> is 5, tokenizer.json says 700',
    ],
    ['heads that are not there', changed('generation_config.json', { alignment_heads: [[2, 0]] }), 'no head [2,0]'],
    ['a list that is none', changed('generation_config.json', { suppress_tokens: 7 }), 'suppress_tokens is not a list'],
    ['ids that are none', changed('generation_config.json', { suppress_tokens: [-1] }), 'not a list of token ids'],
  ]
  test.each(cases)('%s', async (_, small, words) => {
    expect(String(await loadSmall(small).catch((error: unknown) => error))).toContain(words)
  })

  test('a tokenizer without special tokens', async () => {
    const { tokenizer } = await smallTokenizer()
    const files = { 'tokenizer.json': { ...tokenizer, added_tokens: [] } }
    expect(String(await loadSmall({ files }).catch((error: unknown) => error))).toContain('is missing')
  })

  test('a decoder that passes on the wrong states', async () => {
    const decoder = await smallDecoder()
    // Both layers take the first one's keys. The last occurrence of a name in the file is the input's own.
    const broken = replaced(decoder, 'past_key_values.1.decoder.key', 'past_key_values.0.decoder.key', 1)
    const files = { 'decoder_model_merged.onnx': broken }
    expect(String(await loadSmall({ files }).catch((error: unknown) => error))).toContain('this export is broken')
  })
})

async function smallTokenizer(): Promise<{ tokenizer: object }> {
  const folder = await writeSmallModel(temporaryFolder())
  return { tokenizer: await Bun.file(join(folder, 'tokenizer.json')).json() }
}

async function smallDecoder(): Promise<Uint8Array> {
  const folder = await writeSmallModel(temporaryFolder())
  return Bun.file(join(folder, 'decoder_model_merged.onnx')).bytes()
}

/** @param spared how many of the last occurrences keep the name, which is as long as the new one */
function replaced(graph: Uint8Array, name: string, by: string, spared: number): Uint8Array {
  const bytes = Buffer.from(graph)
  const places: number[] = []
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) places.push(at)
  expect(places.length).toBeGreaterThan(spared)
  for (const at of places.slice(0, places.length - spared)) bytes.write(by, at)
  return bytes
}

test('weights of eight bits may round coarsely, and hear two windows at a time', async () => {
  const model = await loadSmall({ kind: 'uint8' }, { weights: 'int8' })
  const transcribing = model.begin({ ...plain, language: 'en' })
  expect(transcribing.batch?.max).toBe(2)
  const heard = await transcribing.batch!.hear([greeting, greeting], never)
  expect(heard.map((segments) => segments.length > 0)).toEqual([true, true])
  expect((await transcribing.hear(greeting, never)).length).toBeGreaterThan(0)
  // With weights that are not rounded, the same difference would mean that the graph is wrong.
  const asFloats = await loadSmall({ kind: 'uint8' }).catch((error: unknown) => error)
  expect(String(asFloats)).toContain('this export is broken')
})

test('a clip becomes segments with words, in the detected language', async () => {
  const model = await loadSmall()
  const transcribing = model.begin(plain)
  expect(transcribing.language).toBeNull()
  const segments = await transcribing.hear(greeting, never)
  expect(transcribing.language).toMatch(/^[a-z]{2,3}$/)
  expect(segments.length).toBeGreaterThan(0)
  for (const { startMs, endMs, text, words } of segments) {
    expect(startMs).toBeLessThan(endMs)
    expect(text.trim()).not.toBe('')
    for (const word of words!) {
      expect(word.text).toBe(word.text.trim())
      expect(word.startMs).toBeLessThanOrEqual(word.endMs)
      expect(word.probability!).toBeWithin(0, 1.000001)
    }
  }
})

test('transcribing the same clip again gives the same result', async () => {
  const model = await loadSmall()
  const hear = () => model.begin({ ...plain, temperature: 0.8 }).hear(greeting, never)
  const first = await hear()
  expect(first[0]!.temperature).toBe(0.8)
  expect(await hear()).toEqual(first)
})

test('the text of one window is passed to the next', async () => {
  const model = await loadSmall()
  const second = async (before: Float32Array | null) => {
    const transcribing = model.begin({ ...plain, language: 'en', words: false })
    if (before !== null) expect((await transcribing.hear(before, never)).length).toBeGreaterThan(0)
    return (await transcribing.hear(greeting, never)).map(({ tokens }) => tokens)
  }
  const sentence = fromS16(await speech('It rained for days.', 'slt'))
  expect(await second(sentence)).not.toEqual(await second(null))
})

test('without attentions, or without heads that follow the sound, there are no words', async () => {
  const graph = replaced(await smallDecoder(), 'cross_attentions', 'cross-attentions', 0)
  const silent = await loadSmall({ files: { 'decoder_model_merged.onnx': graph } })
  const headless = await loadSmall(changed('generation_config.json', { alignment_heads: null }))
  for (const model of [silent, headless]) {
    const segments = await model.begin(plain).hear(greeting, never)
    expect(segments.length).toBeGreaterThan(0)
    expect(segments.map(({ words }) => words)).toEqual(segments.map(() => null))
  }
})

test('text is kept where half precision leaves no attention to the sound', async () => {
  const model = await loadSmall({ kind: 'fp16' })
  const sentence = fromS16(await speech(words, 'slt'))
  const firstWindow = async (input: Partial<TranscriptionInput>) => {
    const segments = await model.begin({ ...plain, language: 'en', ...input }).hear(sentence, never)
    return segments.filter(({ seekMs }) => seekMs === 0).flatMap(({ tokens }) => tokens)
  }
  const written = await firstWindow({ words: false })
  expect(written.length).toBeGreaterThan(0)
  expect(await firstWindow({ words: true })).toEqual(written)
})

test('tokens that the configuration forbids are never written', async () => {
  const hear = async (small: SmallModel) =>
    (await (await loadSmall(small)).begin({ ...plain, language: 'en' }).hear(greeting, never)).flatMap(
      ({ tokens }) => tokens,
    )
  const common = (await hear({})).find((id) => id < 700)!
  expect(await hear(changed('generation_config.json', { suppress_tokens: [common] }))).not.toContain(common)
})

test('empty sound gives an empty text', async () => {
  const model = await loadSmall()
  expect(await model.begin(plain).hear(new Float32Array(100), never)).toEqual([])
  expect(await model.begin(plain).hear(new Float32Array(0), never)).toEqual([])
})

describe('reports', () => {
  const ask = (model: TranscriptionModel, input: Partial<TranscriptionInput>): unknown => {
    try {
      return model.begin({ ...plain, ...input })
    } catch (error) {
      return error instanceof InputRefused ? [error.param, error.message] : error
    }
  }

  test('that a language is unknown', async () => {
    const model = await loadSmall()
    expect(ask(model, { language: 'tlh' })).toEqual([
      'language',
      expect.stringContaining('Supported values are: en, zh'),
    ])
    expect(model.begin({ ...plain, language: 'pt-BR' }).language).toBe('pt')
    expect(model.begin({ ...plain, language: 'PT' }).language).toBe('pt')
  })

  test('that a model was not trained to translate', async () => {
    const model = await loadSmall({}, { options: { translates: false } })
    expect(ask(model, { task: 'translate' })).toEqual(['model', "The model 'small' cannot translate."])
  })

  test('that a model knows English only', async () => {
    const model = await loadSmall(changed('generation_config.json', { is_multilingual: false, lang_to_id: undefined }))
    expect(ask(model, { task: 'translate' })).toEqual(['model', "The model 'small' cannot translate."])
    expect(ask(model, { language: 'de' })).toEqual(['language', expect.stringContaining('Supported values are: en.')])
    const transcribing = model.begin({ ...plain, language: 'en-GB' })
    expect(transcribing.language).toBe('en')
    expect((await transcribing.hear(greeting, never)).length).toBeGreaterThan(0)
  })
})

test('an abort ends it between two tokens, and the model continues with the next clip', async () => {
  const model = await loadSmall()
  const abort = new AbortController()
  const waiting = model.begin(plain).hear(fromS16(silence(29)), abort.signal)
  let turns = 0
  const count = () => {
    if (++turns === 20) abort.abort(new Error('enough'))
    else setImmediate(count)
  }
  setImmediate(count)
  expect(String(await waiting.catch((error: unknown) => error))).toBe('Error: enough')
  expect((await model.begin(plain).hear(greeting, never)).length).toBeGreaterThan(0)
})
