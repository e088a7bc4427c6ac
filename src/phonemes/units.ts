/** English text to the units that chunks are made of. */
import type { Lexicon } from '../text/lexicon.ts'
import type { Unit } from './chunks.ts'
import type { English } from './english.ts'
import { sentences } from './sentences.ts'

/** @param text as it came; numbers are read and Markdown is not */
export function* englishUnits(text: string, english: English, lexicon: Lexicon): Generator<Unit> {
  for (const { words, boundary } of sentences(text, lexicon)) {
    const spoken = english.speak(words)
    for (const [at, { opening, mark, end }] of words.entries()) {
      const isLast = at === words.length - 1
      const ends = isLast && boundary !== 'clause' ? boundary : 'word'
      yield { symbols: opening + (spoken[at] as string) + mark, end, ends }
    }
  }
}
