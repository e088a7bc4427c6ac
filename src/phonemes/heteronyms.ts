/**
 * Words that are written alike and spoken by what they are in their sentence: "a record" and "to record", "they read"
 * and "had read". Which they are, `classes.ts` says.
 */
import { withEd, withS } from './inflections.ts'
import { type Phone, parsePhones } from './phones.ts'

/** What a word is in its sentence. `past` is a verb's past or its participle. */
export type WordClass = 'noun' | 'verb' | 'past' | 'adjective'

/** The pronunciation of each class; the first one applies to classes without one. */
export type Readings = ReadonlyMap<WordClass, readonly Phone[]>

const letters: Readonly<Record<string, WordClass>> = { n: 'noun', v: 'verb', p: 'past', a: 'adjective' }

/** n: noun, v: verb, p: past, a: adjective; what comes first is the usual one. */
const written: Readonly<Record<string, string>> = {
  absent: 'a AE1 B S AH0 N T|v AE0 B S EH1 N T',
  abstract: 'a AE1 B S T R AE2 K T|v AH0 B S T R AE1 K T',
  abuse: 'n AH0 B Y UW1 S|v AH0 B Y UW1 Z',
  address: 'v AH0 D R EH1 S|n AH0 D R EH1 S',
  affect: 'v AH0 F EH1 K T|n AE1 F EH2 K T',
  attribute: 'n AE1 T R AH0 B Y UW2 T|v AH0 T R IH1 B Y UW2 T',
  bow: 'n B OW1|v B AW1',
  buffet: 'n B AH0 F EY1|v B AH1 F AH0 T',
  close: 'a K L OW1 S|v K L OW1 Z',
  combat: 'n K AA1 M B AE2 T|v K AH0 M B AE1 T',
  combine: 'v K AH0 M B AY1 N|n K AA1 M B AY2 N',
  compact: 'a K AA1 M P AE2 K T|v K AH0 M P AE1 K T',
  compound: 'n K AA1 M P AW2 N D|v K AH0 M P AW1 N D',
  compress: 'v K AH0 M P R EH1 S|n K AA1 M P R EH2 S',
  concert: 'n K AA1 N S ER0 T|v K AH0 N S ER1 T',
  conduct: 'v K AH0 N D AH1 K T|n K AA1 N D AH2 K T',
  confine: 'v K AH0 N F AY1 N|n K AA1 N F AY2 N',
  conflict: 'n K AA1 N F L IH2 K T|v K AH0 N F L IH1 K T',
  console: 'n K AA1 N S OW2 L|v K AH0 N S OW1 L',
  construct: 'v K AH0 N S T R AH1 K T|n K AA1 N S T R AH2 K T',
  content: 'n K AA1 N T EH0 N T|a K AH0 N T EH1 N T',
  contest: 'n K AA1 N T EH2 S T|v K AH0 N T EH1 S T',
  contract: 'n K AA1 N T R AE2 K T|v K AH0 N T R AE1 K T',
  contrast: 'n K AA1 N T R AE2 S T|v K AH0 N T R AE1 S T',
  converse: 'v K AH0 N V ER1 S|n K AA1 N V ER2 S|a K AA1 N V ER2 S',
  convert: 'v K AH0 N V ER1 T|n K AA1 N V ER2 T',
  convict: 'v K AH0 N V IH1 K T|n K AA1 N V IH2 K T',
  decrease: 'v D IH0 K R IY1 S|n D IY1 K R IY2 S',
  defect: 'n D IY1 F EH2 K T|v D IH0 F EH1 K T',
  desert: 'n D EH1 Z ER0 T|v D IH0 Z ER1 T',
  diffuse: 'v D IH0 F Y UW1 Z|a D IH0 F Y UW1 S',
  digest: 'v D AY0 JH EH1 S T|n D AY1 JH EH2 S T',
  discharge: 'v D IH0 S CH AA1 R JH|n D IH1 S CH AA2 R JH',
  discount: 'n D IH1 S K AW2 N T|v D IH2 S K AW1 N T',
  document: 'n D AA1 K Y AH0 M AH0 N T|v D AA1 K Y AH0 M EH2 N T',
  dogged: 'a D AO1 G IH0 D|p D AO1 G D',
  dove: 'n D AH1 V|v D OW1 V',
  entrance: 'n EH1 N T R AH0 N S|v IH0 N T R AE1 N S',
  escort: 'n EH1 S K AO2 R T|v IH0 S K AO1 R T',
  excuse: 'n IH0 K S K Y UW1 S|v IH0 K S K Y UW1 Z',
  exploit: 'v IH0 K S P L OY1 T|n EH1 K S P L OY2 T',
  export: 'n EH1 K S P AO2 R T|v IH0 K S P AO1 R T',
  extract: 'v IH0 K S T R AE1 K T|n EH1 K S T R AE2 K T',
  ferment: 'v F ER0 M EH1 N T|n F ER1 M EH2 N T',
  fragment: 'n F R AE1 G M AH0 N T|v F R AE1 G M EH2 N T',
  frequent: 'a F R IY1 K W AH0 N T|v F R IY0 K W EH1 N T',
  house: 'n HH AW1 S|v HH AW1 Z',
  impact: 'n IH1 M P AE2 K T|v IH0 M P AE1 K T',
  implement: 'v IH1 M P L AH0 M EH2 N T|n IH1 M P L AH0 M AH0 N T',
  import: 'n IH1 M P AO2 R T|v IH0 M P AO1 R T',
  incense: 'n IH1 N S EH2 N S|v IH0 N S EH1 N S',
  increase: 'n IH1 N K R IY2 S|v IH0 N K R IY1 S',
  insert: 'v IH0 N S ER1 T|n IH1 N S ER2 T',
  insult: 'n IH1 N S AH2 L T|v IH0 N S AH1 L T',
  intern: 'n IH1 N T ER2 N|v IH0 N T ER1 N',
  invite: 'v IH0 N V AY1 T|n IH1 N V AY2 T',
  lead: 'v L IY1 D',
  learned: 'p L ER1 N D|a L ER1 N IH0 D',
  live: 'v L IH1 V|a L AY1 V|n L AY1 V',
  misuse: 'n M IH0 S Y UW1 S|v M IH0 S Y UW1 Z',
  moped: 'v M OW1 P T|n M OW1 P EH2 D',
  mouth: 'n M AW1 TH|v M AW1 DH',
  object: 'n AA1 B JH AH0 K T|v AH0 B JH EH1 K T',
  overlap: 'v OW2 V ER0 L AE1 P|n OW1 V ER0 L AE2 P',
  overload: 'v OW2 V ER0 L OW1 D|n OW1 V ER0 L OW2 D',
  perfect: 'a P ER1 F AH0 K T|v P ER0 F EH1 K T',
  permit: 'v P ER0 M IH1 T|n P ER1 M IH2 T',
  pervert: 'n P ER1 V ER2 T|v P ER0 V ER1 T',
  present: 'a P R EH1 Z AH0 N T|n P R EH1 Z AH0 N T|v P R IY0 Z EH1 N T',
  produce: 'v P R AH0 D UW1 S|n P R OW1 D UW2 S',
  progress: 'n P R AA1 G R AH0 S|v P R AH0 G R EH1 S',
  project: 'n P R AA1 JH EH2 K T|v P R AH0 JH EH1 K T',
  protest: 'n P R OW1 T EH2 S T|v P R AH0 T EH1 S T',
  read: 'v R IY1 D|n R IY1 D|p R EH1 D|a R EH1 D',
  rebel: 'n R EH1 B AH0 L|v R IH0 B EH1 L',
  recall: 'v R IH0 K AO1 L|n R IY1 K AO2 L',
  record: 'n R EH1 K ER0 D|v R IH0 K AO1 R D',
  redirect: 'v R IY2 D ER0 EH1 K T|n R IY1 D ER0 EH2 K T',
  refund: 'n R IY1 F AH2 N D|v R IH0 F AH1 N D',
  refuse: 'v R IH0 F Y UW1 Z|n R EH1 F Y UW2 S',
  reject: 'v R IH0 JH EH1 K T|n R IY1 JH EH2 K T',
  relay: 'n R IY1 L EY2|v R IY0 L EY1',
  replay: 'n R IY1 P L EY2|v R IY2 P L EY1',
  resume: 'v R IH0 Z UW1 M|n R EH1 Z AH0 M EY2',
  reuse: 'v R IY0 Y UW1 Z|n R IY0 Y UW1 S',
  sow: 'v S OW1|n S AW1',
  subject: 'n S AH1 B JH EH0 K T|v S AH0 B JH EH1 K T',
  supplement: 'n S AH1 P L AH0 M AH0 N T|v S AH1 P L AH0 M EH2 N T',
  survey: 'n S ER1 V EY2|v S ER0 V EY1',
  suspect: 'v S AH0 S P EH1 K T|n S AH1 S P EH2 K T',
  tear: 'n T IH1 R|v T EH1 R',
  torment: 'n T AO1 R M EH2 N T|v T AO0 R M EH1 N T',
  transfer: 'v T R AE0 N S F ER1|n T R AE1 N S F ER2',
  transplant: 'n T R AE1 N S P L AE2 N T|v T R AE0 N S P L AE1 N T',
  transport: 'n T R AE1 N S P AO2 R T|v T R AE0 N S P AO1 R T',
  upgrade: 'n AH1 P G R EY2 D|v AH0 P G R EY1 D',
  upset: 'a AH0 P S EH1 T|n AH1 P S EH2 T',
  use: 'v Y UW1 Z|n Y UW1 S',
  wind: 'n W IH1 N D|v W AY1 N D',
  wound: 'n W UW1 N D|v W UW1 N D|p W AW1 N D',
}

