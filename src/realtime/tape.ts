/** The audio of a session that may still be needed, by its position since the session began. */
import { concatS16 } from '../audio/pcm.ts'

export class Tape {
  readonly #blocks: Int16Array[] = []
  #begin = 0
  #end = 0

  /** Samples that have arrived since the session began. */
  get end(): number {
    return this.#end
  }

  /** The first sample that is still here. */
  get begin(): number {
    return this.#begin
  }

  append(pcm: Int16Array): void {
    if (pcm.length === 0) return
    this.#blocks.push(pcm)
    this.#end += pcm.length
  }

  /** A copy of what is here of it. */
  between(from: number, to: number): Int16Array {
    const parts: Int16Array[] = []
    let at = this.#begin
    for (const block of this.#blocks) {
      const part = block.subarray(Math.max(0, from - at), Math.max(0, to - at))
      if (part.length > 0) parts.push(part)
      at += block.length
    }
    return concatS16(parts)
  }

  /** Lets go of whole blocks before. */
  dropBefore(at: number): void {
    for (let [first] = this.#blocks; first !== undefined && this.#begin + first.length <= at; [first] = this.#blocks) {
      this.#begin += first.length
      this.#blocks.shift()
    }
  }
}
