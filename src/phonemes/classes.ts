/**
 * Finds what a word is in its sentence, from the words around it: enough to distinguish "the record" from "they
 * record". Not a tagger for all words, only for those whose sound depends on it.
 */
import type { WordClass } from './heteronyms.ts'

/** `predicate`: behind "is" or "are"; an adjective or a participle. */
type Use = WordClass | 'predicate'

const list = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const determiners = list(
  'the a an this these those my your his its our their no every each some any another such whose one two three four ' +
    'five six seven eight nine ten first second third last next same other own many few several more most',
)
const subjects = list("i you he she it we they who there that which what i'd you'd we'd they'd he'd she'd")
const objects = list(
  'me him them us it you her everything everyone something someone anything anyone nothing nobody both all',
)
/** Plurals in form alone: what follows them is no verb. */
const noPlurals = list('news sales sports customs arms goods games physics mathematics politics economics this us yes')
const leaders = list(
  "to will would can could may might must shall should do does did don't doesn't didn't won't wouldn't can't cannot " +
    "couldn't shouldn't let let's please i'll you'll he'll she'll it'll we'll they'll not",
)
const havings = list("have has had having i've you've we've they've haven't hasn't hadn't")
const beings = list(
  "is are was were be been being am i'm you're we're they're he's she's it's isn't aren't wasn't weren't",
)
const prepositions = list(
  'of in on at by for with from into onto about over under through between against during without within per upon ' +
    'across behind beyond near toward towards via as than like',
)
const adverbs = list(
  'never always also often just still then really only even usually already now ever sometimes soon once again well ' +
    'both all either neither rather quite very too so not',
)
const joins = list('and or but nor')
const connectives = list('when while if because since after before until where although though unless how why whether')

/** "last year" is over; "the last year" may be what is read, and "last year's" is. */
const times = list(
  'night week weekend month quarter year decade century time spring summer autumn fall winter monday tuesday ' +
    'wednesday thursday friday saturday sunday january february march april may june july august september ' +
    'october november december',
)
/** After these a verb may have no ending: "people use", "they help use". */
const bare = list('people men women children police help helps helped helping go come')
/** Verbs, as often as not, behind a name: "Anna read in bed". */
const oftenVerbs = list('read live')
const isAdverb = (word: string): boolean => adverbs.has(word) || (word.endsWith('ly') && word.length > 4)
const isAdjective = (word: string): boolean => /(?:al|ive|ous|ful|ic|able|ible|less|ish|ary|ent|ant|est)$/.test(word)

/**
 * @param words of the sentence, lower case @param breaks whether a pause follows each
 * @returns null if the words around it do not decide
 */
export function classOf(words: readonly string[], breaks: readonly boolean[], at: number): Use | null {
  const plural = (words[at] as string).endsWith('s')
  const left = leftOf(words, breaks, at)
  const right = breaks[at] ? '' : (words[at + 1] ?? '')
  const takesObject = isObject(right)
  if (right === 'case' || right === 'cases') return 'noun'
  if (left === '') return plural ? 'noun' : takesObject ? 'verb' : null
  if (leaders.has(left)) return left === 'to' && plural ? 'noun' : 'verb'
  if (havings.has(left)) return plural ? 'noun' : 'past'
  if (beings.has(left) || left === 'how') return 'predicate'
  // "This presents a problem."
  if (plural && takesObject && /^(?:this|that|it|which|who|he|she)$/.test(left)) return 'verb'
  if (determiners.has(left) || left === 'her' || left.endsWith("'s")) return plural ? 'noun' : naming(right)
  if (/^(?:that|which|what)$/.test(left)) return takesObject ? 'verb' : null
  if (subjects.has(left) || connectives.has(left)) return 'verb'
  if (prepositions.has(left)) return naming(right)
  if (takesObject) return 'verb'
  if (isAdjective(left)) return 'noun'
  if (!plural && isPlural(left) && isEnd(right) && !hasArticle(words, at)) return 'verb'
  // "memory use", "make use of": after a singular noun a verb would have an ending.
  const isVerb = oftenVerbs.has(words[at] as string) && !/^an?$/.test(words[at - 2] ?? '')
  const isName = !plural && !left.endsWith('s') && !bare.has(left) && !isVerb
  return isName && isEnd(right) ? 'noun' : null
}

/** Whether a word is what something is done to, or begins it: "it", "the". */
export const isObject = (word: string): boolean => determiners.has(word) || objects.has(word)

/** "The shops close", but not "a sales increase". */
const isPlural = (word: string): boolean => /[^su'i]s$/.test(word) && !noPlurals.has(word) && !isAdverb(word)
const hasArticle = (words: readonly string[], at: number): boolean =>
  words.slice(Math.max(0, at - 3), at).some((word) => word === 'a' || word === 'an')

/** The next word on the left that is not an adverb; '' at the start of a phrase. */
function leftOf(words: readonly string[], breaks: readonly boolean[], at: number): string {
  for (let before = at - 1; before >= 0; before--) {
    if (breaks[before]) return ''
    const word = words[before] as string
    if (!isAdverb(word)) return word
  }
  return ''
}

const isEnd = (right: string): boolean =>
  right === '' || prepositions.has(right) || beings.has(right) || havings.has(right) || leaders.has(right)

const isName = (right: string): boolean => !isEnd(right) && !joins.has(right) && !connectives.has(right)

/** After "the": before another noun it describes it. */
const naming = (right: string): WordClass =>
  isName(right) && !isAdverb(right) && !subjects.has(right) && !determiners.has(right) ? 'adjective' : 'noun'

/** Whether "read" is "red" here: after a helping verb, a subject that would require "reads", or with a past time. */
export function isPast(words: readonly string[], breaks: readonly boolean[], at: number): boolean {
  const left = leftOf(words, breaks, at)
  if (havings.has(left) || beings.has(left) || left === 'well') return true
  const before = subjects.has(left) ? (words[at - 2] ?? '') : ''
  if (havings.has(before)) return true
  if (leaders.has(left) || leaders.has(before)) return false
  if (['he', 'she', 'it', 'who'].includes(left)) return true
  // "The sign read": now it would read so with an ending.
  const isOne = /^(?:the|this|my|his|her|their|our|its)$/.test(words[at - 2] ?? '') && !left.endsWith('s')
  if (isOne && !words.slice(0, at).some((word) => leaders.has(word) || bare.has(word))) return true
  const isOver = (word: string, index: number) =>
    ['yesterday', 'ago', 'was', 'were', 'had'].includes(word) ||
    /[^e]ed$/.test(word) ||
    (word === 'last' && times.has(words[index + 1] ?? '') && words[index - 1] !== 'the')
  return words.some(isOver)
}