/** As verbs they end in the vowel of "ate", otherwise in a weak one. */
const ates = new Set(
  (
    'advocate affiliate aggregate alternate animate appropriate approximate articulate associate certificate ' +
    'confederate coordinate degenerate delegate deliberate desolate designate duplicate elaborate estimate graduate ' +
    'initiate intimate isolate legitimate moderate postulate predicate separate subordinate syndicate triplicate'
  ).split(' '),
)

const parsed = new Map<string, Readings>()

/** @param stem of an -ate word, its dictionary form @returns null for a word that is always spoken alike */
export function readings(word: string, dictionary: (word: string) => Phone[] | null): Readings | null {
  const known = parsed.get(word)
  if (known !== undefined) return known
  const found = simple(word, dictionary) ?? inflection(word, dictionary)
  if (found !== null && parsed.size < 1000) parsed.set(word, found)
  return found
}

function simple(word: string, dictionary: (word: string) => Phone[] | null): Readings | null {
  const line = Object.hasOwn(written, word) ? written[word] : undefined
  if (line !== undefined) {
    return new Map(line.split('|').map((part) => [letters[part[0] as string] as WordClass, parsePhones(part.slice(2))]))
  }
  if (!ates.has(word)) return null
  const stem = dictionary(word)?.slice(0, -2)
  if (stem === undefined) return null
  return new Map([
    ['adjective', [...stem, ...parsePhones('AH0 T')]],
    ['verb', [...stem, ...parsePhones('EY2 T')]],
  ])
}

