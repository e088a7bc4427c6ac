import { expect, test } from 'bun:test'
import { emptyLexicon } from '../text/lexicon.ts'
import { chunks } from './chunks.ts'
import { English } from './english.ts'
import { loadPronouncer } from './pronouncer.ts'
import { englishUnits } from './units.ts'

const english = new English(await loadPronouncer(), 'american')

/** As short as hibari's. */
const limits = { most: 100, enough: 60, first: 40, firstMost: 60 }

test.each([
  ['The weather in Paris tomorrow will be mostly sunny |with a high of 24 degrees and a gentle breeze from the west.'],
  ["I've turned off the lights in the living room |and set the thermostat to sixty eight degrees."],
  ['Okay. I have added milk and eggs |and a loaf of bread to your shopping list for the trip on Saturday morning.'],
  ['A binary search tree is a data structure |in which each node has at most two children of its own kind.'],
  ['The package you ordered last Tuesday has been shipped |and should arrive at your door before the week ends.'],
])('a sentence is first cut where a reader would breathe: %s', async (marked) => {
  const text = marked.replace('|', '')
  const [first] = await Array.fromAsync(chunks(englishUnits(text, english, emptyLexicon), limits))
  expect(text.slice(0, first!.coveredChars)).toBe(marked.slice(0, marked.indexOf('|')).trimEnd())
})
