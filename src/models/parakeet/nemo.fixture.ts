/** A small Parakeet that NVIDIA NeMo itself built and exported, and the clips that NeMo transcribed with it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasReadings, readingClips, soundClips } from './clips.fixture.ts'

export const nemoFolder = join(import.meta.dir, 'nemo')

const modelFiles = ['encoder-model.onnx', 'decoder_joint-model.onnx', 'vocab.txt', 'config.json']
/** As published, and quantised like the published ones. */
export const nemoKinds = ['fp32', 'int8'] as const
export const nemoFiles = nemoKinds.flatMap((kind) => modelFiles.map((file) => `${kind}/${file}`))

const readingCount = 10

/** The sounds that every machine can generate, and the first readings if available. */
export async function nemoClips(): Promise<Record<string, Int16Array<ArrayBuffer>>> {
  const readings = hasReadings ? Object.entries(await readingClips()).slice(0, readingCount) : []
  return { ...(await soundClips()), ...Object.fromEntries(readings) }
}

const unpacked = (file: string): Uint8Array =>
  Bun.gunzipSync(new Uint8Array(readFileSync(join(nemoFolder, `${file}.gz`))))

/** Writes `fp32` and `int8` into the folder. */
export function writeNemoModels(folder: string): void {
  for (const file of nemoFiles) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), unpacked(file))
  }
}

/** A word or segment, its first frame, and the frame after its last. */
type Stretch = [text: string, start: number, end: number]

export interface HeardClip {
  hash: string
  featureFrames: number
  encodedFrames: number
  /** Frame by frame, band by band. */
  features: Record<string, number[]>
  tokens: number[]
  frames: number[]
  durations: number[]
  text: string
  words: Stretch[]
  segments: Stretch[]
}

interface Heard {
  clips: Record<string, HeardClip>
  /** Tokens, and the text that NeMo makes of them. */
  texts: [tokens: number[], text: string][]
}

export const heardByNemo = (): Heard => JSON.parse(new TextDecoder().decode(unpacked('heard.json')))
