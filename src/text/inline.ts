/**
 * The inline half of Markdown, on one window of prose: marks are removed, words stay. Emphasis is not paired: a mark
 * next to a word is removed, a separate mark is left to the rules for signs. That needs no search, and "2 * 3"
 * survives.
 */
import { breaks, type Mapped } from './fold.ts'
import { commandAt, type Formulas, formulasIn } from './formulas.ts'
import { entityAt, tagAt } from './html.ts'

const isWord = (char: string | undefined): boolean => char !== undefined && /[A-Za-z0-9]/.test(char)
const isGap = (char: string | undefined): boolean => char === undefined || char === ' ' || char === '\n'

/** The end of a line that cannot be the end of a sentence. */
const unfinished =
  /(?:[,;:]|\b(?:a|an|the|of|in|on|at|to|for|and|or|but|is|was|were|are|with|by|from|as|that|my|his|her)) *$/i

/** @returns plain text: single spaces, no line breaks, `breaks` where a line or a tag ends a sentence */
export function plainText(block: Mapped): Mapped {
  return new Stripper(block).run()
}

class Stripper {
  private readonly text: string
  private readonly ends: readonly number[]
  private readonly out: string[] = []
  private readonly outEnds: number[] = []
  private readonly jumps = new Map<number, number>()
  private readonly dropped = new Set<number>()
  private readonly fences: Map<number, number[]>
  private readonly formulas: Formulas
  private readonly lineWidth: number
  private lower: string | null = null
  private commentsEnd = false

  constructor(block: Mapped) {
    this.text = block.text
    this.ends = block.ends
    this.fences = backtickRuns(this.text)
    this.formulas = formulasIn(this.text)
    this.lineWidth = longestLine(this.text)
    this.findLinks()
  }

  run(): Mapped {
    let at = 0
    while (at < this.text.length) at = this.step(at)
    return { text: this.out.join(''), ends: this.outEnds }
  }

  /** Handles what is at `at`. @returns where to continue */
  private step(at: number): number {
    const jump = this.jumps.get(at)
    if (jump !== undefined) return jump
    if (this.dropped.has(at)) return at + 1
    const formula = this.formulas.get(at)
    if (formula !== undefined) return this.emit(formula.words, at, formula.to)
    const char = this.text[at] as string
    if (char === '\\') return this.escape(at)
    if (char === '`') return this.code(at)
    if (char === '<') return this.angle(at)
    if (char === '&') return this.entity(at)
    if (char === '*' || char === '_' || char === '~') return this.emphasis(at, char)
    if (char === '\n') return this.newline(at)
    return this.emit(char, at)
  }

  private emit(chars: string, at: number, to = at + 1): number {
    for (const char of chars) {
      const last = this.out.at(-1)
      if (char === ' ' && (last === undefined || last === ' ')) continue
      this.out.push(char)
      this.outEnds.push(this.ends[to - 1] as number)
    }
    return to
  }

