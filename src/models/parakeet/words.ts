/** Turns the tokens of a window into its words, with their times and the model's confidence in each. */
import type { Word } from '../sentences.ts'
import type { Emission } from './tdt.ts'
import { isControl, unknownPiece } from './vocabulary.ts'

export interface Timing {
  /** One frame of the encoder. */
  frameMs: number
  /** Length of the window: nothing ends after it. */
  endMs: number
}

/** The mark before a piece that begins a word. */
const wordStart = '▁'
/** Marks that follow a word without space. Quotes may also open, as may hyphens and currency signs. */
const closing = /^[.,!?;:%…)\]}]+$/
const mark = /^\p{P}+$/u
/** Stands for the unknown piece until the whole window is known. */
const unknown = '\uFFFD'
/**
 * The pieces of v3 make every Russian letter but one, and it writes the unknown piece for that one
 * (altic-dev/FluidVoice, issue 888; cjpais/Handy, issue 1264).
 */
const russianUnknown = 'ё'
const russianWord = /^\P{L}*\p{Script=Cyrillic}/u
const ukrainianLetter = /[іїєґ]/iu

/**
 * Joins pieces to words as SentencePiece does; a closing mark belongs to the word before it, even where the model wrote
 * a space between them, as in NeMo.
 */
export function wordsOf(emissions: readonly Emission[], pieces: readonly string[], timing: Timing): Word[] {
  const words: Draft[] = []
  for (const emission of emissions) {
    const piece = pieces[emission.token] ?? ''
    if (isControl(piece) && piece !== unknownPiece) continue
    const text = piece === unknownPiece ? unknown : piece.replaceAll(wordStart, ' ').trim()
    const isMark = mark.test(text)
    const last = words.at(-1)
    const begins = last === undefined || (piece.startsWith(wordStart) && !closing.test(text))
    // A space of its own: whatever comes next decides whether it begins a word.
    if (begins && last?.text !== '') words.push({ text, emissions: [emission], spoken: isMark ? [] : [emission] })
    else if (last !== undefined) {
      last.text += text
      last.emissions.push(emission)
      if (!isMark) last.spoken.push(emission)
    }
  }
  return timed(joined(spelled(words)), timing)
}

/** A missing piece is ё in a Russian word, and otherwise nothing. */
function spelled(words: readonly Draft[]): Draft[] {
  const isUkrainian = words.some(({ text }) => ukrainianLetter.test(text))
  return words.map((word) => {
    const isRussian = !isUkrainian && russianWord.test(word.text)
    return { ...word, text: word.text.replaceAll(unknown, isRussian ? russianUnknown : '') }
  })
}

interface Draft {
  text: string
  emissions: Emission[]
  /** Without marks, which take no time. */
  spoken: Emission[]
}

/** A word that turned out to be only a closing mark joins the one before it; the first has none, and is dropped. */
function joined(words: readonly Draft[]): Draft[] {
  const kept: Draft[] = []
  for (const word of words) {
    const last = kept.at(-1)
    if (word.text === '') continue
    if (!closing.test(word.text)) kept.push(word)
    else if (last !== undefined) {
      last.text += word.text
      last.emissions.push(...word.emissions)
    }
  }
  return kept
}

/** A word ends where its last token does, and at the latest where the next word begins. */
function timed(words: readonly Draft[], { frameMs, endMs }: Timing): Word[] {
  const startOf = ({ emissions }: Draft) => Math.min(emissions[0]!.frame * frameMs, endMs)
  return words.map((word, index) => {
    const { text, emissions, spoken } = word
    const last = (spoken.length > 0 ? spoken : emissions).at(-1)!
    const next = words[index + 1]
    const latestMs = next === undefined ? endMs : startOf(next)
    return {
      text,
      startMs: startOf(word),
      endMs: Math.min((last.frame + Math.max(1, last.frames)) * frameMs, latestMs),
      probability: emissions.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0) / emissions.length,
      tokens: emissions.map(({ token }) => token),
    }
  })
}
