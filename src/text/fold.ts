/**
 * Folds any text to what the rest of this folder reads: ASCII and a few symbols that have a spoken name. Every folded
 * character remembers how many code points of the input are behind it, so that positions survive whatever is cut later.
 *
 * What has no place in ASCII, such as another script, becomes a space: these rules have no words for it. Control
 * characters are removed here, which leaves them free as marks (`breaks`).
 */
import { keepCharacter } from './light-fold.ts'

/** A string and, for each of its UTF-16 units, the code points of the input that are covered once it has been read. */
export interface Mapped {
  text: string
  ends: number[]
}

/** Marks inside plain text, put there by the Markdown stage. No input can hold them: folding removes controls. */
export const breaks = { sentence: '\u0001', paragraph: '\u0002' } as const

/** Symbols that stay as they are because a later rule has words for them. */
const kept = new Set('£€¥₹₩₽₺₴₪฿₫₱₦₿¢°×÷±≈≠≤≥∞√∛∑∫∂∈∉∪∩∀∃∝≡∴∧∨¬∇∠‰§µ©–—•∙‣◦▪')

const written: Record<string, string> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '‛': "'",
  ʼ: "'",
  ʻ: "'",
  '′': "'",
  '´': "'",
  '`': '`',
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
  '«': '"',
  '»': '"',
  '″': '"',
  '‹': '"',
  '›': '"',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '‒': '–',
  '―': '—',
  '…': '...',
  '⁄': '/',
  '∕': '/',
  '⁻': '^-',
  º: '°',
  '№': 'No. ',
  '♯': '#',
  '♭': ' flat',
  '→': ' -> ',
  '⇒': ' => ',
  '←': ' <- ',
  '。': '. ',
  '、': ', ',
  '·': ' ',
  '●': '•',
  '○': '•',
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
  ħ: 'h',
  Ħ: 'H',
  ŋ: 'ng',
  Ŋ: 'NG',
  ŧ: 't',
  Ŧ: 'T',
  ə: 'e',
  Ə: 'E',
  ɛ: 'e',
  Ɛ: 'E',
  ɔ: 'o',
  Ɔ: 'O',
  ɓ: 'b',
  Ɓ: 'B',
  ɗ: 'd',
  Ɗ: 'D',
  ƙ: 'k',
  Ƙ: 'K',
  ƒ: 'f',
  ɲ: 'n',
  ĸ: 'k',
  '\u0085': '\n',
  '\u2028': '\n',
  '\u2029': '\n',
  '™': '',
  '®': '',
  '\u212a': 'K',
  '\u03a9': 'Ohm',
  '\u2126': 'Ohm',
}

