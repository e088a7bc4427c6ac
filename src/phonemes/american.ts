/**
 * Turns the phones of the dictionary into the symbols that American Kokoro voices were trained on (one character each,
 * stress right before its vowel). The dictionary is coarser: it has one weak vowel where they have four (ə ɪ ᵻ ᵊ), no
 * flap, and no fixed rule for secondary stress. The rules here follow the habits of misaki, with which the voices were
 * trained; `scripts/g2p/compare.ts` measures how well.
 */
import { isVowel, type Phone, type Stress } from './phones.ts'

// prettier-ignore
const symbols: Readonly<Record<string, string>> = {
  AA: 'ɑ', AE: 'æ', AH: 'ʌ', AO: 'ɔ', AW: 'W', AY: 'I', EH: 'ɛ', ER: 'ɜɹ', EY: 'A', IH: 'ɪ', IY: 'i', OW: 'O',
  OY: 'Y', UH: 'ʊ', UW: 'u', B: 'b', CH: 'ʧ', D: 'd', DH: 'ð', F: 'f', G: 'ɡ', HH: 'h', JH: 'ʤ', K: 'k', L: 'l',
  M: 'm', N: 'n', NG: 'ŋ', P: 'p', R: 'ɹ', S: 's', SH: 'ʃ', T: 't', TH: 'θ', V: 'v', W: 'w', Y: 'j', Z: 'z', ZH: 'ʒ',
}
const marks = ['', 'ˈ', 'ˌ'] as const
const sibilants = new Set(['S', 'Z', 'SH', 'ZH', 'CH', 'JH'])
/** Vowels that are never weak: without a mark of their own they have secondary stress behind the main one. */
const full = new Set(['AA', 'AE', 'AO', 'AW', 'AY', 'EH', 'EY', 'OY'])

/**
 * @param word lower case; its letters distinguish the weak vowels of endings
 * @returns never empty if `phones` is not
 */
export function american(phones: readonly Phone[], word: string): string {
  return new Speller(restressed(phones, word), word).run()
}

/** Corrects what the dictionary marks without system. */
function restressed(phones: readonly Phone[], word: string): Phone[] {
  const main = phones.findLastIndex(({ stress }) => stress === 1)
  return phones.map((phone, at) => {
    if (phone.stress === null) return phone
    // "Uganda": an a at the end is weak, whatever the dictionary says.
    if (phone.base === 'AA' && phone.stress === 0 && at === phones.length - 1 && at > main && word.endsWith('a'))
      return { base: 'AH', stress: 0 }
    // Of two main stresses, the last one is the word's.
    if (phone.stress === 1) return at < main ? { ...phone, stress: 2 } : phone
    const behind = main >= 0 && at > main
    const stress = phone.stress === 2 ? second(phones, at, word, behind) : none(phones, at, word, behind)
    return { base: phone.base, stress }
  })
}

/** For a vowel with secondary stress in the dictionary. */
function second(phones: readonly Phone[], at: number, word: string, behind: boolean): Stress {
  const { base } = phones[at] as Phone
  const [next, after] = [phones[at + 1], phones[at + 2]]
  if (base === 'IH' && next?.base === 'NG' && after === undefined) return /.thing$/.test(word) ? 2 : 0
  if (base === 'IH' && isLight(phones, at, word)) return 0
  if (!behind) return 2
  const ending = next === undefined || (after === undefined && /^[ZD]$/.test(next.base))
  if (base === 'IY' && (ending || isVowel(next)) && !/ee[sd]?$/.test(word)) return 0
  return (base === 'ER' || base === 'UW') && isVowel(next) ? 0 : 2
}

/** For a vowel without stress there. */
function none(phones: readonly Phone[], at: number, word: string, behind: boolean): Stress {
  const { base } = phones[at] as Phone
  const next = phones[at + 1]
  if (!behind || next === undefined) return 0
  if (base === 'IH' && next.base === 'NG' && /[^o]thing$/.test(word) && phones[at - 1]?.base === 'TH') return 2
  return full.has(base) ? 2 : 0
}

