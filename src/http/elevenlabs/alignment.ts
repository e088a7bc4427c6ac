/**
 * Times of characters, which ElevenLabs' clients expect, from times of words, which models have. The characters of a
 * word share its time evenly, and those between two words share the pause; where words begin and end is as the model
 * says.
 */
import type { wordsOf } from '../speech/word-records.ts'

type Word = Pick<ReturnType<typeof wordsOf>[number], 'start' | 'end' | 'text_start' | 'text_end'>

export interface TimedChar {
  char: string
  start: number
  end: number
}

/** Follows one text from its beginning: all characters it gives, together, are the text. */
export class Alignment {
  readonly #chars: readonly string[]
  /** How many were given. */
  #given = 0
  /** Where the last of them ends, in seconds. */
  #endS = 0

  constructor(text: string) {
    this.#chars = Array.from(text)
  }

  /** @returns the characters up to the end of the last of these words */
  upTo(words: readonly Word[]): TimedChar[] {
    return words.flatMap(({ start, end, text_start: from, text_end: to }) => [
      ...this.#share(from, start),
      ...this.#share(to, end),
    ])
  }

  /** @param lengthS of the whole sound @returns the characters behind the last word */
  rest(lengthS: number): TimedChar[] {
    return this.#share(this.#chars.length, lengthS)
  }

  /** Gives the characters before that place, evenly until that time. */
  #share(place: number, untilS: number): TimedChar[] {
    const chars = this.#chars.slice(this.#given, place)
    const beginS = this.#endS
    const eachS = Math.max(0, untilS - beginS) / Math.max(1, chars.length)
    const at = (n: number) => Math.round(1000 * (beginS + n * eachS)) / 1000
    this.#given = Math.max(this.#given, place)
    this.#endS = Math.max(beginS, untilS)
    return chars.map((char, n) => ({ char, start: at(n), end: at(n + 1) }))
  }
}
