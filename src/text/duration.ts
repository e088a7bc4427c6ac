/**
 * Estimates how long a text takes to speak, from its words alone: 4,096 characters are four and a half minutes of
 * prose, and half an hour of digits. Takes about 0.5 ms per thousand characters.
 *
 * Measured with our phonemes, of which a voice speaks 16 or 17 per second: a letter of a word is 0.85 of them, the
 * stress and the space after it one and a half; a letter that is read by its name is three, and so is one of a word
 * without a vowel.
 */
import { blocks } from './blocks.ts'
import { plainText } from './inline.ts'
import { emptyLexicon } from './lexicon.ts'
import { stretches } from './pauses.ts'
import { tokens } from './tokens.ts'

const symbolS = 0.06
const perLetter = 0.85
const perNamedLetter = 3
const perWord = 1.5
/** Scripts whose letters are syllables. */
const syllables = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const syllableS = 0.2
const otherLetters = /(?!\p{Script=Latin})\p{L}/gu
const otherLetterS = 0.065

/**
 * Seconds at the normal pace with the pauses it asks for, as far as the text has been read: each time some thousand
 * characters more.
 * @param input text with Markdown, as it came
 */
export function* spokenSeconds(input: string): Generator<number, void> {
  const found = (pattern: RegExp) => input.match(pattern)?.length ?? 0
  const ofSyllables = found(syllables)
  const pauses = stretches(input).reduce((sum, { pauseSeconds }) => sum + pauseSeconds, 0)
  let seconds = pauses + syllableS * ofSyllables + otherLetterS * (found(otherLetters) - ofSyllables)
  yield seconds
  for (const block of blocks(input)) {
    for (const token of tokens(plainText(block), emptyLexicon)) {
      if (token.kind === 'say') for (const word of token.words.split(' ')) seconds += symbolS * symbolsOf(word)
    }
    yield seconds
  }
}

function symbolsOf(word: string): number {
  const isNamed = word.length === 1 || !/[aeiouy]/i.test(word)
  return word.length * (isNamed ? perNamedLetter : perLetter) + perWord
}
