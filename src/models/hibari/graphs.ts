/**
 * The graphs of one card, each loaded when a voice first needs it: the built-in one, or those of
 * `models/hibari-voices.json`.
 */
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import { embeddedGraph } from '../../embedded/models.ts'
import { backEnd } from '../../onnx/back-end.ts'
import { withDurations } from './graph-file.ts'
import { type HibariGraph, loadGraph } from './graph.ts'

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
  async of(file: string): Promise<HibariGraph> {
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
    // Opened while the file is read and unpacked.
    void backEnd().catch(() => {})
    if (dir === null) return loadGraph(await embeddedGraph(this.#card, file, withDurations), this.#threads)
    const model = withDurations(await Bun.file(join(dir, file)).bytes())
    return loadGraph({ model, isOptimised: false }, this.#threads)
  }
}
