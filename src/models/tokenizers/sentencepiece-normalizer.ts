/**
 * Does what SentencePiece does to a text before it looks for pieces: characters are replaced by a table in the model,
 * runs of spaces become one if the model says so, and spaces become ▁, so that they can be part of a piece.
 *
 * The table is a double-array trie over UTF-8 bytes (the layout of Darts-clone, https://github.com/s-yata/darts-clone)
 * whose values point at texts that end with a zero byte.
 */
import type { SentencePieceModel } from './sentencepiece-model.ts'

const spaceSign = '▁'

const utf8 = new TextEncoder()
const utf8Text = new TextDecoder('utf-8', { ignoreBOM: true })

export class SentencePieceNormalizer {
  readonly #model: SentencePieceModel
  readonly #map: CharsMap | null
  /** Pieces that are never to be changed, the longest first. */
  readonly #verbatim: readonly string[]

  /** @throws Error when the model's table of characters is damaged */
  constructor(model: SentencePieceModel) {
    this.#model = model
    this.#map = model.charsMap.length === 0 ? null : new CharsMap(model.charsMap)
    const verbatim = model.pieces.filter(({ kind }) => kind === 'user').map(({ text }) => text)
    this.#verbatim = verbatim.toSorted((a, b) => b.length - a.length)
  }

  normalize(input: string): string {
    const { addDummyPrefix, removeExtraSpaces, escapeSpaces, spaceIsSuffix } = this.#model
    const sign = escapeSpaces ? spaceSign : ' '
    let out = addDummyPrefix && !spaceIsSuffix ? sign : ''
    let onlySpaces = removeExtraSpaces
    let afterSpace = removeExtraSpaces
    for (const part of this.#parts(input.toWellFormed())) {
      if (part !== ' ') onlySpaces = false
      const kept = afterSpace ? part.replace(/^ +/, '') : part
      if (kept !== '') afterSpace = removeExtraSpaces && kept.endsWith(' ')
      out += kept.replaceAll(' ', sign)
    }
    if (input === '' || onlySpaces) return ''
    // After escaping, as the library does it: a ▁ in the text itself is removed too.
    if (removeExtraSpaces) while (out.endsWith(sign)) out = out.slice(0, -1)
    return addDummyPrefix && spaceIsSuffix ? out + sign : out
  }

  /** The text piece by piece, each replaced as the table says. */
  *#parts(text: string): Generator<string> {
    const bytes = this.#map === null ? null : utf8.encode(text)
    let byte = 0
    for (let at = 0; at < text.length;) {
      const verbatim = this.#verbatim.find((piece) => text.startsWith(piece, at))
      const replaced = verbatim === undefined && bytes !== null ? (this.#map?.match(bytes, byte) ?? null) : null
      const written = verbatim ?? (replaced === null ? String.fromCodePoint(text.codePointAt(at)!) : null)
      if (written !== null) {
        yield written
        at += written.length
        byte += bytes === null ? 0 : utf8Length(written)
        continue
      }
      yield replaced!.text
      at += utf8Text.decode(bytes!.subarray(byte, byte + replaced!.length)).length
      byte += replaced!.length
    }
  }
}

/** Bytes of a text in UTF-8. */
export const utf8Length = (text: string): number => utf8.encode(text).length

class CharsMap {
  readonly #units: Uint32Array
  readonly #texts: Uint8Array

  /** @param blob four bytes: the size of the trie; the trie; the texts */
  constructor(blob: Uint8Array) {
    const size = blob.length < 4 ? 0 : new DataView(blob.buffer, blob.byteOffset).getUint32(0, true)
    if (size === 0 || size % 4 !== 0 || 4 + size > blob.length) throw new Error('its table of characters is damaged')
    this.#units = new Uint32Array(new Uint8Array(blob.subarray(4, 4 + size)).buffer)
    this.#texts = blob.subarray(4 + size)
  }

  /** The longest replacement that begins at `from`. @returns how many bytes it replaces, and by what */
  match(bytes: Uint8Array, from: number): { length: number; text: string } | null {
    let found: { length: number; value: number } | null = null
    let node = offsetOf(this.#unit(0))
    for (let at = from; at < bytes.length; at++) {
      node ^= bytes[at]!
      const unit = this.#unit(node)
      if (labelOf(unit) !== bytes[at]) break
      node ^= offsetOf(unit)
      if (hasLeaf(unit)) found = { length: at + 1 - from, value: this.#unit(node) & 0x7fffffff }
    }
    return found === null ? null : { length: found.length, text: this.#text(found.value) }
  }

  #unit(index: number): number {
    const unit = this.#units[index]
    if (unit === undefined) throw new Error('its table of characters is damaged')
    return unit
  }

  #text(from: number): string {
    const to = this.#texts.indexOf(0, from)
    return utf8Text.decode(this.#texts.subarray(from, to === -1 ? undefined : to))
  }
}

// A unit of a double array: bit 8 says that a value hangs on it, bit 31 that it is one; 8 bits of label, the rest says
// how far the next units are away, in steps of 256 when bit 9 is set.
const hasLeaf = (unit: number): boolean => ((unit >>> 8) & 1) === 1
const labelOf = (unit: number): number => (unit & 0x800000ff) >>> 0
const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6)
