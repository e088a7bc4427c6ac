/**
 * A voice of Kokoro: a table of styles, one row of 256 numbers per length of text (128 for the timbre, 128 for melody
 * and pace). Several voices are mixed as the weighted mean of their rows.
 */
import { join } from 'node:path'
import type { Mixture } from '../../domain/mixture.ts'

export const styleSize = 256

/** Tables in memory at once, half a megabyte each; the one that was used longest ago goes. */
const mostTables = 24

export class Styles {
  readonly #folder: string
  readonly #voices: ReadonlySet<string>
  readonly #tables = new Map<string, Float32Array>()

  /** @param folder with a file for each voice @param voices their ids: no other file is opened */
  constructor(folder: string, voices: ReadonlySet<string>) {
    this.#folder = folder
    this.#voices = voices
  }

  /**
   * The style for a text of `length` symbols. The reference takes the row before that number; the ports of Kokoro take
   * the row after it, one further on.
   * @throws Error for an unknown voice or an invalid file
   */
  async style(mixture: Mixture, length: number): Promise<Float32Array> {
    const total = mixture.reduce((sum, { weight }) => sum + weight, 0)
    const mean = new Float32Array(styleSize)
    for (const { voice, weight } of mixture) {
      const table = await this.#table(voice)
      const row = Math.min(Math.max(length - 1, 0), table.length / styleSize - 1) * styleSize
      for (let at = 0; at < styleSize; at++) mean[at]! += (table[row + at]! * weight) / total
    }
    return mean
  }

  async #table(voice: string): Promise<Float32Array> {
    const known = this.#tables.get(voice)
    if (known !== undefined) {
      this.#tables.delete(voice)
      this.#tables.set(voice, known)
      return known
    }
    if (!this.#voices.has(voice)) throw new Error(`kokoro has no voice ${JSON.stringify(voice)}`)
    const path = join(this.#folder, `${voice}.bin`)
    const bytes = await Bun.file(path).bytes()
    if (bytes.length === 0 || bytes.length % (styleSize * 4) !== 0) {
      throw new Error(`${path} is not a table of styles: ${bytes.length} bytes are not rows of ${styleSize} floats`)
    }
    const table = new Float32Array(bytes.slice().buffer)
    this.#tables.set(voice, table)
    const [oldest] = this.#tables.keys()
    if (this.#tables.size > mostTables && oldest !== undefined) this.#tables.delete(oldest)
    return table
  }
}
