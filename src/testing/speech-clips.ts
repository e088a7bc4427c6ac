/**
 * Clips for tests of speech recognition: sounds by formula, and sentences of four synthetic voices that are kept as
 * files (`speech/`), because the numbers of other programs were taken from exactly these samples. All mono, 16 kHz, 16
 * bit. Flite 2.3 (Carnegie Mellon University, MIT-like) spoke them with its voices rms, slt, awb and kal16; slt-180 is
 * slt at 180 Hz.
 */
import { join } from 'node:path'
import { decodeFile } from '../audio/decode/clip.ts'
import { concatS16, toS16 } from '../audio/pcm.ts'
import { Seeded } from './seeded.ts'
import clips from './speech/clips.json'

export const clipRateHz = 16_000

function made(seconds: number, sample: (timeS: number) => number): Int16Array<ArrayBuffer> {
  const samples = Float32Array.from({ length: Math.round(seconds * clipRateHz) }, (_, i) => sample(i / clipRateHz))
  return new Int16Array(toS16(samples))
}

export const silence = (seconds: number) => made(seconds, () => 0)
export const tone = (seconds: number, hz: number) => made(seconds, (timeS) => 0.4 * Math.sin(2 * Math.PI * hz * timeS))

/** White noise. @param level 1: full scale; beyond it, clipped */
export function noise(seconds: number, level = 0.3): Int16Array<ArrayBuffer> {
  const random = new Seeded(42)
  return made(seconds, () => level * (2 * random.next() - 1))
}

/** A buzz whose pitch swings around `hz`, shaped a little like a vowel. Only a pitch meter takes it for a voice. */
export function buzz(seconds: number, hz: number, semitones = 0): Int16Array<ArrayBuffer> {
  let phase = 0
  return made(seconds, (timeS) => {
    phase += (hz * 2 ** ((semitones / 12) * Math.sin(2 * Math.PI * timeS))) / clipRateHz
    let sum = 0
    for (let k = 1; k <= 12; k++) sum += Math.sin(2 * Math.PI * k * phase) / k
    return 0.2 * sum
  })
}

/** @throws Error when the clip does not exist, or its samples are not the original ones */
export async function speech(text: string, voice = 'rms'): Promise<Int16Array<ArrayBuffer>> {
  const clip = clips.find((known) => known.text === text && known.voice === voice)
  if (clip === undefined) throw new Error(`no clip of ${voice} saying "${text}": see src/testing/speech/clips.json`)
  const bytes = await Bun.file(join(import.meta.dir, 'speech', `${clip.name}.flac`)).bytes()
  const { pcm } = await decodeFile(bytes, 60)
  // This FLAC decoder counts in 32,767ths.
  const samples = Int16Array.from(pcm, (sample) => Math.round(32_767 * sample))
  const sha256 = new Bun.CryptoHasher('sha256').update(samples).digest('hex')
  if (sha256 !== clip.sha256) throw new Error(`${clip.name}.flac has other samples than were kept`)
  return samples
}

/** All of them, one after another, with short and long pauses: some 50 s. */
export async function talk(): Promise<Int16Array<ArrayBuffer>> {
  const pauses = [0.2, 0.5, 0.9, 2.5]
  const said = clips.map(async ({ text, voice }, at) => [await speech(text, voice), silence(pauses[at % 4]!)])
  return concatS16((await Promise.all(said)).flat())
}

export const words = 'The birds that imitate voices learn them from anyone who speaks nearby.'

/** The clips behind the numbers in `models/silero/golden.json`. */
export async function goldenClips(): Promise<Record<string, Int16Array<ArrayBuffer>>> {
  const one = await speech('Good morning to you all.')
  const other = await speech('It rained for days.', 'slt')
  return {
    sounds: concatS16([silence(0.3), tone(0.6, 220), noise(0.6), buzz(0.8, 130, 3), silence(0.2)]),
    speech: concatS16([silence(0.4), one, silence(1), other, noise(0.3, 0.01)]),
  }
}

export const hashOf = (pcm: Int16Array<ArrayBuffer>): string => Bun.hash(pcm.buffer).toString(16)