  private escape(at: number): number {
    const next = this.text[at + 1]
    if (next === '\n') return this.emit(breaks.sentence, at, at + 2)
    const command = commandAt(this.text, at)
    if (command !== null) return this.emit(command.words, at, command.to)
    if (next !== undefined && /[!-/:-@[-`{-~]/.test(next)) return this.emit(next === '`' ? ' ' : next, at, at + 2)
    return this.emit(' ', at)
  }

  private code(at: number): number {
    let from = at
    while (this.text[from] === '`') from++
    const runs = this.fences.get(from - at) ?? []
    while (runs[0] !== undefined && runs[0] < from) runs.shift()
    const close = runs[0]
    if (close === undefined) return from
    for (let inner = from; inner < close; inner++) this.emit(this.text[inner] === '\n' ? ' ' : this.text[inner]!, inner)
    return close + from - at
  }

  private angle(at: number): number {
    if (this.text.startsWith('<!--', at) && !this.commentsEnd) {
      const close = this.text.indexOf('-->', at + 4)
      if (close >= 0) return close + 3
      this.commentsEnd = true
    }
    const link = sticky(/<([A-Za-z][A-Za-z+.-]{1,31}:[^\s<>]{1,2000}|[^\s<>@]{1,64}@[^\s<>@]{1,255})>/y, this.text, at)
    if (link !== null) return this.emit((link[1] as string).replace(/^mailto:/, ''), at, at + link[0].length)
    const tag = tagAt(this.text, at)
    if (tag === null) return this.emit('<', at)
    this.emit(tag.text, at, tag.to)
    if (tag.name !== 'script' && tag.name !== 'style') return tag.to
    this.lower ??= this.text.toLowerCase()
    const close = this.lower.indexOf(`</${tag.name}`, tag.to)
    return close < 0 ? this.text.length : close
  }

  private entity(at: number): number {
    const entity = entityAt(this.text, at)
    return entity === null ? this.emit('&', at) : this.emit(entity.text, at, entity.to)
  }

  private emphasis(at: number, char: string): number {
    let to = at
    while (this.text[to] === char) to++
    const run = to - at
    const before = this.text[at - 1]
    const after = this.text[to]
    // 2 ** 3
    const isPower =
      run === 2 &&
      char === '*' &&
      /(?:\d|(?:^|[^A-Za-z])[a-z]) $/.test(this.text.slice(Math.max(0, at - 3), at)) &&
      /^ \d/.test(this.text.slice(to, to + 2))
    if (isPower && isGap(before) && isGap(after)) return this.emit('^', at, to)
    if (isGap(before) && isGap(after)) return run === 1 ? this.emit(char, at) : this.emit(' ', at, to)
    if (char === '~') return run === 1 ? this.emit(char, at) : to
    if (!isWord(before) || !isWord(after)) {
      // 2*(3+4): a sign although it touches a bracket.
      const sign = run === 1 && char === '*' && ((isWord(before) && after === '(') || (before === ')' && isWord(after)))
      return sign ? this.emit(char, at) : to
    }
    if (char === '_') return this.emit(char, at, to)
    const alone = !isWord(this.text[at - 2]) && !isWord(this.text[to + 1])
    const digits = /\d/.test(before as string) && /\d/.test(after as string)
    return run === 1 && (alone || digits) ? this.emit(char, at) : to
  }

  /** A line break is a space, unless the text is written line by line (verse, addresses, lists without marks). */
  private newline(at: number): number {
    const start = this.text.lastIndexOf('\n', at - 1) + 1
    const line = this.text.slice(start, at)
    let to = at + 1
    while (this.text[to] === ' ') to++
    if (/[A-Za-z]-$/.test(line) && /[a-z]/.test(this.text[to] ?? '')) return to
    const rest = /[^\s]{0,40}/y
    const word = sticky(rest, this.text, to)?.[0].length ?? 0
    const fits = line.length + 1 + word <= this.lineWidth || this.lineWidth < 50
    const hard = line.endsWith('  ') || (fits && /["'(]?[A-Z0-9]/y.test(this.text.slice(to, to + 2)))
    return this.emit(hard && !unfinished.test(line.slice(-12)) ? breaks.sentence : ' ', at, to)
  }

  /** Notes which brackets belong to links, and where their targets end. */
  private findLinks(): void {
    if (!this.text.includes(']')) return
    const round = pairs(this.text, '(', ')')
    const square = pairs(this.text, '[', ']')
    for (const [open, close] of square) {
      const next = this.text[close + 1]
      const image = this.text[open - 1] === '!'
      const target = next === '(' ? round.get(close + 1) : next === '[' ? square.get(close + 1) : undefined
      const inline = next === '(' && target !== undefined && isTarget(this.text, close + 2, target)
      const reference = next === '[' && target !== undefined && !isWord(this.text[open - 1])
      if (this.text[open + 1] === '^') this.jumps.set(open, close + 1)
      else if (/[.,;]/.test(this.text[open - 1] ?? '') && sticky(/\[\d{1,3}\]/y, this.text, open))
        this.jumps.set(open, close + 1)
      else if (inline || reference) {
        this.dropped.add(open)
        if (image) this.dropped.add(open - 1)
        this.jumps.set(close, (target as number) + 1)
      }
    }
  }
}

function sticky(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** A link's target: no spaces but those before a quoted title. */
function isTarget(text: string, from: number, to: number): boolean {
  if (to - from > 2048) return false
  let space = from
  while (space < to && !isGap(text[space])) space++
  if (space === to) return true
  const title = text.slice(space, to).trim()
  return title === '' || (/^["'(]/.test(title) && /["')]$/.test(title))
}

/** Opening to closing position of each pair, escapes respected. */
function pairs(text: string, open: string, close: string): Map<number, number> {
  const found = new Map<number, number>()
  const stack: number[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === open) stack.push(at)
    else if (char === close) {
      const start = stack.pop()
      if (start !== undefined) found.set(start, at)
    }
  }
  return found
}

/** Where runs of backticks begin, by their length. */
function backtickRuns(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>()
  if (!text.includes('`')) return runs
  for (const run of text.matchAll(/`+/g)) {
    const starts = runs.get(run[0].length)
    if (starts === undefined) runs.set(run[0].length, [run.index])
    else starts.push(run.index)
  }
  return runs
}

function longestLine(text: string): number {
  let longest = 0
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    longest = Math.max(longest, at - start)
    start = at + 1
  }
  return Math.max(longest, text.length - start)
}
