/**
 * Words with their times, from those of tokens: punctuation goes to the word that it belongs to, and words next to a
 * pause, whose times say where the pause ends rather than how long they were spoken, are cut to a likely length
 * (openai/whisper, `timing.py`, whose order of steps this is). Times are seconds here, as there: its comparisons are of
 * fractions.
 */
import type { Alignment } from './alignment.ts'
import type { Word } from './word-split.ts'

export interface TimedWord {
  text: string
  startS: number
  endS: number
  probability: number
}

interface Span {
  startS: number
  endS: number
}

/** A segment whose words are to be found. */
export interface Unworded extends Span {
  /** How many tokens its text has. */
  textTokens: number
}

export interface Worded extends Span {
  words: TimedWord[]
}

interface Timing extends TimedWord {
  tokens: number
}

const beforeWords = '"\'“¿([{-'
const afterWords = '"\'.。,，!！?？:：”)]}、'
const sentenceEnds = '.。!！?？'
/** No word is taken for longer than twice this. */
const longestMedianS = 0.7
/** A segment keeps its own time if its words' times differ by more. */
const trustedS = 0.5

/**
 * The words of each segment, and its times adjusted to them.
 * @param words of the text of all segments, in their order @param alignment null if there is no text
 * @param windowS where the window begins
 * @param spokenS where the last word before this window ended
 */
export function timeWords(
  segments: readonly Unworded[],
  words: readonly Word[],
  alignment: Alignment | null,
  { windowS, spokenS }: { windowS: number; spokenS: number },
): Worded[] {
  const timings = alignment === null ? [] : timingsOf(words, alignment)
  const medianS = medianLength(timings)
  if (medianS > 0) cutAtSentenceEnds(timings, 2 * medianS)
  mergePunctuation(timings)
  let lastS = spokenS
  let next = 0
  return segments.map(({ startS, endS, textTokens }) => {
    const own: TimedWord[] = []
    for (let taken = 0; next < timings.length && taken < textTokens; next++) {
      const { text, startS: fromS, endS: toS, probability, tokens } = timings[next]!
      const times = { startS: hundredths(windowS + fromS), endS: hundredths(windowS + toS) }
      if (text !== '') own.push({ text, ...times, probability })
      taken += tokens
    }
    const drawn = own.length === 0 ? { startS, endS } : drawTogether({ startS, endS }, own, lastS, medianS)
    if (own.length > 0) lastS = drawn.endS
    return { ...drawn, words: own }
  })
}

function timingsOf(words: readonly Word[], { startS, probability }: Alignment): Timing[] {
  let at = 0
  return words.map(({ text, tokens: { length } }) => {
    const start = at
    at += length
    const sum = probability.slice(start, at).reduce((total, value) => total + value, 0)
    return { text, tokens: length, startS: startS[start]!, endS: startS[at]!, probability: sum / length }
  })
}

/** 0 without a word that takes any time. */
function medianLength(timings: readonly Timing[]): number {
  const lengths = timings.map(lengthOf).filter((length) => length !== 0)
  if (lengths.length === 0) return 0
  const sorted = lengths.sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return Math.min(longestMedianS, median)
}

/** A pause after a sentence is often given to its mark, or to the word after it. */
function cutAtSentenceEnds(timings: readonly Timing[], maxS: number): void {
  for (const [index, timing] of timings.entries()) {
    const before = timings[index - 1]
    if (before === undefined || lengthOf(timing) <= maxS) continue
    if (sentenceEnds.includes(timing.text)) timing.endS = timing.startS + maxS
    else if (sentenceEnds.includes(before.text)) timing.startS = timing.endS - maxS
  }
}

function mergePunctuation(timings: readonly Timing[]): void {
  let following = timings.length - 1
  for (let index = timings.length - 2; index >= 0; index--) {
    const [mark, word] = [timings[index]!, timings[following]!]
    if (mark.text.startsWith(' ') && beforeWords.includes(mark.text.trim())) merge(word, mark, mark.text + word.text)
    else following = index
  }
  let previous = 0
  for (let index = 1; index < timings.length; index++) {
    const [word, mark] = [timings[previous]!, timings[index]!]
    if (!word.text.endsWith(' ') && afterWords.includes(mark.text)) merge(word, mark, word.text + mark.text)
    else previous = index
  }
}

function merge(into: Timing, mark: Timing, text: string): void {
  into.text = text
  into.tokens += mark.tokens
  mark.text = ''
  mark.tokens = 0
}

/** @param words of the segment, changed in place @param lastS where the word before them ended */
function drawTogether(segment: Span, words: TimedWord[], lastS: number, medianS: number): Span {
  const first = words[0]!
  const last = words.at(-1)!
  cutAfterPause(words, lastS, medianS)
  const drawn = { startS: first.startS, endS: last.endS }
  if (segment.startS < first.endS && segment.startS - trustedS > first.startS) {
    first.startS = Math.max(0, Math.min(first.endS - medianS, segment.startS))
    drawn.startS = segment.startS
  }
  if (segment.endS > last.startS && segment.endS + trustedS < last.endS) {
    last.endS = Math.max(last.startS + medianS, segment.endS)
    drawn.endS = segment.endS
  } else drawn.endS = last.endS
  return drawn
}

/** The first word or two after a pause. */
function cutAfterPause(words: readonly TimedWord[], lastS: number, medianS: number): void {
  const [first, second] = [words[0]!, words[1]]
  const maxS = 2 * medianS
  const isLong = lengthOf(first) > maxS || (second !== undefined && second.endS - first.startS > 2 * maxS)
  if (first.endS - lastS <= 4 * medianS || !isLong) return
  if (second !== undefined && lengthOf(second) > maxS) {
    const boundaryS = Math.max(second.endS / 2, second.endS - maxS)
    first.endS = boundaryS
    second.startS = boundaryS
  }
  first.startS = Math.max(0, first.endS - maxS)
}

const lengthOf = ({ startS, endS }: Span): number => endS - startS
const hundredths = (seconds: number): number => Math.round(seconds * 100) / 100
