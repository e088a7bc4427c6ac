/**
 * "[Kokoro](/kˈOkəɹO/)": how one word of a text is to be spoken, as misaki has it. It looks like a Markdown link, and a
 * link to "/docs/" it stays: phonemes have a stress mark or a letter that English has not.
 *
 * Each is replaced by a made-up word of the same length, which the pronunciation dictionary then knows, so that the
 * text keeps its positions on the way through all other rules.
 */
import { foldText } from '../text/fold.ts'
import type { Lexicon, LexiconEntry } from '../text/lexicon.ts'
import { fromIpa } from './ipa.ts'

const overridePattern = /\[([^[\]\n]{1,100})\]\(\/([^/()\n]{1,200})\/\)/g
const phoneticPattern = /[^\p{ASCII}]/u
/** Beginnings of made-up words; one that the text does not hold. */
const beginnings = ['zq', 'qz', 'xq', 'qx', 'jq', 'qj', 'vq', 'qv']

/** @returns the text and dictionary to continue with: the given ones if there is nothing to replace */
export function takeOverrides(text: string, lexicon: Lexicon): { text: string; lexicon: Lexicon } {
  const lower = text.toLowerCase()
  const beginning = beginnings.find((one) => !lower.includes(one))
  if (beginning === undefined || !text.includes('](/')) return { text, lexicon }
  const both = new Map<string, readonly LexiconEntry[]>(lexicon)
  let count = 0
  const replaced = text.replaceAll(overridePattern, (whole, word: string, written: string, at: number) => {
    const spoken = foldText(word)
      .replace(/[^A-Za-z' ]/g, ' ')
      .trim()
    if (!phoneticPattern.test(written) || fromIpa(written) === '') return whole
    const space = /[A-Za-z0-9']/.test(text[at - 1] ?? '') ? ' ' : ''
    const name = beginning + letters(count++)
    // The word may be followed by letters: "[re](/ɹˌi/)do".
    const gap = /[A-Za-z0-9]/.test(text[at + whole.length] ?? '') ? ' ' : ''
    const width = Array.from(whole).length - space.length - gap.length
    if (name.length > width) return whole
    const made = name.padEnd(width, 'y')
    both.set(made, [{ written: made, spoken: spoken === '' ? 'x' : spoken, phonemes: written }])
    return space + made + gap
  })
  return { text: replaced, lexicon: both }
}

/** 0 is "ax", 24 is "abx": no two numbers alike, whatever y's are put behind them. */
function letters(number: number): string {
  let rest = number
  let name = ''
  do {
    name += String.fromCharCode(97 + (rest % 24))
    rest = Math.floor(rest / 24)
  } while (rest > 0)
  return `${name}x`
}
