/**
 * Turns the phones of the dictionary, which are American, into the symbols that British Kokoro voices were trained on.
 * Systematic differences are converted by rule: r only before vowels, long vowels marked, "bath" and "hot", the glide
 * of "new". Where words differ individually ("schedule", "tomato") the American word stays, except for the few in
 * `british-words.ts`. The letters of the word distinguish vowels that are one in America; `spellings` finds the
 * letters of each vowel.
 */
import { britishPhones, isBath } from './british-words.ts'
import { isVowel, type Phone } from './phones.ts'

// prettier-ignore
const symbols: Readonly<Record<string, string>> = {
  AA: 'ɑː', AE: 'a', AH: 'ʌ', AO: 'ɔː', AW: 'W', AY: 'I', EH: 'ɛ', EY: 'A', IH: 'ɪ', IY: 'iː', OW: 'Q', OY: 'Y',
  UH: 'ʊ', UW: 'uː', B: 'b', CH: 'ʧ', D: 'd', DH: 'ð', F: 'f', G: 'ɡ', HH: 'h', JH: 'ʤ', K: 'k', L: 'l', M: 'm',
  N: 'n', NG: 'ŋ', P: 'p', R: 'ɹ', S: 's', SH: 'ʃ', T: 't', TH: 'θ', V: 'v', W: 'w', Y: 'j', Z: 'z', ZH: 'ʒ',
}
const marks = ['', 'ˈ', 'ˌ'] as const
/** Vowels before an r that is not spoken. */
// prettier-ignore
const beforeR: Readonly<Record<string, string>> = {
  AA: 'ɑː', AO: 'ɔː', OW: 'ɔː', EH: 'ɛː', AE: 'ɛː', EY: 'ɛː', IH: 'ɪə', IY: 'ɪə', UH: 'ʊə', UW: 'ʊə', AY: 'Iə',
  AW: 'Wə',
}

/** @param word lower case @returns never empty when `phones` is not */
export function british(phones: readonly Phone[], word: string): string {
  const own = restressed(britishPhones(word) ?? phones)
  return new Speller(own, word, spellings(own, word)).run()
}

/** Of two main stresses, the last one is the word's. */
function restressed(phones: readonly Phone[]): Phone[] {
  const main = phones.findLastIndex(({ stress }) => stress === 1)
  return phones.map((phone, at) => (phone.stress === 1 && at < main ? { ...phone, stress: 2 } : phone))
}

/**
 * The letters of each vowel, '' if unknown. Vowels and groups of vowel letters are paired in order, without silent e's.
 */
function spellings(phones: readonly Phone[], word: string): string[] {
  const spoken = phones.filter(isVowel).length
  const groups = [...word.matchAll(/(?:^|(?<=[^aeiouy]))(?:(?<=q)u)?([aeiouy]+)/g)].map((match) => match[1] as string)
  const silent = /[^aeiouy]e(?:s|d|ly|ness|ment|less|ful)?$/.test(word) ? groups.length - tail(word) : -1
  const all = groups.length === spoken ? groups : groups.filter((_, index) => index !== silent)
  if (all.length === spoken) return all
  const only = new Set(groups.map((group) => group[0]))
  return Array.from({ length: spoken }, () => (only.size === 1 ? (groups[0] as string) : ''))
}

/** Index from the end of the group with the silent e of "namely". */
const tail = (word: string): number => (/e(?:s|d)?$/.test(word) ? 1 : 2)

class Speller {
  #out = ''
  #vowel = -1

