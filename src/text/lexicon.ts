/**
 * The pronunciation dictionary: what is spoken instead of a word. It looks at the text before any other rule does, so
 * it can also undo them ("IT=it").
 */
import { foldText } from './fold.ts'
import { isAlphanumeric, match, type Said } from './rule.ts'

/** Entries by the lower-case letters or digits they begin with; the longest first. */
export type Lexicon = ReadonlyMap<string, readonly LexiconEntry[]>

export interface LexiconEntry {
  /** Folded, lower case, single spaces. */
  written: string
  /** null: as it is written, by a voice that does not speak phonemes. */
  spoken: string | null
  /** IPA, for voices that use it; null: only the words. */
  phonemes: string | null
}

export const emptyLexicon: Lexicon = new Map()

const lineMax = 500

/**
 * @param text lines `WORD=SPOKEN`, or `WORD=/IPA/` for voices that speak phonemes (the others say the word as it is
 * written); empty lines and lines that begin with `#` are ignored; the last of two equal words wins
 * @throws Error that names the line
 */
export function parseLexicon(text: string): Lexicon {
  const entries = new Map<string, Omit<LexiconEntry, 'written'>>()
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const content = line.replace(/^\ufeff/, '').trim()
    if (content === '' || content.startsWith('#')) continue
    const refuse = (why: string) => new Error(`Line ${index + 1} of the pronunciation dictionary: ${why}.`)
    if (content.length > lineMax) throw refuse(`longer than ${lineMax} characters`)
    const equals = content.indexOf('=')
    if (equals < 0) throw refuse('there is no "=" between the word and what is spoken')
    const written = tidy(foldText(content.slice(0, equals))).toLowerCase()
    if (!/^[a-z0-9]/.test(written))
      throw refuse('the word must begin with a letter or a digit that the voice can speak')
    const phonemes = /^\/([^/]+)\/$/.exec(content.slice(equals + 1).trim())?.[1]?.trim() ?? null
    if (phonemes !== null && !/^[a-z' ]+$/.test(written)) throw refuse('a word with phonemes must consist of letters')
    const spoken = tidy(foldText(content.slice(equals + 1)).replace(/[^A-Za-z0-9' -]/g, ' '))
    if (phonemes === null && !/[A-Za-z0-9]/.test(spoken)) throw refuse('there is nothing to speak after the "="')
    entries.set(written, { spoken: phonemes === null ? spoken : null, phonemes })
  }
  return index(entries)
}

const tidy = (text: string): string => text.replace(/ +/g, ' ').trim()

function index(entries: ReadonlyMap<string, Omit<LexiconEntry, 'written'>>): Lexicon {
  const lexicon = new Map<string, LexiconEntry[]>()
  for (const [written, entry] of entries) {
    const key = match(keyPattern, written, 0)?.[0] as string
    lexicon.set(key, [...(lexicon.get(key) ?? []), { written, ...entry }])
  }
  for (const list of lexicon.values()) list.sort((a, b) => b.written.length - a.written.length)
  return lexicon
}

const keyPattern = /[A-Za-z0-9]{1,500}/y

/** The entry for the whole word or words that begin at `at`, a possessive's ending included. */
export function entryAt(lexicon: Lexicon, text: string, at: number): Said | null {
  if (lexicon.size === 0 || isAlphanumeric(text[at - 1]) || text[at - 1] === "'") return null
  const key = match(keyPattern, text, at)?.[0].toLowerCase()
  for (const entry of (key !== undefined && lexicon.get(key)) || []) {
    const to = at + entry.written.length
    const whole = !isAlphanumeric(entry.written.at(-1)) || !isAlphanumeric(text[to])
    if (whole && text.slice(at, to).toLowerCase() === entry.written) return said(entry, text, at, to)
  }
  return null
}

function said({ spoken, phonemes }: LexiconEntry, text: string, at: number, to: number): Said {
  const ending = match(possessivePattern, text, to)?.[0] ?? ''
  const words = (spoken ?? text.slice(at, to)) + ending
  const end = to + ending.length
  return phonemes === null ? { to: end, words } : { to: end, words, phonemes: phonemes + ending }
}

const possessivePattern = /'s(?![A-Za-z0-9])/y