/** "records" is a noun or a verb, "recorded" and "recording" only the verb. */
function inflection(word: string, dictionary: (word: string) => Phone[] | null): Readings | null {
  if (word === 'used') return null
  if (word === 'lives')
    return new Map([
      ['verb', parsePhones('L IH1 V Z')],
      ['noun', parsePhones('L AY1 V Z')],
    ])
  if (word.endsWith("'s")) return owned(word, dictionary)
  if (word.endsWith('s')) {
    const hissing = /(?:ss|x|sh|ch)es$/.test(word) ? simple(word.slice(0, -2), dictionary) : null
    const base = simple(word.slice(0, -1), dictionary) ?? hissing
    const kinds = [...(base ?? [])].filter(
      ([kind]) => kind === 'noun' || kind === 'verb' || ates.has(word.slice(0, -1)),
    )
    return kinds.length === 0 ? null : new Map(kinds.map(([kind, phones]) => [kind, withS(phones)]))
  }
  const ending = /(?:ed|ing)$/.exec(word)?.[0]
  if (ending === undefined) return null
  const stem = word.slice(0, -ending.length)
  const verb = (simple(stem, dictionary) ?? simple(`${stem}e`, dictionary))?.get('verb')
  if (verb === undefined) return null
  return new Map([['verb', ending === 'ed' ? withEd(verb) : [...verb, ...parsePhones('IH0 NG')]]])
}

function owned(word: string, dictionary: (word: string) => Phone[] | null): Readings | null {
  const base = simple(word.slice(0, -2), dictionary)
  const noun = base?.get('noun') ?? base?.values().next().value
  return noun === undefined ? null : new Map([['noun', withS(noun)]])
}
