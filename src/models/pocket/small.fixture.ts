/**
 * A Pocket TTS small enough to be committed, with random weights: it speaks noise, but by the same rules.
 * scripts/golden/pocket.py writes it, together with the output of Kyutai's own package for the same weights and the
 * same noise.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Card } from '../../domain/card.ts'
import type { Noise } from './noise.ts'

export interface GoldenChunk {
  text: string
  ids: number[]
  eos: number | null
  frames: number
  /** float32 in base64: every 101st sample. */
  audio: string
}

export interface GoldenCase {
  text: string
  guard: number
  after: number
  steps: number
  temperature: number
  chunks: GoldenChunk[]
}

export interface Golden {
  clip_samples: number
  heard: string
  heard_frames: number
  /** A voice file. */
  voice: string
  files: Record<string, string>
  cases: GoldenCase[]
}

export const golden: Golden = JSON.parse(
  gunzipSync(await Bun.file(join(import.meta.dir, 'parity.golden.json.gz')).bytes()).toString(),
)

export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(base64, 'base64'))
export const floatsOf = (base64: string): Float32Array => new Float32Array(bytesOf(base64).buffer)

/** Writes the files of the model, with a voice named `alba`. */
export async function writeSmall(folder: string): Promise<string> {
  mkdirSync(join(folder, 'voices'), { recursive: true })
  for (const [name, content] of Object.entries(golden.files)) await Bun.write(join(folder, name), bytesOf(content))
  await Bun.write(join(folder, 'voices', 'alba.safetensors'), bytesOf(golden.voice))
  return folder
}

/** The numbers that the script uses instead of random ones. */
export function goldenNoise(): Noise {
  let at = 0
  return (count) => Float32Array.from({ length: count }, () => 1.7 * Math.sin(12.9898 * at++))
}

/** The clip that the script uses: 24 kHz. */
export const goldenClip = (): Float32Array =>
  Float32Array.from(
    { length: golden.clip_samples },
    (_, i) => 0.3 * Math.sin(i / 9) * Math.sin(i / 3000) + 0.1 * Math.sin((i * i) / 90_000),
  )

export const smallCard: Card = {
  id: 'pocket-small',
  family: 'pocket',
  name: 'Small',
  description: 'Random weights.',
  task: 'text-to-speech',
  architecture: 'pocket',
  preference: 0,
  builtIn: false,
  license: { name: 'CC0-1.0', attribution: '', limits: null },
  files: [],
  sources: [],
  options: {},
  languages: ['en'],
  scripts: ['Latin'],
  sampleRateHz: 24_000,
  memoryBytes: 1,
  createdAt: 0,
  cloning: 'full',
  mixing: false,
  voices: [{ id: 'alba', name: 'Alba', description: '', language: 'en', labels: {} }],
  defaultVoice: 'alba',
  voiceAliases: {},
}
