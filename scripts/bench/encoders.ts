/** What it costs to encode a second of speech, in each format. */
import { EncoderPool } from '../../src/audio/encode/pool.ts'
import { concatBytes, toS16 } from '../../src/audio/pcm.ts'
import { Resampler } from '../../src/audio/resample.ts'
import type { AudioFormat } from '../../src/domain/speech.ts'
import { clipRateHz } from '../../src/testing/speech-clips.ts'
import { medianOf, printTable } from './figures.ts'
import { talk } from './talk.ts'

const formats = ['mp3', 'opus', 'aac', 'flac', 'wav'] as const
export const rateHz = 24_000
/** As an engine sends it while other streams wait. */
const blockSamples = 4800

/** @returns the stream, and what it took: processor time of this process, in ms for a second of sound */
export async function encoded(
  pool: EncoderPool,
  format: AudioFormat,
  pcm: Int16Array,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; ms: number }> {
  const encoder = await pool.open(format, rateHz)
  const before = process.cpuUsage()
  const pieces: Uint8Array[] = []
  for (let at = 0; at < pcm.length; at += blockSamples) {
    pieces.push(await encoder.encode(pcm.slice(at, at + blockSamples)))
  }
  pieces.push(await encoder.finish())
  const { user, system } = process.cpuUsage(before)
  return { bytes: concatBytes(pieces), ms: (user + system) / 1000 / (pcm.length / rateHz) }
}

export async function measureEncoders(runs: number): Promise<object> {
  const resampler = new Resampler(clipRateHz, rateHz)
  const pcm = new Int16Array(toS16(resampler.push(await talk())))
  const pool = new EncoderPool({ workers: 1 })
  const records: { format: string; ms: number }[] = []
  for (const format of formats) {
    // The first is the one that compiles the codec.
    await encoded(pool, format, pcm)
    const costs: number[] = []
    for (let run = 0; run < runs; run++) costs.push((await encoded(pool, format, pcm)).ms)
    records.push({ format, ms: medianOf(costs) })
  }
  pool.close()
  const rows = records.map(({ format, ms }) => [format, ms])
  printTable('Encoding 24 kHz speech, ms of processor time a second', [['format', 'ms'], ...rows])
  return records
}
