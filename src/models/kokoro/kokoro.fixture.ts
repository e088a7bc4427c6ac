/**
 * A model of Kokoro's shape in a temporary folder: the small graph that `scripts/golden/kokoro-graph.py` made, and
 * tables of styles by the same formula as in that script.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCard } from '../../catalog/check.ts'
import type { Card } from '../../domain/card.ts'
import kokoroCard from '../../../models/kokoro-82m.json'
import type { LoadOptions } from '../architecture.ts'
import goldenFile from './golden/golden.json'
import smallGraph from './golden/small.onnx' with { type: 'file' }

export interface Golden {
  sounds: {
    symbols: string
    voice: string
    speed: number
    ids: number[]
    style: number[]
    samples: number
    audio: [number, number][]
  }[]
  chunks: { text: string; cuts: number[] }[]
}

export const golden = goldenFile as unknown as Golden

/** All rows differ. */
export function table(shift: number): Float32Array {
  return Float32Array.from({ length: 510 * 256 }, (_, at) => {
    const row = Math.floor(at / 256)
    return Math.sin(0.37 * row + 0.11 * (at % 256) + shift) * 0.5
  })
}

/** Its voices: two American, one British and one Spanish. */
const voices = { a: 'en-US', b: 'en-US', bf: 'en-GB', ef: 'es', jf: 'ja' }

export const card: Card = (() => {
  const real = readCard('kokoro-82m.json', kokoroCard)
  const made = Object.entries(voices).map(([id, language]) => ({ id, name: id, description: id, language, labels: {} }))
  return { ...real, files: [], voices: made, defaultVoice: 'a', voiceAliases: {} }
})()

export interface Folder {
  filesDir: string
  options: LoadOptions
  remove(): void
}

/** @param graph bytes of another graph @param tables of other voices */
export async function modelFolder(graph?: Uint8Array): Promise<Folder> {
  const filesDir = mkdtempSync(join(tmpdir(), 'myna-kokoro-'))
  mkdirSync(join(filesDir, 'voices'))
  writeFileSync(join(filesDir, 'model.onnx'), graph ?? (await Bun.file(smallGraph).bytes()))
  for (const [shift, id] of Object.keys(voices).entries()) {
    writeFileSync(join(filesDir, 'voices', `${id}.bin`), new Uint8Array(table(shift).buffer))
  }
  const options = { card, filesDir, pronunciations: null, workers: 1 }
  return { filesDir, options, remove: () => rmSync(filesDir, { recursive: true }) }
}
