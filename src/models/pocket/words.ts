/**
 * Turns a text into the words that one model can speak: in its language, and in characters that its tokenizer knows.
 */
import { foldCharacter } from '../../text/fold.ts'
import type { Lexicon } from '../../text/lexicon.ts'
import { englishWords, type SpokenWord, writtenWords } from '../../text/spoken.ts'

/** The characters that the model has a token for. */
export interface Vocabulary {
  knows(character: string): boolean
}

/**
 * The spoken form of a text. English is written out; another language stays as it is, except for texts that would then
 * contain nothing but do in English ("€"): the service accepts a text if there is something in it in English.
 */
export function wordsOf(
  text: string,
  isEnglish: boolean,
  lexicon: Lexicon,
  vocabulary: Vocabulary,
): Iterable<SpokenWord> {
  const english = () => knownWords(englishWords(text, lexicon), vocabulary)
  if (isEnglish) return english()
  const isSaid = knownWords(writtenWords(text), vocabulary).next().done === false
  return isSaid ? knownWords(writtenWords(text), vocabulary) : english()
}

/**
 * Words without what the tokenizer could only spell in bytes, which the model has hardly ever seen: letters of
 * neighbouring languages lose their marks, a colon becomes a comma, anything else is left out.
 */
export function* knownWords(words: Iterable<SpokenWord>, vocabulary: Vocabulary): Generator<SpokenWord> {
  const known = (text: string) => Array.from(text, (char) => knownCharacter(char, vocabulary)).join('')
  let held = null as SpokenWord | null
  for (const word of words) {
    const next = { ...word, text: known(word.text), mark: known(word.mark) }
    if (next.text !== '') {
      if (held !== null) yield held
      held = next
    } else if (held !== null) {
      // What was left out still ends a sentence.
      held = { ...held, mark: held.mark || next.mark, end: next.end, closes: further(held.closes, next.closes) }
    }
  }
  if (held !== null) yield held
}

function knownCharacter(char: string, vocabulary: Vocabulary): string {
  const cased = [char, char.toLowerCase(), char.toUpperCase()].find((one) => vocabulary.knows(one))
  if (cased !== undefined) return cased
  if (char === ':' || char === ';') return ','
  const folded = char > '~' ? foldCharacter(char).trim() : ''
  return Array.from(folded).every((part) => vocabulary.knows(part)) ? folded : ''
}

const order: readonly SpokenWord['closes'][] = ['nothing', 'clause', 'sentence', 'paragraph']

const further = (a: SpokenWord['closes'], b: SpokenWord['closes']): SpokenWord['closes'] =>
  order.indexOf(a) > order.indexOf(b) ? a : b
