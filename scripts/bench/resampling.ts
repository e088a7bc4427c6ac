/** What it costs to change the rate of a second of sound, between the rates that clients and models use. */
import { Resampler, rough } from '../../src/audio/resample.ts'
import { medianOf, printTable } from './figures.ts'

const pairs = [
  [22_050, 24_000],
  [24_000, 22_050],
  [16_000, 24_000],
  [24_000, 16_000],
  [24_000, 48_000],
  [48_000, 24_000],
  [24_000, 44_100],
  [44_100, 24_000],
  [16_000, 44_100],
  [44_100, 16_000],
  [16_000, 48_000],
  [48_000, 16_000],
] as const
const blockSamples = 4096
const soundS = 8

/** Processor time of this process, in ms for a second of sound. */
function costOf(sound: Float32Array, resampler: Resampler): number {
  const before = process.cpuUsage()
  for (let at = 0; at < sound.length; at += blockSamples) resampler.push(sound.subarray(at, at + blockSamples))
  resampler.flush()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / soundS
}

export async function measureResampling(runs: number): Promise<object> {
  const records = pairs.map(([fromHz, toHz]) => {
    const sound = Float32Array.from({ length: soundS * fromHz }, (_, at) => 0.3 * Math.sin(at / 10))
    const median = (make: () => Resampler) => medianOf(Array.from({ length: runs }, () => costOf(sound, make())))
    const speechMs = toHz === 16_000 && fromHz > toHz ? median(() => new Resampler(fromHz, toHz, rough)) : null
    return { fromHz, toHz, ms: median(() => new Resampler(fromHz, toHz)), speechMs }
  })
  const rows = records.map(({ fromHz, toHz, ms, speechMs }) => [fromHz, toHz, ms, speechMs ?? '-'])
  printTable('Changing the rate, ms of processor time a second', [['from Hz', 'to Hz', 'ms', 'to transcribe'], ...rows])
  return records
}
