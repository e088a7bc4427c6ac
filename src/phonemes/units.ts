/** English text to the units that chunks are made of. */
import type { Lexicon } from '../text/lexicon.ts'
import type { Unit } from './chunks.ts'
import type { English } from './english.ts'
import { sentences } from './sentences.ts'

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

/** Clauses begin with them, and phrases. */
const clauses = words(
  'and but or nor so yet because since although though while when whenever where wherever if unless until before ' +
    'after that which who whom whose whether as than why how',
)
const phrases = words(
  'in on at to with for from by about into onto through between among against during without within near behind ' +
    'across toward towards along beyond despite per via like upon instead',
)
/** Words that lead to the next one. */
const leading = words(
  'a an the this these those my your his her its our their some any no every each another all both several many ' +
    'few much more most other such what one two three four five six seven eight nine ten twenty thirty forty fifty ' +
    'sixty seventy eighty ninety hundred thousand million of over under i you he she it we they is are was were be ' +
    'been being am has have had will would can could may might must shall should do does did not very too quite ' +
    "really mister missus doctor saint i'm you're he's she's it's we're they're i've we've don't doesn't can't won't",
)

/** @param text as it came; numbers are read and Markdown is not */
export function* englishUnits(text: string, english: English, lexicon: Lexicon): Generator<Unit> {
  for (const { words: said, boundary } of sentences(text, lexicon)) {
    const spoken = english.speak(said)
    for (const [at, { text: word, opening, mark, end }] of said.entries()) {
      const isLast = at === said.length - 1
      const ends = isLast && boundary !== 'clause' ? boundary : 'word'
      const { opens, leads } = jointOf(word.toLowerCase())
      const joint = { ...(opens !== undefined && { opens }), ...(leads === true && mark === '' && { leads }) }
      yield { symbols: opening + (spoken[at] as string) + mark, end, ends, ...joint }
    }
  }
}

function jointOf(word: string): Pick<Unit, 'opens' | 'leads'> {
  const opens = clauses.has(word) ? 'clause' : phrases.has(word) ? 'phrase' : null
  if (opens !== null) return { opens, leads: true }
  return leading.has(word) ? { leads: true } : {}
}
