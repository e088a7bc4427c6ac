/**
 * One pass over a window of plain text: which words are spoken, where it pauses, where sentences end. Each position is
 * examined by the rules of its first character; every rule reads on from there, so nothing is read twice.
 */
import { breaks, type Mapped } from './fold.ts'
import { entryAt, type Lexicon } from './lexicon.ts'
import { quantityAt } from './quantities.ts'
import { isAlphanumeric, isDigit, isLetter, type Said } from './rule.ts'
import { type FineMark, isFactorial, isNegation, signAt } from './signs.ts'
import { wordAt } from './words.ts'

export type Token =
  /** `end`: code points of the input that are covered once the words are spoken. */
  | { kind: 'say'; words: string; end: number; phonemes?: string }
  | { kind: 'pause'; mark: ',' | ';' | ':' | '?' | '!'; end: number; symbol?: FineMark }
  | { kind: 'stop'; mark: '.' | '?' | '!'; end: number; symbol?: FineMark }
  | { kind: 'break'; boundary: 'sentence' | 'paragraph'; end: number }

/** @param plain text without Markdown (`plainText`), at most one window */
export function tokens(plain: Mapped, lexicon: Lexicon): Token[] {
  return new Scanner(plain, lexicon).run()
}

class Scanner {
  private readonly found: Token[] = []
  private readonly text: string
  /** The last word as written; '' at the start of a sentence. */
  private word = ''
  private waiting = ''

  constructor(
    private readonly plain: Mapped,
    private readonly lexicon: Lexicon,
  ) {
    this.text = plain.text
  }

  run(): Token[] {
    let at = 0
    while (at < this.text.length) at = this.step(at)
    return this.found
  }

  private step(at: number): number {
    const char = this.text[at] as string
    if (char === ' ') return at + 1
    const letter = isLetter(char)
    if (letter || isDigit(char)) {
      const entry = entryAt(this.lexicon, this.text, at)
      if (entry !== null) return this.say(at, entry)
      const said = letter ? wordAt(this.text, at, { word: this.word }) : quantityAt(this.text, at, { word: this.word })
      return this.say(at, said as Said)
    }
    if (char === breaks.sentence || char === breaks.paragraph) {
      return this.end(
        { kind: 'break', boundary: char === breaks.sentence ? 'sentence' : 'paragraph', end: this.covered(at + 1) },
        at + 1,
      )
    }
    if ('.!?'.includes(char)) {
      const stop = stopAt(this.text, at)
      if (stop !== null) return this.stop(stop)
    }
    return this.sign(at)
  }

  private sign(at: number): number {
    const sign = signAt(this.text, at, this.word !== '')
    if (sign.kind === 'say') return this.say(at, sign)
    if (sign.kind === 'pause') {
      this.waiting = ''
      const { mark, symbol } = sign
      this.found.push({ kind: 'pause', mark, end: this.covered(sign.to), ...(symbol !== undefined && { symbol }) })
    }
    if (sign.kind === 'between' && (sign.alone || this.word !== '')) {
      this.waiting += `${this.waiting === '' ? '' : ' '}${sign.words}`
      // A row of signs is decoration.
      if (this.waiting.length > 40) this.waiting = ''
    }
    return sign.to
  }

  private say(at: number, said: Said): number {
    if (said.words !== '') {
      const words = this.waiting === '' ? said.words : `${this.waiting} ${said.words}`
      const { phonemes } = this.waiting === '' ? said : {}
      this.found.push({ kind: 'say', words, end: this.covered(said.to), ...(phonemes !== undefined && { phonemes }) })
      this.waiting = ''
    }
    this.word = lastWord(this.text.slice(Math.max(at, said.to - 40), said.to))
    return said.stop === true ? this.stop({ kind: 'stop', mark: '.', to: said.to }) : said.to
  }

  private stop({ kind, mark, symbol, to }: Stop): number {
    const fine = symbol === undefined ? {} : { symbol }
    if (kind === 'pause') {
      this.found.push({ kind, mark: mark as ',', end: this.covered(to), ...fine })
      return to
    }
    return this.end({ kind, mark: mark as '.', end: this.covered(to), ...fine }, to)
  }

  private end(token: Token, to: number): number {
    this.found.push(token)
    this.word = ''
    this.waiting = ''
    return to
  }

  private covered(to: number): number {
    return this.plain.ends[to - 1] as number
  }
}

function lastWord(written: string): string {
  let end = written.length
  while (end > 0 && !isAlphanumeric(written[end - 1])) end--
  let start = end
  while (start > 0 && isAlphanumeric(written[start - 1])) start--
  return written.slice(start, end) || written
}

// Which full stops, question and exclamation marks end a sentence. Decimals and abbreviations never get here.
interface Stop {
  kind: 'pause' | 'stop'
  mark: '.' | '?' | '!' | ','
  to: number
  /** Its trail of dots, for a voice that supports it. */
  symbol?: FineMark
}

/** @returns null if the mark at `at` does not end a sentence but is a sign: the dot of "node.js" or ".5" */
function stopAt(text: string, at: number): Stop | null {
  if (text.startsWith('!=', at) || (text[at] === '!' && (isFactorial(text, at) || isNegation(text, at)))) return null
  let to = at
  while (to < text.length && '.!?'.includes(text[to] as string)) to++
  const run = to - at
  const marks = text.slice(at, Math.min(to, at + 64))
  const mark = marks.includes('?') ? '?' : marks.includes('!') ? '!' : '.'
  const closed = to
  while (to < text.length && '"\')]}'.includes(text[to] as string)) to++
  const next = text[to]
  if (isAlphanumeric(next) && to === closed && run === 1 && mark === '.') {
    const sentence = /[a-z)]/.test(text[at - 1] ?? '') && /[A-Z]/.test(next as string) && isAlphanumeric(text[at - 2])
    if (!sentence) return null
  }
  // Inside a path or before a comma ("./run", "Inc., which") it does not end a sentence.
  if (mark === '.' && run === 1 && next !== undefined && '/\\-_=<>,;:@#%&+~'.includes(next)) return null
  let ahead = to
  while (ahead < to + 8 && ' "(—'.includes(text[ahead] ?? '.')) ahead++
  const goesOn = /[a-z]/.test(text[ahead] ?? '')
  // "Stop!" he said. And a trail of dots... that continues.
  if (goesOn && mark !== '.') return { kind: 'pause', mark, to }
  if (goesOn && run > 1) return { kind: 'pause', mark: ',', to, symbol: '…' }
  return run > 1 && mark === '.' ? { kind: 'stop', mark, to, symbol: '…' } : { kind: 'stop', mark, to }
}