/** The first syllable of "instead" and "decide", before the main one. */
function isLight(phones: readonly Phone[], at: number, word: string): boolean {
  const first = at === 0 || (at === 1 && /^[bdr]e/.test(word))
  return first && phones.slice(at + 1).find(isVowel)?.stress === 1
}

class Speller {
  #out = ''

  constructor(
    private readonly phones: readonly Phone[],
    private readonly word: string,
  ) {}

  run(): string {
    for (let at = 0; at < this.phones.length; at++) this.#out += this.spell(at)
    return this.#out
  }

  private base(at: number): string {
    return this.phones[at]?.base ?? '#'
  }

  private spell(at: number): string {
    const { base, stress } = this.phones[at] as Phone
    if (stress === null) return this.consonant(at, base)
    const mark = marks[stress]
    if (base === 'ER') return stress === 0 ? 'əɹ' : `${mark}ɜɹ`
    if (this.base(at + 1) === 'R') {
      if (base === 'AE') return `${mark}ɛ`
      if (base === 'IY') return `${mark}ɪ`
      if ((base === 'AY' || base === 'AW') && !isVowel(this.phones[at + 2])) return `${mark}${symbols[base]}ə`
    }
    if (stress !== 0) return mark + symbols[base]
    if (base === 'AH' || base === 'IH') return this.weak(at)
    if (base === 'UW') return this.weakU(at)
    if (base === 'IY' && at === 1 && /^[br]e/.test(this.word) && this.phones.slice(2).find(isVowel)?.stress === 1)
      return 'ə'
    if (base === 'EH' && at === 0) return 'ɪ'
    if (base === 'EH' && this.base(at + 1) === 'N' && this.base(at + 2) === 'T') return 'ə'
    if (base === 'OW' && isVowel(this.phones[at + 1])) return at > 1 && this.isBehind(at) ? 'əw' : 'O'
    if (base === 'EY' && !this.isBehind(at)) return 'ˌA'
    return symbols[base] as string
  }

  private consonant(at: number, base: string): string {
    const next = this.phones[at + 1]
    const before = this.phones[at - 1]
    if (base === 'T') {
      if (next?.base === 'CH') return ''
      if (this.isGlottal(at)) return 't'
      const open = isVowel(before) || before?.base === 'R'
      const beforeN = (next?.base === 'AH' || next?.base === 'IH') && this.base(at + 2) === 'N'
      return open && next?.stress === 0 && !beforeN ? 'T' : 't'
    }
    if (base === 'SH' && before?.base === 'N' && /n[cst]i/.test(this.word)) return 'ʧ'
    if (base === 'HH' && next?.base === 'W') return ''
    if (base === 'L' && this.base(at - 1) === 'K' && this.word.endsWith('ically') && this.base(at + 2) === '#')
      return 'ᵊl'
    return symbols[base] as string
  }

  /** The t of "kitten": behind a stressed vowel and before a syllable that is only an n. */
  private isGlottal(at: number): boolean {
    const before = this.phones[at - 1]
    const open = isVowel(before) ? before?.stress !== 0 : before?.base === 'R' && isVowel(this.phones[at - 2])
    const next = this.phones[at + 1]
    const weak = next?.stress === 0 && (next.base === 'AH' || next.base === 'IH')
    return open && weak && this.base(at + 2) === 'N' && !isVowel(this.phones[at + 3])
  }

