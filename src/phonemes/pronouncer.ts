/**
 * One written word to its phones, in order of trust: the dictionary, a known stem with an ending, known parts, and for
 * everything else the letters themselves. There is always an answer.
 */
import { readFileSync } from 'node:fs'
import dictionaryPath from './dictionary.zst' with { type: 'file' }
import lettersPath from './letters.zst' with { type: 'file' }
import { compound } from './compounds.ts'
import { Dictionary } from './dictionary.ts'
import { inflected } from './inflections.ts'
import { Letters } from './letters.ts'
import { isVowel, type Phone, parsePhones } from './phones.ts'

// prettier-ignore
const letterNames: Readonly<Record<string, string>> = {
  a: 'EY1', b: 'B IY1', c: 'S IY1', d: 'D IY1', e: 'IY1', f: 'EH1 F', g: 'JH IY1', h: 'EY1 CH', i: 'AY1', j: 'JH EY1',
  k: 'K EY1', l: 'EH1 L', m: 'EH1 M', n: 'EH1 N', o: 'OW1', p: 'P IY1', q: 'K Y UW1', r: 'AA1 R', s: 'EH1 S',
  t: 'T IY1', u: 'Y UW1', v: 'V IY1', w: 'D AH1 B AH0 L Y UW2', x: 'EH1 K S', y: 'W AY1', z: 'Z IY1',
}

/** Longest piece of letters that is read as one word: the work grows with it. */
const longestWord = 32

/** "psst" and "tsk" have no vowel; longer strings without one are not words. */
const longestSound = 4

/** @throws Error when the files inside the program cannot be read */
export async function loadPronouncer(): Promise<Pronouncer> {
  const dictionary = await Bun.zstdDecompress(await Bun.file(dictionaryPath).bytes())
  // The first word that is in no dictionary waits for it, some 15 ms, so that the first sentence need not.
  const letters = () => new Letters(Bun.zstdDecompressSync(readFileSync(lettersPath)))
  return new Pronouncer(new Dictionary(dictionary), letters)
}

export class Pronouncer {
  readonly #dictionary: Dictionary
  readonly #loadLetters: () => Letters
  #letters: Letters | null = null

  /** @param letters called once, when they are first needed */
  constructor(dictionary: Dictionary, letters: () => Letters) {
    this.#dictionary = dictionary
    this.#loadLetters = letters
  }

  /**
   * @param word letters from a to z and apostrophes, lower case
   * @param isName whether it was written as a name
   * @returns at least one phone
   */
  phones(word: string, isName: boolean): Phone[] {
    return this.known(word) ?? this.#drawnOut(word) ?? this.guessed(word, isName)
  }

  /** From the dictionary, perhaps by its stem. That of a plural may have an ending itself: "formatters". */
  known(word: string): Phone[] | null {
    const found = this.#find(word) ?? inflected(word, this.#find)
    if (found !== null || !word.endsWith('s')) return found
    return inflected(word, (stem) => this.#find(stem) ?? (stem.endsWith('s') ? null : inflected(stem, this.#find)))
  }

  /** "sooo", "yesss", "coool": a known word with a letter held. No English word has three alike. */
  #drawnOut(word: string): Phone[] | null {
    if (!/(.)\1\1/.test(word)) return null
    const once = word.replace(/(.)\1{2,}/g, '$1')
    if (once.length < 2) return null
    const twice = word.replace(/(.)\1{2,}/g, '$1$1')
    const order = /([elz])\1{2,}$|([eo])\2{2,}(?!\2)[a-z]$/.test(word) ? [twice, once] : [once, twice]
    for (const one of order) {
      const found = this.known(one)
      if (found !== null) return found
    }
    return this.guessed(/[aeiouy]/.test(word) ? once : twice, false)
  }

  /** If it is not in the dictionary: its parts, or its letters. */
  guessed(word: string, isName: boolean): Phone[] {
    const find = (part: string) => this.known(part)
    const whole = isName || word.length > longestWord ? null : compound(word, find, this.#find)
    if (whole !== null) return whole
    const spoken: Phone[] = []
    for (let from = 0; from < word.length; from += longestWord) {
      const piece = word.slice(from, from + longestWord)
      this.#letters ??= this.#loadLetters()
      const phones = this.#letters.phones(piece)
      // The letters alone would say the g of "-ing".
      if (piece.endsWith('ing') && phones.at(-1)?.base === 'G') phones.pop()
      const isSound = phones.length > 0 && word.length <= longestSound
      spoken.push(...(phones.some(isVowel) || isSound ? phones : spelled(piece)))
    }
    return spoken.length > 0 ? spoken : spelled('x')
  }

  readonly #find = (word: string): Phone[] | null => this.#dictionary.find(word)
}

/** The names of the letters, with the main stress on the last one. */
export function spelled(letters: string): Phone[] {
  const names = Array.from(letters.toLowerCase()).flatMap((letter) => letterNames[letter] ?? [])
  return names.flatMap((name, index) =>
    parsePhones(name).map((phone) =>
      phone.stress === 1 && index < names.length - 1 ? { ...phone, stress: 2 as const } : phone,
    ),
  )
}
