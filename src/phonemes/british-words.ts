/**
 * Words whose British form cannot be derived from the American by rule: the words of "bath", and some that are simply
 * different.
 */
import { type Phone, parsePhones } from './phones.ts'

/** Beginnings of words whose a is long. */
// prettier-ignore
const bathStems = [
  'advanc', 'advantag', 'after', 'aghast', 'answer', 'ask', 'aunt', 'autograph$', 'bask', 'bath$', 'baths', 'blast',
  'branch', 'brass', 'broadcast', 'calf', 'can.t', 'cask', 'cast', 'chaff', 'chanc', 'chant', 'clasp',
  'class(?!ic|if)', 'command', 'contrast', 'craft', 'aircraft', 'daft', 'danc', 'demand', 'disast', 'draft',
  'draught', 'enchant', 'enhanc', 'exampl', 'fast', 'flask', 'forecast', 'france', 'francis', 'ghast', 'giraffe',
  'glanc', 'glass', 'graft', 'grant', 'graph$', 'graphs$', 'grasp', 'grass', 'half', 'halv', 'lanc(?!as)', 'last',
  'laugh', 'lath', 'mast(?!ic)', 'nast', 'outcast', 'overcast', 'paragraph$', 'pass(?!ion|iv|eng|ag)',
  'past(?!ry|el|ic)', 'path(?!o|et)', 'photograph$', 'plant', 'plaster', 'podcast', 'raft', 'rascal', 'rasp',
  'rather', 'salve', 'sampl', 'shaft', 'shan.t', 'slander', 'slant', 'staff', 'stanch', 'task', 'telegraph$',
  'transplant', 'vantage', 'vast',
]
const bath = new RegExp(`^(?:${bathStems.join('|')})`)

const different: Readonly<Record<string, string>> = {
  advertisement: 'AH0 D V ER1 T IH0 S M AH0 N T',
  ate: 'EH1 T',
  because: 'B IH0 K AA1 Z',
  been: 'B IY1 N',
  clerk: 'K L AA1 R K',
  either: 'AY1 DH ER0',
  herb: 'HH ER1 B',
  herbs: 'HH ER1 B Z',
  laboratory: 'L AH0 B AO1 R AH0 T ER0 IY0',
  leisure: 'L EH1 ZH ER0',
  lieutenant: 'L EH0 F T EH1 N AH0 N T',
  missile: 'M IH1 S AY2 L',
  mobile: 'M OW1 B AY2 L',
  neither: 'N AY1 DH ER0',
  privacy: 'P R IH1 V AH0 S IY0',
  route: 'R UW1 T',
  routes: 'R UW1 T S',
  schedule: 'SH EH1 D Y UW2 L',
  schedules: 'SH EH1 D Y UW2 L Z',
  tomato: 'T AH0 M AA1 T OW0',
  tomatoes: 'T AH0 M AA1 T OW0 Z',
  vase: 'V AA1 Z',
  vitamin: 'V IH1 T AH0 M IH0 N',
  was: 'W AA1 Z',
  yoghurt: 'Y AA1 G ER0 T',
}

const parsed = new Map(Object.entries(different).map(([word, phones]) => [word, parsePhones(phones)]))

/** @returns null for a word that is spoken as the rules make it */
export const britishPhones = (word: string): Phone[] | null => parsed.get(word) ?? null

export const isBath = (word: string): boolean => bath.test(word)
