/** The clips for parity with onnx-asr: sounds that every machine can generate, and readings if available. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { decodeFile } from '../../audio/decode/clip.ts'
import { concatS16, toS16 } from '../../audio/pcm.ts'
import { buzz, clipRateHz, goldenClips, noise, silence, tone } from '../../testing/speech-clips.ts'

export const parityFile = join(import.meta.dir, 'golden.json')

const readings = join(import.meta.dir, '../../../../shared/data/clips')
export const hasReadings = existsSync(readings)
const readingCount = 20
const readingSeconds = 30

/** Mono, 16 kHz, by name. */
export async function soundClips(): Promise<Record<string, Int16Array<ArrayBuffer>>> {
  return {
    ...(await goldenClips()),
    noise: noise(3),
    chirps: concatS16([tone(0.5, 300), silence(0.25), buzz(1, 110, 7), tone(0.4, 3000), noise(0.35, 0.05)]),
    short: noise(0.25),
  }
}

/** Readings from LibriSpeech, 20 readers. */
export async function readingClips(): Promise<Record<string, Int16Array<ArrayBuffer>>> {
  const names = readdirSync(readings)
    .filter((name) => name.endsWith('.flac'))
    .sort()
    .slice(0, readingCount)
  const clips: Record<string, Int16Array<ArrayBuffer>> = {}
  for (const name of names) {
    const { pcm, sampleRateHz } = await decodeFile(await Bun.file(join(readings, name)).bytes(), readingSeconds)
    if (sampleRateHz !== clipRateHz) throw new Error(`${name} has ${sampleRateHz} samples a second`)
    clips[name.replace('.flac', '')] = new Int16Array(toS16(pcm))
  }
  return clips
}

export const parityClips = async () => ({ ...(await soundClips()), ...(await readingClips()) })
