/**
 * Prepares a decoded clip for cloning. Long clips take a second of arithmetic, so it is done in pieces with other work
 * in between. Implements the service's port `Sound`.
 */
import { concatBytes, concatFloats, levelDb, s16AsBytes, toS16 } from './pcm.ts'
import { resamplerNear } from './resample.ts'
import { wavHeader } from './wav.ts'

export const referenceRateHz = 24000

/** RMS that a reference is brought to: about that of read speech, with room for its peaks. */
const targetLevelDb = -23
const maxGainDb = 30
const maxPeak = 0.95
const blockSeconds = 0.02
/** Quieter than the loudest block by more than this is silence at the ends. */
const silenceBelowDb = 45
/** Stays at both ends: onsets and breath are below the threshold. */
const keptSeconds = 0.2
const pieceSeconds = 0.5

/**
 * 16-bit samples at another rate.
 * @param fromHz may be any whole number: one without a filter counts as the nearest that has one, up to 0.1 % off
 * @throws RangeError if a rate is not an audio rate
 */
export const resampled = async (pcm: Float32Array, fromHz: number, toHz: number): Promise<Int16Array> =>
  toS16(await atRate(pcm, fromHz, toHz))

/** The input of cloning: 24 kHz, silence at both ends trimmed, level evened. @throws RangeError as above */
export async function reference(pcm: Float32Array, fromHz: number): Promise<Int16Array> {
  return toS16(evened(trimmed(await atRate(pcm, fromHz, referenceRateHz), referenceRateHz)))
}

/** A whole file, mono. */
export const wav = (pcm: Int16Array, sampleRateHz: number): Uint8Array<ArrayBuffer> =>
  concatBytes([wavHeader(sampleRateHz, pcm.byteLength), s16AsBytes(pcm)])

/** The implementation of the port. */
export const sound = { levelDb, resampled, reference, wav }

/**
 * Removes the silence before the first and after the last block that is not much quieter than the loudest one, except
 * for a fifth of a second. Returns a view.
 */
export function trimmed(pcm: Float32Array, sampleRateHz: number): Float32Array {
  const size = Math.round(blockSeconds * sampleRateHz)
  const levels: number[] = []
  for (let at = 0; at < pcm.length; at += size) levels.push(levelDb(pcm.subarray(at, at + size)))
  const loudest = levels.reduce((most, level) => Math.max(most, level), -Infinity)
  const isSound = (level: number) => level > loudest - silenceBelowDb
  const first = levels.findIndex(isSound)
  if (first < 0) return pcm
  const kept = Math.round(keptSeconds * sampleRateHz)
  const end = (levels.findLastIndex(isSound) + 1) * size + kept
  return pcm.subarray(Math.max(0, first * size - kept), end)
}

/** Brings every clip to one level, whatever the microphone's, and never clips. Silence stays silence. */
export function evened(pcm: Float32Array): Float32Array {
  const level = levelDb(pcm)
  const peak = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  if (peak === 0) return pcm
  const gain = Math.min(10 ** (Math.min(targetLevelDb - level, maxGainDb) / 20), maxPeak / peak)
  return pcm.map((sample) => sample * gain)
}

async function atRate(pcm: Float32Array, fromHz: number, toHz: number): Promise<Float32Array> {
  if (fromHz === toHz) return pcm
  const resampler = resamplerNear(fromHz, toHz)
  const parts: Float32Array[] = []
  const piece = Math.round(pieceSeconds * fromHz)
  for (let at = 0; at < pcm.length; at += piece) {
    parts.push(resampler.push(pcm.subarray(at, at + piece)))
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  parts.push(resampler.flush())
  return concatFloats(parts)
}
