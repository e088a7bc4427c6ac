/**
 * Decides which graph speaks a voice, and the English that it was taught. The built-in graph speaks all voices that
 * are shaped out of it; a voice of `models/hibari-voices.json` has a graph of its own, which is loaded when it is
 * first needed.
 */
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import { embeddedFile } from '../../embedded/models.ts'
import type { Accent } from '../../phonemes/reductions.ts'
import { type HibariGraph, loadGraph } from './graph.ts'

interface OwnGraph {
  file: string
  accent: Accent
}

const builtIn: OwnGraph = { file: 'hibari.onnx', accent: 'american' }

/** By the id of the voice; the others are spoken by the built-in graph. */
export const ownGraphs: ReadonlyMap<string, OwnGraph> = new Map([
  ['kestrel', { file: 'am_fenrir_v2.int8.onnx', accent: 'american' }],
  ['linnet', { file: 'af_kore.int8.onnx', accent: 'american' }],
  ['dunnock', { file: 'bf_emma.int8.onnx', accent: 'british' }],
  ['rook', { file: 'bm_fable.int8.onnx', accent: 'british' }],
])

export const accentOf = (voiceId: string): Accent => (ownGraphs.get(voiceId) ?? builtIn).accent

export class Graphs {
  readonly #card: Card
  readonly #filesDir: string | null
  readonly #threads: number
  readonly #loaded = new Map<string, Promise<HibariGraph>>()

  /** @param filesDir null: the built-in graph alone */
  constructor(card: Card, filesDir: string | null, threads: number) {
    this.#card = card
    this.#filesDir = filesDir
    this.#threads = threads
  }

  /** @throws Error when the file is missing or another graph; the next call tries again */
  async of(voiceId: string): Promise<HibariGraph> {
    const { file } = ownGraphs.get(voiceId) ?? builtIn
    const known = this.#loaded.get(file)
    if (known !== undefined) return known
    const loading = this.#load(file)
    this.#loaded.set(file, loading)
    try {
      return await loading
    } catch (error) {
      this.#loaded.delete(file)
      throw error
    }
  }

  async release(): Promise<void> {
    const all = await Promise.allSettled(this.#loaded.values())
    await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.release() : null)))
  }

  async #load(file: string): Promise<HibariGraph> {
    const dir = this.#filesDir
    const bytes = dir === null ? embeddedFile(this.#card, file) : Bun.file(join(dir, file)).bytes()
    return loadGraph(await bytes, this.#threads)
  }
}
