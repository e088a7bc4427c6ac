/** The text of a transcript as it grows: all deltas together are the whole text, without space at either end. */
export class TranscriptText {
  #text = ''
  /** Space that counts only if text follows. */
  #space = ''

  /** @returns the added text, possibly empty */
  add(part: string): string {
    const given = (this.#space + part).toWellFormed()
    const begun = this.#text === '' ? given.trimStart() : given
    const delta = begun.trimEnd()
    this.#space = begun.slice(delta.length)
    if (delta === '') return ''
    this.#text += delta
    return delta
  }

  toString(): string {
    return this.#text
  }
}