  /** Unstressed AH and IH, which the dictionary does not keep apart. */
  private weak(at: number): string {
    const { word } = this
    const [next, second, third] = [this.base(at + 1), this.base(at + 2), this.base(at + 3)]
    const spoken = this.phones[at] as Phone
    if (at === 0) return this.first(next)
    if (next === '#') return 'ə'
    if (next === 'NG') return 'ɪ'
    if (next === 'L' && spoken.base === 'AH') return this.beforeL(at)
    if (next === 'N') return this.beforeN(at)
    const last = second === '#'
    const inflected = (/^[DTZ]$/.test(second) && third === '#') || (this.isWeak(at + 2) && third === 'Z')
    if (next === 'K')
      return last || second === 'S' || (second === 'T' && third === '#' && spoken.base === 'IH') ? 'ɪ' : 'ə'
    if (next === 'V' || next === 'SH' || next === 'JH') return last || inflected ? 'ɪ' : 'ə'
    if (next === 'D' && last && /[^r]ed$|[aeiou]red$/.test(word)) return 'ᵻ'
    if (next === 'Z' && last && sibilants.has(this.base(at - 1))) return 'ᵻ'
    if (next === 'S') return this.beforeS(at)
    return next === 'P' && this.base(at - 1) === 'SH' && /ships?$/.test(word) ? 'ˌɪ' : 'ə'
  }

  /** Whether a stressed syllable precedes it. */
  private isBehind(at: number): boolean {
    return this.phones.slice(0, at).some(({ stress }) => stress === 1 || stress === 2)
  }

  private isWeak(at: number): boolean {
    const phone = this.phones[at]
    return phone?.stress === 0 && (phone.base === 'AH' || phone.base === 'IH')
  }

  private first(next: string): string {
    if ((this.phones[0] as Phone).base === 'IH') return 'ɪ'
    return (next === 'N' && this.word.startsWith('un')) || /^up[^aeo]/.test(this.word) ? 'ˌʌ' : 'ə'
  }

  private beforeS(at: number): string {
    const { word } = this
    const [second, third] = [this.base(at + 2), this.base(at + 3)]
    if (at === 1 && /^[dm]is/.test(word)) {
      if (isVowel(this.phones[at + 2])) return 'ˌɪ'
      return word.startsWith('d') && ['P', 'K', 'T'].includes(second) ? 'ə' : 'ɪ'
    }
    if (second === '#') return word.endsWith('is') ? 'ɪ' : 'ə'
    if (second !== 'T' || (third !== '#' && third !== 'S')) return 'ə'
    if (/ists?$/.test(word)) return 'ɪ'
    return word.endsWith('est') && !plainEst.has(word) ? 'ᵻ' : 'ə'
  }

  private beforeL(at: number): string {
    const before = this.phones[at - 1] as Phone
    const second = this.phones[at + 2]
    if (isVowel(before) || ['R', 'ER', 'L', 'Y', 'W'].includes(before.base)) return 'ə'
    if (second?.base === 'D' || (before.base === 'N' && this.isWeak(at - 2))) return 'ə'
    if (!isVowel(second)) return 'ᵊ'
    const adverb = second?.base === 'IY' && this.base(at + 3) === '#' && before.base === 'K'
    return adverb || /[^aeiou]l(?:ing|er)s?$/.test(this.word) ? 'ᵊ' : 'ə'
  }

  private beforeN(at: number): string {
    const second = this.phones[at + 2]
    const beforeL = second?.base === 'AH' && second.stress === 0 && this.base(at + 3) === 'L'
    if (isVowel(second)) return beforeL || this.base(at - 1) === 'SH' ? 'ᵊ' : 'ə'
    if (this.isGlottal(at - 1) && this.base(at - 1) === 'T') return this.base(at - 2) === 'R' ? 'ᵊ' : ''
    return ['T', 'D', 'S', 'Z'].includes(this.base(at - 1)) ? 'ᵊ' : 'ə'
  }

  /** "actual", "annual": the glide becomes a syllable of its own; "regular": it is weak. */
  private weakU(at: number): string {
    if (!this.isBehind(at)) return 'u'
    if (isVowel(this.phones[at + 1])) return 'əw'
    return this.base(at - 1) === 'Y' && isVowel(this.phones[at + 2]) ? 'ə' : 'u'
  }
}

/** They end in "est" without being the most of anything. */
const plainEst = new Set(
  'interest forest honest dishonest modest immodest harvest tempest conquest earnest rainforest midwest behest'.split(
    ' ',
  ),
)
