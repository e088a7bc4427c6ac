/** Turns a file's own stretches and rate into 16-bit blocks of a second at one rate. */
import type { MonoReader } from './mono.ts'
import { undecodable } from './refusal.ts'
import { concatFloats, toS16 } from '../pcm.ts'
import { type Resampler, resamplerNear, rough } from '../resample.ts'

/** Each in a buffer of its own; only the last is shorter than a second. @throws Refusal */
export async function* blocksOf(reader: MonoReader, sampleRateHz: number): AsyncGenerator<Int16Array<ArrayBuffer>> {
  let resampler: Resampler | null = null
  let waiting = new Float32Array()
  const ready = function* (samples: Float32Array): Generator<Int16Array<ArrayBuffer>> {
    waiting = concatFloats([waiting, samples])
    for (; waiting.length >= sampleRateHz; waiting = waiting.slice(sampleRateHz)) yield block(waiting, sampleRateHz)
  }
  for await (const stretch of reader.read()) {
    resampler ??= resamplerFor(reader.sampleRateHz, sampleRateHz)
    yield* ready(resampler.push(stretch))
  }
  if (resampler !== null) yield* ready(resampler.flush())
  if (waiting.length > 0) yield block(waiting, waiting.length)
}

const block = (samples: Float32Array, length: number): Int16Array<ArrayBuffer> =>
  new Int16Array(toS16(samples.subarray(0, length)))

function resamplerFor(fromHz: number, toHz: number): Resampler {
  try {
    return resamplerNear(fromHz, toHz, rough)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw undecodable(`A sample rate of ${fromHz} Hz is not supported.`)
  }
}
