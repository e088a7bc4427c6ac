import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromS16 } from '../../audio/pcm.ts'
import { speech, words } from '../../testing/speech-clips.ts'
import { InputRefused, type TranscriptionInput, type TranscriptionModel } from '../architecture.ts'
import { transcriptionArchitectures } from '../registry.ts'
import { cardOf, pieces, smallModels, vocabularyText, writeModel } from './graphs.fixture.ts'
import { load } from './pipeline.ts'

const never = new AbortController().signal
const folder = mkdtempSync(join(tmpdir(), 'myna-parakeet-'))
const whole = join(folder, 'whole')
const plain: TranscriptionInput = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: false }
const open = (filesDir: string | null, ...languages: string[]) =>
  load({ card: cardOf(...languages), filesDir, pronunciations: null, workers: 2 })

let model: TranscriptionModel
beforeAll(async () => {
  await writeModel(whole, smallModels[1]!)
  model = await open(whole, 'en', 'de')
})
afterAll(async () => {
  await model.unload()
  rmSync(folder, { recursive: true })
})

test('has the architecture that its cards name', async () => {
  expect((await transcriptionArchitectures['parakeet']!()).load).toBe(load)
  expect([model.sampleRateHz, model.maxWindowMs]).toEqual([16_000, 20_000])
})

test('a window becomes segments, with words if requested', async () => {
  const pcm = fromS16(await speech(words))
  const segments = await model.begin({ ...plain, words: true }).hear(pcm, never)
  expect(segments.length).toBeGreaterThan(0)
  let atMs = 0
  for (const { startMs, endMs, text, words: said, tokens, avgLogprob } of segments) {
    expect(text).toBe(said!.map((word) => ` ${word.text}`).join(''))
    expect(tokens.map((token) => pieces[token]!.replace('▁', ' ').trim()).join('')).toBe(text.replaceAll(' ', ''))
    expect([startMs, endMs]).toEqual([said![0]!.startMs, said!.at(-1)!.endMs])
    expect(avgLogprob).toBeLessThan(0)
    for (const word of said!) {
      expect(word.startMs).toBeGreaterThanOrEqual(atMs)
      expect(word.endMs).toBeGreaterThanOrEqual(word.startMs)
      expect(word.probability).toBeWithin(0, 1 + 1e-9)
      atMs = word.endMs
    }
  }
  expect(atMs).toBeLessThanOrEqual(pcm.length / 16)
  const without = await model.begin(plain).hear(pcm, never)
  expect(without).toEqual(segments.map((segment) => ({ ...segment, words: null })))
})

test('windows do not affect each other', async () => {
  const pcm = fromS16(await speech(words))
  const other = fromS16(await speech('It rained for days.', 'slt'))
  const transcribing = model.begin(plain)
  const alone = await model.begin(plain).hear(pcm, never)
  await transcribing.hear(other, never)
  expect(await transcribing.hear(pcm, never)).toEqual(alone)
})

test('a sound too short to have features gives no text', async () => {
  const transcribing = model.begin(plain)
  for (const length of [0, 1, 319]) expect(await transcribing.hear(new Float32Array(length), never)).toEqual([])
  await transcribing.hear(new Float32Array(320), never)
})

test('the language is the requested one, or the only one; a prompt has no effect', async () => {
  expect(model.begin({ ...plain, prompt: 'Myna' }).language).toBe(null)
  expect(model.begin({ ...plain, language: 'de' }).language).toBe('de')
  const english = await open(whole, 'en')
  expect(english.begin(plain).language).toBe('en')
  await english.unload()
})

test('explains to the client what it cannot do', () => {
  expect(() => model.begin({ ...plain, task: 'translate' })).toThrow(
    new InputRefused("The model 'parakeet-test' cannot translate.", 'model'),
  )
  expect(() => model.begin({ ...plain, language: 'ja' })).toThrow(
    new InputRefused("The model 'parakeet-test' does not know 'ja'. Supported values are: en, de.", 'language'),
  )
})

test('an abort ends it before and within a window', async () => {
  const pcm = fromS16(await speech(words))
  const before = AbortSignal.abort(new Error('not wanted'))
  expect(await model.begin(plain).hear(pcm, before).catch(String)).toBe('Error: not wanted')
  const abort = new AbortController()
  const hearing = model.begin(plain).hear(pcm, abort.signal).catch(String)
  setImmediate(() => abort.abort(new Error('enough')))
  expect(await hearing).toBe('Error: enough')
})

test('missing files and files of another model are reported when it is loaded', async () => {
  const complaint = async (change: (to: string) => unknown): Promise<string> => {
    const broken = mkdtempSync(join(folder, 'broken-'))
    cpSync(whole, broken, { recursive: true })
    await change(broken)
    return open(broken, 'en').then(() => 'none', String)
  }
  expect(await complaint(() => null)).toBe('none')
  expect(await open(null, 'en').catch(String)).toBe('Error: parakeet-test has no files')
  for (const file of ['config.json', 'vocab.txt', 'encoder-model.onnx', 'decoder_joint-model.onnx']) {
    expect(await complaint((to) => rmSync(join(to, file)))).toContain(file)
  }
  const other = vocabularyText.replace(/<blk> \d+\n/, `more ${pieces.length - 1}\n<blk> ${pieces.length}\n`)
  expect(await complaint((to) => Bun.write(join(to, 'vocab.txt'), other))).toBe(
    `Error: decoder_joint-model.onnx gives ${pieces.length + 5} numbers, but vocab.txt requires ${pieces.length + 6}`,
  )
  const swapped = (to: string) => cpSync(join(to, 'decoder_joint-model.onnx'), join(to, 'encoder-model.onnx'))
  expect(await complaint(swapped)).toContain('encoder-model.onnx is not the graph this model needs: no input audio_si')
  const bands = { model_type: 'nemo-conformer-tdt', features_size: 128, subsampling_factor: 8 }
  expect(await complaint((to) => Bun.write(join(to, 'config.json'), JSON.stringify(bands)))).toContain(
    'input audio_signal is float32 [batch, 80, frames], but float32 [?, 128, ?] is expected',
  )
})
