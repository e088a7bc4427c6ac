/** Abbreviations with a full stop, initials, and whether that stop also ends the sentence. */
import { type Before, countsThings, isAlphanumeric, isLetter, match, type Said, spell, tableOf } from './rule.ts'

/** A title or a place: it precedes a name, so its full stop never ends a sentence. */
const leading = tableOf({
  mr: 'Mister',
  mrs: 'Missus',
  ms: 'Miz',
  prof: 'Professor',
  rev: 'Reverend',
  gen: 'General',
  sen: 'Senator',
  rep: 'Representative',
  gov: 'Governor',
  capt: 'Captain',
  lt: 'Lieutenant',
  sgt: 'Sergeant',
  col: 'Colonel',
  maj: 'Major',
  cmdr: 'Commander',
  hon: 'Honorable',
  pres: 'President',
  mt: 'Mount',
  ft: 'Fort',
  st: 'Saint',
  dr: 'Doctor',
  vs: 'versus',
  mme: 'Madame',
  mlle: 'Mademoiselle',
  incl: 'including',
  excl: 'excluding',
  approx: 'approximately',
  dept: 'department',
  univ: 'University',
  cf: 'compare',
  ca: 'circa',
  viz: 'namely',
  messrs: 'Messers',
  pls: 'please',
  attn: 'attention',
  std: 'standard',
  qty: 'quantity',
  acct: 'account',
})
/** Follows the word that it belongs to, so it may end a sentence. */
const trailing = tableOf({
  etc: 'et cetera',
  jr: 'Junior',
  sr: 'Senior',
  inc: 'Incorporated',
  ltd: 'Limited',
  corp: 'Corporation',
  co: 'Company',
  bros: 'Brothers',
  esq: 'Esquire',
  ave: 'Avenue',
  blvd: 'Boulevard',
  rd: 'Road',
  apt: 'apartment',
  est: 'established',
  tel: 'telephone',
  ext: 'extension',
  misc: 'miscellaneous',
  precip: 'precipitation',
  avg: 'average',
  min: 'minimum',
  max: 'maximum',
  assn: 'Association',
  jan: 'January',
  feb: 'February',
  mar: 'March',
  apr: 'April',
  jun: 'June',
  jul: 'July',
  aug: 'August',
  sept: 'September',
  sep: 'September',
  oct: 'October',
  nov: 'November',
  dec: 'December',
  mon: 'Monday',
  tue: 'Tuesday',
  tues: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  thur: 'Thursday',
  thurs: 'Thursday',
  fri: 'Friday',
})
/** Only before a number; elsewhere they are words ("No.", "fig.", "sec."). */
const numbered = tableOf({
  no: 'number',
  nos: 'numbers',
  vol: 'volume',
  fig: 'figure',
  figs: 'figures',
  p: 'page',
  pp: 'pages',
  pg: 'page',
  pgs: 'pages',
  lvl: 'level',
  bldg: 'building',
  elev: 'elevation',
  pop: 'population',
  ep: 'episode',
  pt: 'part',
  ch: 'chapter',
  sec: 'section',
  eq: 'equation',
  art: 'article',
  par: 'paragraph',
  para: 'paragraph',
  v: 'version',
  ver: 'version',
  op: 'opus',
  min: 'minimum',
  max: 'maximum',
  hwy: 'Highway',
  rte: 'Route',
  rt: 'Route',
  rm: 'room',
  dep: 'departure',
  arr: 'arrival',
  ste: 'suite',
})
/** They are words, too. */
const wordlike = /^(?:[Nn]o|pop|art|par|op)$/
/** Before a number even without their stop. */
const withoutStop = /^(?:Apt|Ste|Rm|Vol|Fig|Ep|[Ee]xt)$/
/** Before a year. */
const lives = tableOf({ b: 'born', d: 'died', r: 'reigned', c: 'circa' })
/** Behind the word that makes it one. */
const pairs = tableOf({ 'et al': 'al', 'std dev': 'deviation', 'standard dev': 'deviation' })
const dotted = tableOf({
  'e.g.': 'for example',
  'i.e.': 'that is',
  'a.k.a.': 'also known as',
  'n.b.': 'note well',
  'p.s.': 'P S',
  'ph.d.': 'P H D',
  'a.m.': 'A M',
  'p.m.': 'P M',
  'w.r.t.': 'with respect to',
})
/** Months and days that are words without their stop; only a capital makes them abbreviations. */
const needCapital = new Set(
  'jan mar apr jun jul aug sep oct nov dec mon tue wed thu fri gen col hon pres rep st dr mt ft ms'.split(' '),
)
const undotted = new Set([
  'mr',
  'mrs',
  'ms',
  'dr',
  'prof',
  'vs',
  'blvd',
  'approx',
  'dept',
  'etc',
  'ltd',
  'jr',
  'lt',
  'sgt',
  'capt',
  'cmdr',
  'attn',
  'qty',
])
const starters = new Set(
  (
    'The It He She They We I In But And This That These Those A An However There Then When While If So At On ' +
    'For To As ' +
    'My Your His Her Our Their What Where Why How Who No Yes Not You After Before Now'
  ).split(' '),
)

