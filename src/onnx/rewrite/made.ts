/**
 * The constants that rewriting makes. They are declared while graphs are rewritten and computed afterwards, one after
 * another: of what goes to a file, only one is in memory at a time. All graphs of a file share what is made.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { discard } from '../discard.ts'
import { type Constant, constant, externalConstant, type Model, type Place } from './graph.ts'

/** A constant before its elements are computed. */
export type Declared = Pick<Constant, 'name' | 'type' | 'dims'>

/** Where constants are written that are not kept in memory. */
export interface ConstantFile {
  /** @throws Error when it cannot be written */
  append(values: Uint8Array): Promise<Place>
}

/** ONNX Runtime reads the values of small constants while it optimises a graph: those stay in it. */
const inFileBytesMin = 1024

interface Work {
  declared: readonly Declared[]
  compute: () => readonly ArrayBufferView[]
  /** Nothing else uses what is computed. */
  isOwn: boolean
}

export class Made {
  readonly #file: ConstantFile | null
  readonly #declared = new Map<string, Constant>()
  readonly #finished = new Map<string, Constant>()
  #work: Work[] = []

  /** @param file null: all of it is kept in memory */
  constructor(file: ConstantFile | null) {
    this.#file = file
  }

  /** By name, without elements. */
  get declared(): ReadonlyMap<string, Constant> {
    return this.#declared
  }

  /** @param compute gives the elements of each of them, in this order; nothing else may use these */
  declare(declared: readonly Declared[], compute: Work['compute']): void {
    for (const one of declared) this.#declared.set(one.name, { ...one, raw: null, isElsewhere: false, pieces: [] })
    this.#work.push({ declared, compute, isOwn: true })
  }

  /** Large constants that were not made go to the file, too. */
  include(constants: Iterable<Constant>): void {
    if (this.#file === null) return
    for (const one of constants) {
      const { raw } = one
      if (raw === null || raw.length < inFileBytesMin || this.#declared.has(one.name)) continue
      this.#declared.set(one.name, one)
      this.#work.push({ declared: [one], compute: () => [raw], isOwn: false })
    }
  }

  /** @throws Error when the file cannot be written */
  async compute(): Promise<void> {
    for (const { declared, compute, isOwn } of this.#work) {
      await nextTurn()
      for (const [at, values] of compute().entries()) await this.#finish(declared[at]!, values, isOwn)
    }
    this.#work = []
  }

  /** The model with what was computed. */
  finished({ graph, rest }: Model): Model {
    const constants = [...graph.constants].map(([name, one]) => [name, this.#finished.get(name) ?? one] as const)
    return { graph: { ...graph, constants: new Map(constants) }, rest }
  }

  /** Gives back the memory of what was computed and written elsewhere since. */
  discard(): void {
    for (const { raw } of this.#finished.values()) if (raw !== null) discard(raw)
    this.#finished.clear()
  }

  async #finish({ name, type, dims }: Declared, values: ArrayBufferView, isOwn: boolean): Promise<void> {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    if (this.#file === null || bytes.length < inFileBytesMin) {
      this.#finished.set(name, constant(name, type, dims, bytes))
      return
    }
    this.#finished.set(name, externalConstant(name, type, dims, await this.#file.append(bytes)))
    if (isOwn) discard(bytes)
  }
}
