/**
 * A text as English sentences ready to be spoken: words with their surroundings and how much of the input is covered
 * after each. Numbers, money, dates and abbreviations are words already; Markdown is gone.
 */
import { countChars } from '../domain/charge.ts'
import { blocks } from '../text/blocks.ts'
import { plainText } from '../text/inline.ts'
import type { Lexicon } from '../text/lexicon.ts'
import { type Token, tokens } from '../text/tokens.ts'
import type { Word } from './english.ts'

export interface SentenceWord extends Word {
  /** Symbols right before it, "(". */
  opening: string
  /** Symbols right behind it: a stop, a comma, ") —". */
  mark: string
  /** Code points of the input that are covered once it has been spoken. */
  end: number
}

export interface Sentence {
  /** At least one. */
  words: SentenceWord[]
  /** 'clause': it continues in the next one, cut only because of its length. */
  boundary: 'clause' | 'sentence' | 'paragraph'
}

/** A text without a full stop is cut after this many words. */
const longest = 120
/** Longest run of letters that is given out as one word. */
const longestWord = 40
/**
 * A word of this many letters is in no dictionary: guessing its pronunciation takes about 3 ms. Nothing of a sentence
 * is played before all of it is pronounced, so a few of these make one part of it.
 */
const strangeWord = 20
const strangeWords = 3

/**
 * Reads no further than it must. The last sentence covers the rest of the input.
 * @param input text with Markdown, as it came
 */
export function* sentences(input: string, lexicon: Lexicon): Generator<Sentence> {
  const reader = new Reader()
  for (const block of blocks(input)) {
    for (const token of tokens(plainText(block), lexicon)) yield* reader.take(token)
    if (block.after !== 'none') reader.end(block.after)
  }
  reader.end('sentence')
  const last = reader.last()
  if (last === null) return
  ;(last.words.at(-1) as SentenceWord).end = countChars(input)
  yield { words: last.words, boundary: 'sentence' }
}

class Reader {
  private words: SentenceWord[] = []
  private strange = 0
  private opening = ''
  private covered = 0
  /**
   * The last complete sentence: it is returned when a word follows, because the pause after it may still get longer.
   */
  private held: Sentence | null = null

  end(boundary: 'sentence' | 'paragraph'): void {
    if (this.words.length > 0) this.close('.', boundary, this.covered)
    else if (this.held !== null && boundary === 'paragraph') this.held.boundary = 'paragraph'
  }

  *take(token: Token): Generator<Sentence> {
    if (token.kind === 'say') yield* this.say(token)
    else if (token.kind === 'pause') this.pause(token.symbol ?? token.mark, token.end)
    else if (token.kind === 'stop') this.close(token.symbol ?? token.mark, 'sentence', token.end)
    else this.end(token.boundary)
  }

  last(): Sentence | null {
    return this.held
  }

  private *say(token: Token & { kind: 'say' }): Generator<Sentence> {
    if (this.held !== null) yield this.held
    this.held = null
    for (const [index, word] of wordsOf(token).entries()) {
      if (this.words.length >= longest || this.strange >= strangeWords) {
        yield { words: this.words, boundary: 'clause' }
        this.begin()
      }
      if (word.text.length >= strangeWord && !word.spelled) this.strange++
      this.words.push({ ...word, pause: false, opening: index === 0 ? this.opening : '', mark: '', end: this.covered })
    }
    this.opening = ''
    const last = this.words.at(-1)
    if (last !== undefined) last.end = token.end
    this.covered = token.end
  }

  private pause(mark: string, end: number): void {
    const last = this.words.at(-1)
    if (mark === '(') {
      this.opening = '('
      if (last !== undefined) last.pause = true
      return
    }
    if (last === undefined) return
    last.end = Math.max(last.end, end)
    this.covered = last.end
    last.pause = true
    if (mark === ')') last.mark = `)${last.mark}`
    else if (last.mark === '' || last.mark === ')') last.mark += mark === '—' ? ' —' : mark
  }

  private close(mark: string, boundary: 'sentence' | 'paragraph', end: number): void {
    const last = this.words.at(-1)
    if (last === undefined) return
    if (last.mark === '' || last.mark === ')') last.mark += mark
    else if (!/[?!]$/.test(last.mark)) last.mark = mark
    last.pause = true
    last.end = Math.max(last.end, end)
    this.covered = last.end
    this.held = { words: this.words, boundary }
    this.begin()
    this.opening = ''
  }

  private begin(): void {
    this.words = []
    this.strange = 0
  }
}

type Plain = Pick<SentenceWord, 'text' | 'spelled' | 'phonemes'>

/** Single capitals in a row are one initialism; a run of letters that is too long to speak at once is cut. */
function wordsOf({ words, phonemes }: Token & { kind: 'say' }): Plain[] {
  if (phonemes !== undefined) return [{ text: words, spelled: false, phonemes }]
  const found: Plain[] = []
  const parts = words.split(' ').filter((part) => part !== '')
  for (const [index, part] of parts.entries()) {
    const letter = /^[A-Z](?:'s)?$/.test(part) && part !== 'I' ? true : part === 'I' && isLetter(parts, index)
    const last = found.at(-1)
    if (letter && last?.spelled === true && !last.text.endsWith("'s")) last.text += part
    else if (letter && (part !== 'A' || isLetter(parts, index)))
      found.push({ text: part, spelled: true, phonemes: null })
    else for (const piece of pieces(part)) found.push({ text: piece, spelled: false, phonemes: null })
  }
  return found
}

/** Whether "A" or "I" is one of several letters. */
const isLetter = (parts: readonly string[], index: number): boolean =>
  [parts[index - 1], parts[index + 1]].some((part) => part !== undefined && /^[A-Z](?:'s)?$/.test(part))

function pieces(word: string): string[] {
  if (word.length <= longestWord) return [word]
  return Array.from({ length: Math.ceil(word.length / longestWord) }, (_, index) =>
    word.slice(index * longestWord, (index + 1) * longestWord),
  )
}
