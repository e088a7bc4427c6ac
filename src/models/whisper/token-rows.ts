/**
 * What the decoder knows of each token: a row of its embedding, read from the model's file when it is needed. In memory
 * the table takes 106 MB for Whisper base of 32 bits, and it would be there twice.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { elementTypes } from '../../onnx/rewrite/graph.ts'
import type { RowTable } from '../../onnx/rewrite/tokens.ts'
import type { Tensor } from '../../onnx/session.ts'

export class TokenRows {
  readonly #table: Omit<RowTable, 'raw'>
  readonly #file: number
  /** Where the table begins in the file. */
  readonly #offset: number
  /** One row as it is stored. */
  readonly #row: Uint8Array<ArrayBuffer>
  #isClosed = false

  /** @param offset where the table begins in the file @throws Error when it cannot be opened */
  constructor(path: string, offset: number, table: Omit<RowTable, 'raw'>) {
    const { width, type, rows, scale, zero } = table
    this.#table = { width, type, rows, scale, zero }
    this.#offset = offset
    this.#row = new Uint8Array(type === elementTypes.float32 ? 4 * width : width)
    this.#file = openSync(path, 'r')
  }

  /** @param ids by row, as many in each @returns [rows, tokens, width] @throws Error when the file cannot be read */
  of(ids: readonly (readonly number[])[]): Tensor {
    const { width } = this.#table
    const tokens = ids[0]?.length ?? 0
    const data = new Float32Array(ids.length * tokens * width)
    for (const [at, id] of ids.flat().entries()) this.#read(id, data.subarray(at * width, (at + 1) * width))
    return { type: 'float32', dims: [ids.length, tokens, width], data }
  }

  #read(id: number, into: Float32Array): void {
    const { type, rows, scale, zero } = this.#table
    const row = this.#row
    if (this.#isClosed || id < 0 || id >= rows) throw new RangeError(`row ${id} does not exist`)
    const read = readSync(this.#file, row, 0, row.length, this.#offset + id * row.length)
    if (read < row.length) throw new Error('the file of the decoder has become shorter')
    if (type === elementTypes.float32) into.set(new Float32Array(row.buffer))
    else {
      const numbers = type === elementTypes.int8 ? new Int8Array(row.buffer) : row
      for (let at = 0; at < numbers.length; at++) into[at] = (numbers[at]! - zero) * scale
    }
  }

  /** Harmless when repeated. */
  close(): void {
    if (!this.#isClosed) closeSync(this.#file)
    this.#isClosed = true
  }
}
