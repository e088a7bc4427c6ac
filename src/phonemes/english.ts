/**
 * English sentences to the symbols that Kokoro voices were taught. Words are spoken from the last to the first, for
 * some are spoken by what follows them ("the" before a vowel, "used to").
 */
import { american } from './american.ts'
import { british } from './british.ts'
import { classOf, isObject, isPast } from './classes.ts'
import { collocated } from './collocations.ts'
import { type Readings, readings } from './heteronyms.ts'
import { fromIpa } from './ipa.ts'
import type { Phone } from './phones.ts'
import { type Pronouncer, spelled } from './pronouncer.ts'
import { type Accent, reduced, stressed } from './reductions.ts'

export interface Word {
  /** ASCII letters, apostrophes and hyphens; its letters for an initialism. */
  text: string
  /** Whether it is spelled out. */
  spelled: boolean
  /** IPA that the user gave for it. */
  phonemes: string | null
  /** Whether a pause follows it. */
  pause: boolean
}

/** Symbols that a vowel can begin with, as far as the word before it cares. */
const vowelFirst = /^[ˈˌ]?[AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ]/

export class English {
  readonly #pronouncer: Pronouncer
  readonly #accent: Accent
  readonly #spell: (phones: readonly Phone[], word: string) => string

  constructor(pronouncer: Pronouncer, accent: Accent) {
    this.#pronouncer = pronouncer
    this.#accent = accent
    this.#spell = accent === 'american' ? american : british
  }

