/** Holds what the rules that turn written into spoken text have in common. */

/** The result: the position after it and its words (letters, spaces, apostrophes; '' for nothing). */
export interface Said {
  to: number
  words: string
  /** The full stop of an abbreviation was read with it and may also be the end of the sentence. */
  stop?: boolean
  /** Its pronunciation, for a voice that speaks phonemes. */
  phonemes?: string
}

/** What was read before, in the same sentence. */
export interface Before {
  /** The last word as it was written, '' at the start of a sentence. */
  word: string
}

/** @returns null if the rule does not apply at `at` */
export type Rule = (text: string, at: number, before: Before) => Said | null

/** Runs a sticky pattern at a position. Patterns have bounded repetitions: their cost must not grow with the text. */
export function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** A table of words that has no others: every object of JavaScript has a "constructor". */
export const tableOf = (entries: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>> =>
  Object.assign(Object.create(null) as Record<string, string>, entries)

/** What is counted: "20 songs", "500 people", but not "20 is". */
const countedPattern =
  / (?:people|(?!(?:as|is|was|has|this|its|does|us|plus|thus|yes|always|perhaps|towards)\b)[a-z]{1,19}[a-rt-z]s)\b/y
export const countsThings = (text: string, at: number): boolean => match(countedPattern, text, at) !== null

export const isLetter = (char: string | undefined): boolean => char !== undefined && /^[A-Za-z]$/.test(char)
export const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9'
export const isAlphanumeric = (char: string | undefined): boolean => isLetter(char) || isDigit(char)

/** "USA" -> "U S A". */
export const spell = (letters: string): string => Array.from(letters.toUpperCase()).join(' ')
