import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { concatFloats } from '../../audio/pcm.ts'
import { emptyLexicon } from '../../text/lexicon.ts'
import { englishWords } from '../../text/spoken.ts'
import { readNpy } from '../formats/npy.ts'
import { SentencePiece } from '../tokenizers/sentencepiece.ts'
import { createSession } from '../../onnx/back-end.ts'
import type { Session, Tensor } from '../../onnx/session.ts'
import { type Bundle, readBundle } from './bundle.ts'
import { chunksOf } from './chunks.ts'
import { hearClip } from './clone.ts'
import { generate, hear } from './generate.ts'
import { type Graphs, openGraphs, releaseGraphs } from './graphs.ts'
import { prepare } from './prepare.ts'
import { bytesOf, floatsOf, golden, goldenClip, goldenNoise, writeSmall } from './small.fixture.ts'
import { startWith, type Voice, voiceOf } from './states.ts'
import { readVoice } from './voices.ts'

const folder = mkdtempSync(join(tmpdir(), 'myna-pocket-'))
let bundle: Bundle
let graphs: Graphs
let encoder: Session
let tokenizer: SentencePiece
let preset: Voice

beforeAll(async () => {
  await writeSmall(folder)
  bundle = readBundle(await Bun.file(join(folder, 'bundle.json')).text())
  graphs = await openGraphs({ filesDir: folder, bundle, canClone: true, threads: 1, open: createSession })
  encoder = await graphs.openEncoder!()
  tokenizer = new SentencePiece(bytesOf(golden.files['tokenizer.model']!))
  preset = readVoice(bundle.flowStates, bytesOf(golden.voice))
})
afterAll(async () => {
  await Promise.all([releaseGraphs(graphs), encoder.release()])
  rmSync(folder, { recursive: true })
})

const never = new AbortController().signal

/** The largest difference. */
function apart(ours: Float32Array, theirs: Float32Array): number {
  expect(ours.length).toBe(theirs.length)
  return ours.reduce((most, number, at) => Math.max(most, Math.abs(number - theirs[at]!)), 0)
}

test.each(golden.cases.map((one, at) => [at, one] as const))(
  'the frames, their number and the sound match the package: case %p',
  async (_, { guard, after, steps, temperature, chunks }) => {
    const noise = goldenNoise()
    const manner = { temperature, flowSteps: steps, eosGuardFrames: guard, framesAfterEos: null, frames: null }
    for (const chunk of chunks) {
      const utterance = { ids: chunk.ids, framesAfterEos: after, voiceLength: preset.length, noise }
      const start = startWith(bundle.flowStates, preset)
      const blocks = await Array.fromAsync(generate(graphs, bundle, manner, { ...utterance, start }, never))
      const pcm = concatFloats(blocks.map((block) => block.pcm))
      expect(pcm.length).toBe(chunk.frames * bundle.samplesPerFrame)
      expect(
        apart(
          pcm.filter((_, at) => at % 101 === 0),
          floatsOf(chunk.audio),
        ),
      ).toBeLessThan(2e-4)
      expect(blocks.map(({ isFirst }) => isFirst)).toEqual(blocks.map((_, at) => at === 0))
      expect(blocks.map(({ isLast }) => isLast)).toEqual(blocks.map((_, at) => at === blocks.length - 1))
    }
  },
)

test('ids and chunks match the package', () => {
  const measure = {
    tokens: (text: string) => tokenizer.encode(prepare(text, bundle.preparation)).length,
    maxTokens: bundle.maxTokens,
  }
  for (const { text, chunks } of golden.cases) {
    const ours = [...chunksOf(englishWords(text, emptyLexicon), text, measure)]
    expect(ours.map((chunk) => chunk.text)).toEqual(chunks.map((chunk) => chunk.text))
    const ids = ours.map((chunk) => tokenizer.encode(prepare(chunk.text, bundle.preparation)))
    expect(ids).toEqual(chunks.map((chunk) => chunk.ids))
  }
})

test('the state of a clip matches the package, in computation and in storage', async () => {
  const { samplesPerFrame, conditioningDim, flowStates } = bundle
  const clip = goldenClip()
  const pcm = new Float32Array(Math.ceil(clip.length / samplesPerFrame) * samplesPerFrame)
  pcm.set(clip)
  const heard = await hearClip(encoder, pcm, bundle, never)
  expect(heard.dims).toEqual([1, golden.heard_frames, conditioningDim])
  expect(apart(heard.data as Float32Array, floatsOf(golden.heard))).toBeLessThan(1e-4)

  const bos = readNpy(bytesOf(golden.files['bos_before_voice.npy']!))
  const data = concatFloats([bos.data as Float32Array, heard.data as Float32Array])
  const length = golden.heard_frames + 1
  const states = await hear(graphs, bundle, { type: 'float32', dims: [1, length, conditioningDim], data })
  const voice = voiceOf(flowStates, states, length)
  expect(voice.length).toBe(preset.length)
  for (const { input, type } of flowStates) {
    const [ours, theirs] = [voice.states[input]!, preset.states[input]!]
    expect(ours.dims).toEqual(theirs.dims)
    if (type === 'float32') expect(apart(ours.data as Float32Array, theirs.data as Float32Array)).toBeLessThan(1e-4)
    else expect(ours.data).toEqual(theirs.data)
  }
})

test('a long clip processed in windows gives the result of one pass', async () => {
  const frames = 14 * bundle.framesPerS
  const data = Float32Array.from({ length: Math.ceil(frames) * bundle.samplesPerFrame }, (_, at) => {
    return 0.3 * Math.sin(at / 9) * Math.sin(at / 3000) + 0.1 * Math.sin((at * at) / 9e6)
  })
  const audio: Tensor = { type: 'float32', dims: [1, 1, data.length], data }
  const { latents } = await encoder.run({ audio })
  const heard = await hearClip(encoder, data, bundle, never)
  expect(heard.dims).toEqual(latents!.dims)
  expect(apart(heard.data as Float32Array, latents!.data as Float32Array)).toBeLessThan(1e-4)
})

test('processing a clip ends between two windows when its signal aborts', async () => {
  const abort = new AbortController()
  const hearing = hearClip(encoder, new Float32Array(400 * bundle.samplesPerFrame), bundle, abort.signal)
  abort.abort(new Error('deleted meanwhile'))
  await expect(hearing).rejects.toThrow('deleted meanwhile')
})
