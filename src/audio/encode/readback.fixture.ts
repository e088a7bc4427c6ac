/** Decodes the encoders' output for tests, and generates their input. */
import type { AudioFormat } from '../../domain/speech.ts'
import { decodeFile } from '../decode/clip.ts'
import { fromS16, s16FromBytes } from '../pcm.ts'
import { readWav } from '../wav.ts'

export interface Decoded {
  sampleRateHz: number
  /** Includes the encoder's delay and padding if the format does not say how to trim them. */
  samples: Float32Array
}

/** @throws Error when they contain an error */
export async function readBack(format: AudioFormat, bytes: Uint8Array): Promise<Decoded> {
  switch (format) {
    case 'pcm':
      return { sampleRateHz: 24000, samples: fromS16(s16FromBytes(bytes)) }
    case 'wav': {
      const wav = readWav(bytes)
      return { sampleRateHz: wav.sampleRateHz, samples: fromS16(wav.pcm) }
    }
    default: {
      const { pcm, sampleRateHz } = await decodeFile(new Uint8Array(bytes), maxSeconds)
      return { sampleRateHz, samples: pcm }
    }
  }
}

const maxSeconds = 600

/**
 * A voice-like test signal: a gliding buzz with opening and closing formants, some breath, never silent. 16-bit mono.
 */
export function buzz(seconds: number, sampleRateHz: number, seed = 1): Int16Array<ArrayBuffer> {
  const pcm = new Int16Array(Math.round(seconds * sampleRateHz))
  let noise = seed
  let phase = seed
  for (let i = 0; i < pcm.length; i++) {
    const time = i / sampleRateHz
    phase += (2 * Math.PI * (140 + 50 * Math.sin(2.1 * time + seed))) / sampleRateHz
    // The minimal standard generator of Park and Miller, 1988.
    noise = (noise * 48271) % 2147483647
    const voice = Math.sin(phase) + 0.6 * Math.sin(3 * phase) + 0.4 * Math.sin(7 * phase) * Math.sin(9 * time)
    const breath = 0.1 * (noise / 2147483647 - 0.5)
    pcm[i] = Math.round(9000 * (0.55 + 0.45 * Math.sin(14 * time)) * (voice + breath))
  }
  return pcm
}

export interface Likeness {
  /** How many samples later the copy is. */
  delay: number
  /** Correlation over the overlap; 1 is equal except for the level. */
  correlation: number
  /** The copy's level divided by the original's. */
  gainDb: number
}

/**
 * Finds the delay, up to `maxDelay` samples, at which the copy is most similar to the original. Both have the same
 * rate.
 */
export function compare(original: Float32Array, copy: Float32Array, maxDelay: number): Likeness {
  let best: Likeness = { delay: 0, correlation: -1, gainDb: 0 }
  for (let delay = 0; delay <= maxDelay; delay++) {
    const length = Math.min(original.length, copy.length - delay)
    if (length < original.length / 2) break
    let cross = 0
    let energy = 0
    let copyEnergy = 0
    for (let i = 0; i < length; i++) {
      cross += original[i]! * copy[delay + i]!
      energy += original[i]! ** 2
      copyEnergy += copy[delay + i]! ** 2
    }
    const correlation = cross / Math.sqrt(energy * copyEnergy)
    if (correlation > best.correlation) best = { delay, correlation, gainDb: 10 * Math.log10(copyEnergy / energy) }
  }
  return best
}