  /** @param words of one sentence, or of a part of it @returns for each its symbols, never empty */
  speak(words: readonly Word[]): string[] {
    const sentence = new Sentence(words)
    const spoken: string[] = []
    for (let at = words.length - 1; at >= 0; at--) {
      const next = (words[at] as Word).pause ? undefined : spoken[0]
      spoken.unshift(this.#word(sentence, at, next))
    }
    return spoken
  }

  /** @param next how the next word is spoken; undefined: a pause comes first */
  #word(sentence: Sentence, at: number, next: string | undefined): string {
    const { text, spelled: isSpelled, phonemes } = sentence.words[at] as Word
    const given = phonemes === null ? '' : fromIpa(phonemes)
    if (given !== '') return given
    if (isSpelled) return this.#letters(text)
    const parts = text.split('-').filter((part) => part !== '')
    if (parts.length !== 1) return parts.map((part) => this.#plain(part)).join('') || this.#plain(text)
    const word = sentence.lower[at] as string
    const own = special(sentence, at, next, this.#accent)
    const small = own ?? reduced(word, next === undefined, this.#accent)
    if (small !== null) return emphasised(small, text, at === 0)
    const sense = collocated(sentence.lower, at)
    if (sense !== null) return this.#spell(sense, word)
    const kinds = readings(word, (stem) => this.#pronouncer.known(stem))
    if (kinds !== null) return this.#spell(sentence.choose(kinds, at), word)
    return this.#plain(text)
  }

  #letters(text: string): string {
    const ending = /'s$/i.exec(text) === null ? '' : 's'
    const names = this.#spell(spelled(text.replace(/'s$/i, '')), '')
    return ending === ''
      ? names
      : names + (/[ptkf]$/.test(names) ? 's' : /[szʃʧ]$/.test(names) ? this.#weakI('z') : 'z')
  }

  #weakI(ending: string): string {
    return (this.#accent === 'american' ? 'ᵻ' : 'ɪ') + ending
  }

  #plain(text: string): string {
    const word = text.toLowerCase()
    const isName = /^[A-Z]/.test(text) && text !== text.toUpperCase()
    return this.#spell(this.#pronouncer.phones(word.replace(/[^a-z']/g, ''), isName), word)
  }
}

/** The words of a sentence with what the rules ask of them. */
class Sentence {
  readonly lower: readonly string[]
  readonly breaks: readonly boolean[]

  constructor(readonly words: readonly Word[]) {
    this.lower = words.map(({ text }) => text.toLowerCase())
    this.breaks = words.map(({ pause }) => pause)
  }

  choose(kinds: Readings, at: number): readonly Phone[] {
    const usual = kinds.values().next().value as readonly Phone[]
    if (kinds.size === 1) return usual
    const kind = classOf(this.lower, this.breaks, at)
    const word = this.lower[at] as string
    if (word === 'read' && kind !== 'noun' && isPast(this.lower, this.breaks, at)) return kinds.get('past') ?? usual
    if (kind === null) return usual
    // "She wound the clock": now it would have an ending.
    if (kind === 'verb' && /^(?:he|she|it|who)$/.test(this.lower[at - 1] ?? ''))
      return kinds.get('past') ?? kinds.get('verb') ?? usual
    // "It was wound up": a participle describes, too. "The produce aisle": so does a noun.
    if (kind === 'predicate') return kinds.get('adjective') ?? kinds.get('past') ?? usual
    return kinds.get(kind) ?? (kind === 'adjective' ? kinds.get('noun') : undefined) ?? usual
  }
}

/** Words whose sound is set by their neighbours. */
function special(sentence: Sentence, at: number, next: string | undefined, accent: Accent): string | null {
  const word = sentence.lower[at] as string
  const { text } = sentence.words[at] as Word
  const atEnd = next === undefined
  const [long, open] = accent === 'american' ? ['', 'æ'] : ['ː', 'a']
  const vowel = next !== undefined && vowelFirst.test(next)
  if (word === 'a') return atEnd || (text === 'A' && at > 0) ? 'ˈA' : 'ɐ'
  if (word === 'an') return 'ɐn'
  if (word === 'the') return vowel ? 'ði' : 'ðə'
  if (word === 'to') return atEnd ? `tu${long}` : vowel ? 'tʊ' : 'tə'
  if (word === 'am') return atEnd ? `${open}m` : 'ɐm'
  if (word === 'in') return atEnd ? 'ˈɪn' : 'ɪn'
  if (word === 'used') return isHabit(sentence, at) ? `jˈu${long}st` : `jˈu${long}zd`
  if (text === 'Polish' && at === 0 && next !== undefined && !isObject(sentence.lower[1] ?? '')) return 'pˈOlɪʃ'
  if (at > 0 && Object.hasOwn(capitalised, text)) return capitalised[text] as string
  if (word === 'that') return isPointing(sentence, at) ? `ðˈ${open}t` : null
  if (word === 'may' || word === 'will') return text !== word && at > 0 ? `${word === 'may' ? 'mˈA' : 'wˈɪl'}` : null
  return null
}

/** Spoken otherwise with a capital that no sentence asks for. */
const capitalised: Readonly<Record<string, string>> = { Polish: 'pˈOlɪʃ', Nice: 'nˈis' }

/** "She used to cut it" and "he is used to it", but not "it is used to cut". */
function isHabit({ lower }: Sentence, at: number): boolean {
  if (lower[at + 1] !== 'to') return false
  const what = lower[at + 2] ?? ''
  return !/^(?:is|are|was|were|be|been|being|it's)$/.test(lower[at - 1] ?? '') || isObject(what) || what.endsWith('ing')
}

/** "that" which points at something: "that day", "after that.", "that is". */
function isPointing({ lower, breaks }: Sentence, at: number): boolean {
  const next = breaks[at] ? '' : (lower[at + 1] ?? '')
  const before = at > 0 && !breaks[at - 1] ? (lower[at - 1] ?? '') : ''
  if (next === '') return true
  if (/^(?:is|was|would|will|could|might|should|must|can|has|had)$/.test(next))
    return before === '' || isPreposition(before)
  return isPreposition(before)
}

const isPreposition = (word: string): boolean =>
  /^(?:of|in|on|at|by|for|with|from|into|about|like|after|before|to|and|all|do|does|did|than|as|at)$/.test(word)

const neverLight = new Set(['a', 'an', 'the', 'to', 'in', 'am'])

/** A word in capitals is said with weight, one that begins a sentence lightly. */
function emphasised(phonemes: string, text: string, isFirst: boolean): string {
  if (text.length > 1 && text === text.toUpperCase()) return stressed(phonemes, 'ˈ')
  const light = (isFirst || text.length > 1) && /^[A-Z]/.test(text) && !neverLight.has(text.toLowerCase())
  return light ? stressed(phonemes, 'ˌ') : phonemes
}
