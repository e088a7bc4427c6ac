/** Computes what a waveform shows: how loud the sound is, twenty times a second, from 0 to 255. */
import { sampleRateHz } from './speech.ts'

export const peaksPerSecond = 20
const samplesPerPeak = sampleRateHz / peaksPerSecond
/** Decoding a longer file for its picture alone would take too much memory. */
const maxDecodedBytes = 30_000_000

/** Of PCM as it arrives (signed 16-bit little-endian, mono). */
export class PeakMeter {
  readonly peaks: number[] = []
  #rest: number | null = null
  #samples = 0
  #loudest = 0

  push(bytes: Uint8Array): void {
    let at = 0
    if (this.#rest !== null && bytes.length > 0) {
      this.#take(this.#rest | ((bytes[0] ?? 0) << 8))
      this.#rest = null
      at = 1
    }
    for (; at + 1 < bytes.length; at += 2) this.#take((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8))
    if (at < bytes.length) this.#rest = bytes[at] ?? 0
  }

  #take(unsigned: number): void {
    const sample = Math.abs(unsigned > 32_767 ? unsigned - 65_536 : unsigned)
    if (sample > this.#loudest) this.#loudest = sample
    this.#samples += 1
    if (this.#samples < samplesPerPeak) return
    this.peaks.push(Math.min(255, this.#loudest >> 7))
    this.#samples = 0
    this.#loudest = 0
  }
}

/** Of a file in any format that the browser decodes. @returns nothing for what it cannot, or for a very long one */
export async function peaksOf(file: Blob): Promise<number[]> {
  if (file.size > maxDecodedBytes) return []
  try {
    const context = new OfflineAudioContext(1, 1, sampleRateHz)
    const samples = (await context.decodeAudioData(await file.arrayBuffer())).getChannelData(0)
    const peaks: number[] = []
    for (let start = 0; start < samples.length; start += samplesPerPeak) {
      let loudest = 0
      for (let at = start; at < Math.min(samples.length, start + samplesPerPeak); at++)
        loudest = Math.max(loudest, Math.abs(samples[at] ?? 0))
      peaks.push(Math.min(255, Math.round(loudest * 256)))
    }
    return peaks
  } catch {
    return []
  }
}