/** Greek letters as science uses them. Those that are also Greek words stay out: Greek text must remain unspeakable. */
const greek: Record<string, string> = {
  α: 'alpha',
  β: 'beta',
  γ: 'gamma',
  δ: 'delta',
  Δ: 'delta',
  ε: 'epsilon',
  Γ: 'gamma',
  θ: 'theta',
  Θ: 'theta',
  Λ: 'lambda',
  Ψ: 'psi',
  ζ: 'zeta',
  κ: 'kappa',
  λ: 'lambda',
  ξ: 'xi',
  ρ: 'rho',
  χ: 'chi',
  π: 'pi',
  Π: 'pi',
  σ: 'sigma',
  Σ: 'sigma',
  τ: 'tau',
  φ: 'phi',
  Φ: 'phi',
  ψ: 'psi',
  ω: 'omega',
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'
const isRaised = (char: string): boolean => char === '⁻' || (char !== '' && superscripts.includes(char))
const cache = new Map<string, string>()
const cacheMax = 8192

/** The replacement of one character outside ASCII; '' removes it, ' ' separates words. */
export function foldCharacter(char: string): string {
  const known = cache.get(char)
  if (known !== undefined) return known
  const folded = foldUncached(char)
  if (cache.size >= cacheMax) cache.clear()
  cache.set(char, folded)
  return folded
}

function foldUncached(char: string): string {
  if (kept.has(char)) return char
  const replacement = written[char]
  if (replacement !== undefined) return replacement
  if (/^[\p{M}\p{Cf}\u{1f3fb}-\u{1f3ff}]$/u.test(char)) return ''
  if (/^\p{Z}$/u.test(char)) return ' '
  // A vulgar fraction after a digit is a mixed number: 2½ is not 21/2.
  const space = /^\p{No}$/u.test(char) && char.normalize('NFKD').includes('⁄') ? ' ' : ''
  let folded = ''
  for (const part of char.normalize('NFKD')) {
    if (part >= ' ' && part <= '~') folded += part
    else if (kept.has(part)) folded += part
    else if (part !== char) folded += written[part] ?? ''
  }
  return folded === '' ? ' ' : space + folded
}

const isGreek = (char: string): boolean => /^\p{Script=Greek}$/u.test(char)

/** Reads an input from front to back; never looks more than one character ahead. */
export class Folder {
  private at = 0
  private read = 0
  private last = ''

  /** @param asWritten letters, digits and marks of every script stay; see `keepCharacter` */
  constructor(
    private readonly input: string,
    private readonly asWritten = false,
  ) {}

  /** Code points read so far. */
  get covered(): number {
    return this.read
  }

  get done(): boolean {
    return this.at >= this.input.length
  }

  /**
   * One line without its line break.
   * @param maxChars a longer line comes in several pieces, cut at a space if possible
   * @returns whole: whether the line ended here
   */
  line(maxChars: number): Mapped & { whole: boolean } {
    let text = ''
    const ends: number[] = []
    let space: { length: number; at: number; read: number; last: string } | null = null
    while (this.at < this.input.length) {
      const folded = this.next()
      if (folded === '\n') return { text, ends, whole: true }
      if (folded === ' ') space = { length: text.length + 1, at: this.at, read: this.read, last: ' ' }
      for (let unit = 0; unit < folded.length; unit++) ends.push(this.read)
      text += folded
      if (text.length < maxChars) continue
      if (space === null || space.length < maxChars / 2) return { text, ends, whole: false }
      this.at = space.at
      this.read = space.read
      this.last = space.last
      return { text: text.slice(0, space.length), ends: ends.slice(0, space.length), whole: false }
    }
    return { text, ends, whole: true }
  }

  private next(): string {
    const code = this.input.codePointAt(this.at) as number
    this.at += code > 0xffff ? 2 : 1
    this.read++
    const before = this.last
    if (code < 0x7f && code >= 0x20) return (this.last = String.fromCharCode(code))
    if (code === 0x0a) return (this.last = '\n')
    if (code === 0x0d) {
      if (this.input.charCodeAt(this.at) === 0x0a) {
        this.at++
        this.read++
      }
      return (this.last = '\n')
    }
    if (code === 0x09 || code === 0x0b || code === 0x0c) return (this.last = ' ')
    if (code < 0x20 || code === 0x7f) return ''
    const char = String.fromCodePoint(code)
    this.last = char
    if (this.asWritten) return keepCharacter(char)
    if ((char === '★' || char === '⭐') && /[0-9]/.test(before)) return before === '1' ? ' star ' : ' stars '
    const power = superscripts.indexOf(char)
    if (power >= 0) return isRaised(before) ? String(power) : `^${power}`
    if (isGreekLetter(code)) return this.greekLetter(char, before)
    return foldCharacter(char)
  }

  private greekLetter(char: string, before: string): string {
    const next = this.input.codePointAt(this.at)
    const alone = !isGreek(before) && (next === undefined || !isGreek(String.fromCodePoint(next)))
    // Before a letter it makes a unit smaller: "5 μm".
    if (alone && char === 'μ') return /[A-Za-z]/.test(this.input[this.at] ?? '') ? 'µ' : ' mu '
    const name = greek[char]
    if (alone && name !== undefined) return ` ${name} `
    return char === '\u03a9' && alone ? foldCharacter(char) : ' '
  }
}

const isGreekLetter = (code: number): boolean => (code >= 0x370 && code < 0x400) || (code >= 0x1f00 && code < 0x2000)

/** Folds a short text at once, for dictionaries and entities. */
export function foldText(input: string): string {
  const folder = new Folder(input)
  const lines: string[] = []
  while (!folder.done) lines.push(folder.line(input.length * 4 + 16).text)
  return lines.join(' ')
}
