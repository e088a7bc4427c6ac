/**
 * Whether a recogniser on a processor takes less time for windows of several requests together than for one after
 * another: real readers, the same windows at every size of batch, each size in turn, medians over the rounds. A part of
 * a model is measured alone: the encoder, and the decoder with all its steps, in which a window that is finished waits
 * for the longest of its batch.
 */
import { availableParallelism, loadavg } from 'node:os'
import { cards } from '../../src/catalog/cards.ts'
import { embeddedFile } from '../../src/embedded/models.ts'
import { decodeFile } from '../../src/audio/decode/clip.ts'
import { Random } from '../../src/domain/random.ts'
import { encoderFile as moonshineEncoder } from '../../src/models/moonshine/graphs.ts'
import { WindowDecoder } from '../../src/models/whisper/decode.ts'
import { windowFrames, windowOf } from '../../src/models/whisper/features.ts'
import { openWhisper } from '../../src/models/whisper/pipeline.ts'
import { openSessions } from '../../src/models/whisper/sessions.ts'
import { rulesFor } from '../../src/models/whisper/transcribe.ts'
import { promptOf } from '../../src/models/whisper/tokens.ts'
import { createSession } from '../../src/onnx/back-end.ts'
import type { Session, Tensor } from '../../src/onnx/session.ts'
import { realWeights } from '../../src/testing/real-weights.ts'
import { medianOf, printTable } from '../bench/figures.ts'
import { clipsOf } from './clips.ts'

const sizes = [1, 2, 4] as const
const never = new AbortController().signal
const whispers = { 'whisper-base': 'int8', 'whisper-base-fp32': 'fp32', 'whisper-tiny.en': 'int8' } as const

/** @param count of clips, a multiple of the largest batch */
export async function measureBatches(shared: string, count: number, rounds: number): Promise<void> {
  const clips = await clipsOf(shared, count)
  if (clips.length === 0) return console.log(`\nbatches: left out, no clips and words in ${shared}`)
  const sounds: Float32Array[] = []
  for (const { path } of clips) sounds.push((await decodeFile(await Bun.file(path).bytes(), 120)).pcm)
  const rows: (string | number)[][] = []
  for (const id of Object.keys(whispers) as (keyof typeof whispers)[])
    rows.push(...(await ofWhisper(id, sounds, rounds)))
  rows.push(await ofMoonshine(sounds, rounds))
  const load = loadavg().map((value) => value.toFixed(1))
  printTable(`processor time of a window in ms, ${sounds.length} windows, ${rounds} rounds, load ${load.join(' ')}`, [
    ['model', 'part', ...sizes.map((size) => `batches of ${size}`), 'windows with another text'],
    ...rows,
  ])
}

async function ofWhisper(id: keyof typeof whispers, sounds: readonly Float32Array[], rounds: number) {
  const folder = realWeights(id)
  if (folder === null) return []
  const threads = availableParallelism()
  const { graphs, tokens, config, meter } = await openWhisper(folder, threads, whispers[id])
  const { encoder, first, next } = await openSessions(folder, config, threads, whispers[id])
  try {
    const features = sounds.map((pcm) => {
      const mel = meter.measure(pcm)
      return windowOf(mel, 0, Math.min(windowFrames, mel.frames))
    })
    const encode = async (some: readonly Float32Array[]) => {
      const data = new Float32Array(some.length * features[0]!.length)
      for (const [at, values] of some.entries()) data.set(values, at * values.length)
      const dims = [some.length, config.bands, windowFrames]
      const { last_hidden_state: encoded } = await encoder.run(
        { input_features: { type: 'float32', dims, data } },
        never,
      )
      return encoded!
    }
    const encoded: Tensor[] = []
    for (const each of features) encoded.push(await encode([each]))
    const decoder = new WindowDecoder(graphs, tokens, config.maxTokens)
    const prompt = promptOf(tokens, config.isMultilingual ? 'en' : null, 'transcribe')
    const order = { prompt, rules: rulesFor(0), random: new Random(0) }
    const texts = new Map<number, string[]>(sizes.map((size) => [size, []]))
    const decode = async (some: readonly Tensor[], size: number) => {
      const written = await decoder.decode({ ...order, encoded: some }, never)
      texts.get(size)!.push(...written.map((each) => each.tokens.join()))
    }
    const encoding = await inTurn(features, rounds, encode)
    const decoding = await inTurn(encoded, rounds, decode)
    const other = (size: number) => texts.get(size)!.filter((text, at) => text !== texts.get(1)![at]).length / rounds
    return [
      [id, 'encoder', ...encoding, '-'],
      [id, 'decoder', ...decoding, sizes.map((size) => other(size).toFixed(0)).join(', ')],
    ]
  } finally {
    await graphs.release()
    for (const session of new Set<Session>([encoder, first, next])) await session.release()
  }
}

/** Its encoder alone, with windows of one length: others would have to be filled up with silence. */
async function ofMoonshine(sounds: readonly Float32Array[], rounds: number) {
  const card = cards.find(({ id }) => id === 'moonshine-tiny-en')!
  const encoder = await createSession(await embeddedFile(card, moonshineEncoder), {
    threads: availableParallelism(),
    onCpu: true,
  })
  const length = Math.min(...sounds.map((pcm) => pcm.length))
  const encode = (some: readonly Float32Array[]) => {
    const data = new Float32Array(some.length * length)
    for (const [at, pcm] of some.entries()) data.set(pcm.subarray(0, length), at * length)
    const dims = [some.length, length]
    const mask = new BigInt64Array(data.length).fill(1n)
    return encoder.run(
      { input_values: { type: 'float32', dims, data }, attention_mask: { type: 'int64', dims, data: mask } },
      never,
    )
  }
  try {
    return [card.id, `encoder, ${(length / 16_000).toFixed(1)} s`, ...(await inTurn(sounds, rounds, encode)), '-']
  } finally {
    await encoder.release()
  }
}

/** @returns milliseconds of processor time for one, by size of batch */
async function inTurn<T>(
  all: readonly T[],
  rounds: number,
  work: (some: readonly T[], size: number) => Promise<unknown>,
): Promise<number[]> {
  const spent = sizes.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, size] of sizes.entries()) {
      const before = process.cpuUsage()
      for (let from = 0; from < all.length; from += size) await work(all.slice(from, from + size), size)
      const { user, system } = process.cpuUsage(before)
      spent[at]!.push((user + system) / 1000 / all.length)
    }
  }
  return spent.map((values) => medianOf(values))
}