/** The word after position `at`, past one space and an opening quote; '' if there is none. */
const nextWord = (text: string, at: number): string => match(/ ?["'(]{0,2}([A-Za-z]{1,30})/y, text, at)?.[1] ?? ''
export const startsSentence = (word: string): boolean => starters.has(word)
const beginsCapital = (word: string): boolean => /^[A-Z]/.test(word)

/** Whether the full stop after this word never ends a sentence, because a name follows: `Dr`, `Mt`. */
export const standsBeforeName = (word: string): boolean => Object.hasOwn(leading, word.toLowerCase())

/** Whether a sentence that could end here does: nothing follows, or a word that begins sentences. */
export function mayEnd(text: string, at: number, anyCapital: boolean): boolean {
  const next = nextWord(text, at)
  // oxlint-disable-next-line no-control-regex -- U+0001 and U+0002 mark where a sentence and a paragraph end.
  if (next === '') return /^ ?["')]*(?:$|[\u0001\u0002])/.test(text.slice(at, at + 6))
  return starters.has(next) || (anyCapital && beginsCapital(next))
}

/** An abbreviation whose word ends at `end`. */
export function abbreviationAt(text: string, at: number, word: string, before: Before): Said | null {
  const end = at + word.length
  const stop = text[end] === '.' && !isAlphanumeric(text[end + 1])
  if (word.length === 1) {
    const letters = match(/(?:[A-Za-z]\.){2,6}(?![A-Za-z0-9])/y, text, at)
    if (letters !== null) return lettersAt(text, at, letters[0])
    if (stop && isInitial(text, end, word, before)) return { to: end + 1, words: word }
  }
  const degree = match(/(?:Ph\.D|M\.Sc|B\.Sc)\.?(?![A-Za-z0-9])/y, text, at)
  const degrees = match(/(?:(?:[A-Z]\.){2,4}|Ph\.D\.)'?s(?![A-Za-z0-9])/y, text, at)
  if (degrees !== null)
    return { to: at + degrees[0].length, words: `${spell(degrees[0].replace(/'?s$/, '').replaceAll('.', ''))}'s` }
  if (degree !== null) {
    const to = at + degree[0].length
    return { to, words: spell(degree[0].replaceAll('.', '')), stop: degree[0].endsWith('.') && mayEnd(text, to, false) }
  }
  const lower = word.toLowerCase()
  const isLife = text[at - 1] === '(' || (word === 'c' && isLetter(before.word[0]))
  const life = isLife ? lives[word] : undefined
  if (life !== undefined && match(/\. ?[1-9]\d{2,3}(?!\d)/y, text, end) !== null) return { to: end + 1, words: life }
  // The time zone of New York.
  if (word === 'EST') return null
  const paired = stop ? pairs[`${before.word.toLowerCase()} ${lower}`] : undefined
  if (paired !== undefined) return { to: end + 1, words: paired, stop: mayEnd(text, end + 1, false) }
  if (text[at - 1] === '/' && !(stop && beginsCapital(word))) return null
  if (text[at - 1] === '&') return null
  if (lower === 'v' && stop && beginsCapital(before.word) && beginsCapital(nextWord(text, end + 1)))
    return { to: end + 1, words: 'versus' }
  const to = stop ? end + 1 : end
  const number = numbered[lower] ?? ''
  const figure = number === '' ? null : match(/\. ?\(?(?:\d{1,9}|[IVXL]{1,7}\b|[ivx]{2,6}\b)/y, text, end)
  if (figure !== null && !startsNext(text, end, word, figure[0])) return { to: end + 1, words: number }
  if (withoutStop.test(word) && match(/ #?\d/y, text, end) !== null)
    return { to: end, words: (numbered[lower] ?? trailing[lower]) as string }
  if (!stop && !(undotted.has(lower) && (beginsCapital(word) || leading[lower] === 'versus' || lower === 'etc')))
    return null
  if (word.length > 1 && word === word.toUpperCase() && !stop && lower !== 'mr' && lower !== 'mrs') return null
  if (needCapital.has(lower) && !beginsCapital(word)) return null
  if (lower === 'st' || lower === 'dr') return streetOrTitle(text, to, lower, before)
  const ahead = leading[lower]
  if (ahead !== undefined) return { to, words: ahead }
  const behind = trailing[lower]
  if (behind === undefined || (/^m(?:in|ax)$/.test(lower) && nextWord(text, to) === '')) return null
  return { to, words: behind, stop: stop && mayEnd(text, to, lower === 'etc') }
}

/** "U.S.A.", "e.g.", "p.m.". */
function lettersAt(text: string, at: number, letters: string): Said {
  const known = dotted[letters.toLowerCase()]
  const to = at + letters.length
  const words = known ?? spell(letters.replaceAll('.', ''))
  const inside = known !== undefined && !/ M$| D$/.test(known)
  return { to, words, stop: !inside && mayEnd(text, to, known?.endsWith(' M') === true) }
}

/** The second name of a kind of animal, plant or germ, by its Latin end: "E. coli", "T. rex". */
const kindAhead = /\. (?!(?:this|thus|plus)\b)[a-z]{1,14}(?:i|us|is|um|ae|ex|ens|ans|ana|ica|aster)\b/y

/** One capital with a full stop is an initial if a name is around it: "J. R. R. Tolkien", but not "plan B. We left". */
function isInitial(text: string, end: number, word: string, before: Before): boolean {
  const next = nextWord(text, end + 1)
  if (beginsCapital(word) && match(kindAhead, text, end) !== null) return true
  if (!beginsCapital(word) || !beginsCapital(next) || text[end + 1] !== ' ') return false
  if (before.word === '') return word !== 'I'
  return (beginsCapital(before.word) || /^(?:by|o|from)$/.test(before.word)) && !starters.has(next)
}

/** Whether the figure behind a word begins the next sentence: "a work of art. 40 people". */
const startsNext = (text: string, end: number, word: string, figure: string): boolean =>
  wordlike.test(word) && (figure.includes('(') || (!/^no$/i.test(word) && countsThings(text, end + figure.length)))

function streetOrTitle(text: string, to: number, lower: string, before: Before): Said {
  const next = nextWord(text, to)
  const afterName = beginsCapital(before.word) && !starters.has(before.word)
  const street = afterName && (!beginsCapital(next) || starters.has(next))
  if (!street) return { to, words: leading[lower] as string }
  return { to, words: lower === 'st' ? 'Street' : 'Drive', stop: text[to - 1] === '.' && mayEnd(text, to, false) }
}