  constructor(
    private readonly phones: readonly Phone[],
    private readonly word: string,
    private readonly written: readonly string[],
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
    this.#vowel++
    const letters = this.written[this.#vowel] ?? ''
    // There is no second stress after the main one.
    const light = at === 0 && base === 'IH' && this.phones.slice(1).find(isVowel)?.stress === 1
    const behind = light || this.#out.includes('ˈ')
    return (behind ? '' : marks[stress]) + this.vowel(at, base, stress !== 0, letters)
  }

  private consonant(at: number, base: string): string {
    const next = this.phones[at + 1]
    if (base === 'R') return isVowel(next) ? 'ɹ' : ''
    if (base === 'T' && next?.base === 'CH') return ''
    if (base === 'HH' && next?.base === 'W') return ''
    const glide = (base === 'T' || base === 'D' || base === 'N') && next?.base === 'UW'
    const letters = this.written[this.#vowel + 1] ?? ''
    return symbols[base] + (glide && /^(?:u|e)/.test(letters) ? 'j' : '')
  }

  private vowel(at: number, base: string, isStressed: boolean, letters: string): string {
    if (base === 'ER') return this.ofEr(at, isStressed)
    if (this.base(at + 1) === 'R') return this.ofR(at, base, letters)
    if (at === 0 && /^(?:un|up)[^aeo]/.test(this.word) && base === 'AH') return 'ʌ'
    if (!isStressed && (base === 'AH' || base === 'IH')) return this.weak(at, letters)
    if (base === 'AA')
      return /a/.test(letters) && !/wa|qua/.test(this.word) ? 'ɑː' : letters === '' ? 'ɒ' : this.ofO(letters)
    if (base === 'AO') return /^o$/.test(letters) ? 'ɒ' : 'ɔː'
    if (base === 'AE') return isBath(this.word) ? 'ɑː' : 'a'
    if (base === 'EH' && at === 0 && !isStressed) return 'ɪ'
    if (base === 'IY') return this.ofIy(at, isStressed)
    if (base === 'UW') return isStressed || (!isVowel(this.phones[at + 1]) && this.base(at - 1) !== 'Y') ? 'uː' : 'ʊ'
    return symbols[base] as string
  }

  private ofO(letters: string): string {
    return /o|a/.test(letters) ? 'ɒ' : 'ɑː'
  }

  private ofEr(at: number, isStressed: boolean): string {
    const link = isVowel(this.phones[at + 1]) ? 'ɹ' : ''
    if (!isStressed) return `ə${link}`
    return link !== '' && /urr|our|orr/.test(this.word) ? 'ʌɹ' : `ɜː${link}`
  }

  /** Before an r: long or centring, but short where the r belongs to the next syllable ("merry", "spirit"). */
  private ofR(at: number, base: string, letters: string): string {
    const linked = isVowel(this.phones[at + 2])
    // "military", "territory"
    if (/[ao]ry$/.test(this.word) && this.base(at + 2) === 'IY' && this.#out.includes('ˈ')) return 'ə'
    if (linked && /^[iy]$/.test(letters) && (base === 'IH' || base === 'IY')) return 'ɪ'
    if (linked && (base === 'EH' || base === 'AE')) {
      if (letters === 'e') return 'ɛ'
      if (letters === 'a' && /arr|ari|aro|ara/.test(this.word)) return 'a'
    }
    if (linked && (base === 'AO' || base === 'AA') && letters === 'o' && !/or[ey]$|ori/.test(this.word)) return 'ɒ'
    return beforeR[base] ?? (symbols[base] as string)
  }

  private ofIy(at: number, isStressed: boolean): string {
    const next = this.phones[at + 1]
    const ending = next === undefined || (/^[ZD]$/.test(next.base) && this.phones[at + 2] === undefined)
    if (ending && this.#out.includes('ˈ') && !/ee[sd]?$/.test(this.word)) return 'i'
    if (isStressed) return next?.base === 'AH' && next.stress === 0 ? 'ɪ' : 'iː'
    return 'ɪ'
  }

  /** Unstressed AH and IH: i and e keep their sound, the other letters have schwa; none before l and n at the end. */
  private weak(at: number, letters: string): string {
    const [next, second] = [this.base(at + 1), this.phones[at + 2]]
    const before = this.phones[at - 1]
    const closed = !isVowel(second) && !isVowel(before) && before !== undefined
    if (next === 'NG') return 'ɪ'
    if (before?.base === 'Y' && next !== '#' && next !== 'N') return 'ʊ'
    if ((next === 'D' && this.word.endsWith('ed')) || (next === 'Z' && second === undefined)) return 'ɪ'
    if (next === 'L' && before?.base === 'K' && this.word.endsWith('ically')) return ''
    if (next === 'S' && /(?:ness|less)$/.test(this.word) && second === undefined) return 'ə'
    if (next === 'S' && this.base(at + 2) === 'T' && /ist/.test(this.word)) return 'ɪ'
    if (next === 'L' && this.word.endsWith('ile') && second === undefined) return 'I'
    if (next === 'L' && closed && before?.base !== 'R' && before?.base !== 'L') return 'ᵊ'
    if (next === 'N' && second === undefined && closed && !['R', 'L', 'N', 'M'].includes(before?.base ?? '')) return 'ᵊ'
    if (next === 'Z' && /i[sz]ation/.test(this.word) && this.base(at + 2) === 'EY') return 'I'
    if (/^(?:i|y|ui|ai|ei)$/.test(letters)) return 'ɪ'
    if (/^ea?$/.test(letters)) return next === 'N' || next === 'L' || next === 'M' || next === '#' ? 'ə' : 'ɪ'
    if (letters === 'a' && next === 'JH') return 'ɪ'
    if (letters === '' && (this.phones[at] as Phone).base === 'IH') return 'ɪ'
    return 'ə'
  }
}
