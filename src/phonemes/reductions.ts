/**
 * The small words of English as they are spoken inside a sentence, American: without stress or with a light one, and
 * fuller at the end of a phrase. The dictionary has only what they are when said alone.
 */
export type Accent = 'american' | 'british'

// prettier-ignore
const weak: Readonly<Record<string, string>> = {
  and: 'ænd', are: 'ɑɹ', as: 'æz', at: 'æt', be: 'bi', been: 'bɪn', by: 'bI', can: 'kæn', could: 'kʊd', for: 'fɔɹ',
  from: 'fɹʌm', get: 'ɡɛt', gets: 'ɡɛts', gone: 'ɡɔn', got: 'ɡɑt', had: 'hæd', has: 'hæz', have: 'hæv', he: 'hi',
  her: 'hɜɹ', hers: 'hɜɹz', his: 'hɪz', if: 'ɪf', is: 'ɪz', it: 'ɪt', its: 'ɪts', my: 'mI', of: 'ʌv', or: 'ɔɹ',
  per: 'pɜɹ', she: 'ʃi', than: 'ðən', that: 'ðæt', their: 'ðɛɹ', there: 'ðɛɹ', these: 'ðiz', they: 'ðA', this: 'ðɪs',
  those: 'ðOz', through: 'θɹu', was: 'wʌz', we: 'wi', were: 'wɜɹ', will: 'wɪl', with: 'wɪð', would: 'wʊd', ye: 'ji',
  you: 'ju', your: 'jʊɹ', "he'd": 'hid', "he'll": 'hil', "he's": 'hiz', "it'd": 'ɪTəd', "it'll": 'ɪTᵊl',
  "it's": 'ɪts', "she'd": 'ʃid', "she'll": 'ʃil', "she's": 'ʃiz', "that'll": 'ðæTᵊl', "that's": 'ðæts',
  "there's": 'ðɛɹz', "they'd": 'ðAd', "they'll": 'ðAl', "they're": 'ðɛɹ', "they've": 'ðAv', "we'd": 'wid',
  "we'll": 'wil', "we're": 'wɪɹ', "we've": 'wiv', "weren't": 'wɜɹnt', "won't": 'wOnt', "you'd": 'jud',
  "you'll": 'jul', "you're": 'jʊɹ', "you've": 'juv',
}

// prettier-ignore
const light: Readonly<Record<string, string>> = {
  "aren't": 'ˌɑɹnt', but: 'bˌʌt', down: 'dˌWn', go: 'ɡˌO', him: 'hˌɪm', how: 'hˌW', i: 'ˌI', "i'd": 'ˌId',
  "i'll": 'ˌIl', "i'm": 'ˌIm', "i've": 'ˌIv', made: 'mˌAd', make: 'mˌAk', makes: 'mˌAks', me: 'mˌi', might: 'mˌIt',
  near: 'nˌɪɹ', not: 'nˌɑt', on: 'ˌɔn', our: 'ˌWəɹ', put: 'pˌʊt', shall: 'ʃˌæl', should: 'ʃˌʊd', so: 'sˌO',
  some: 'sˌʌm', them: 'ðˌɛm', though: 'ðˌO', up: 'ˌʌp', us: 'ˌʌs', what: 'wˌʌt', when: 'wˌɛn', where: 'wˌɛɹ',
  which: 'wˌɪʧ', while: 'wˌIl', who: 'hˌu', whom: 'hˌum', whose: 'hˌuz', why: 'wˌI',
}

/** Words that carry the stress of what was left out after them: "Yes, I can." */
const fullAtEnd = new Set('can could do get had has have there this these those through will would be'.split(' '))

const lightAtEnd = new Set(['been', 'by', 'her'])

/** @param word lower case @param atEnd whether a pause follows @returns null if it is not such a word */
export function reduced(word: string, atEnd: boolean, accent: Accent): string | null {
  const american = Object.hasOwn(weak, word) ? weak[word] : Object.hasOwn(light, word) ? light[word] : undefined
  if (american === undefined) return null
  const spoken = accent === 'american' ? american : british(word, american)
  if (!atEnd) return spoken
  return fullAtEnd.has(word) ? stressed(spoken, 'ˈ') : lightAtEnd.has(word) ? stressed(spoken, 'ˌ') : spoken
}

// prettier-ignore
const britishOwn: Readonly<Record<string, string>> = {
  been: 'biːn', from: 'fɹɒm', not: 'nˌɒt', got: 'ɡɒt', of: 'ɒv', on: 'ˌɒn', was: 'wɒz', what: 'wˌɒt', your: 'jɔː',
  "it'd": 'ɪtəd', "it'll": 'ɪtᵊl', "that'll": 'ðatᵊl', "you're": 'jɔː',
}

const toBritish: readonly (readonly [RegExp, string])[] = [
  [/([ɑɔɜɛ])ɹ$/, '$1ː'],
  [/([ɑɔɜɛ])ɹ(?=[nz])/, '$1ː'],
  [/ɪɹ$/, 'ɪə'],
  [/əɹ$/, 'ə'],
  [/æ/, 'a'],
  [/O/, 'Q'],
  [/([iu])(?=[dlzmv]?$)/, '$1ː'],
]

function british(word: string, american: string): string {
  if (Object.hasOwn(britishOwn, word)) return britishOwn[word] as string
  return toBritish.reduce((spoken, [pattern, sound]) => spoken.replace(pattern, sound), american)
}

const vowelPattern = /[AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ]/

/** The mark before the first vowel; unchanged where there is one already, or no vowel. */
export function stressed(phonemes: string, mark: 'ˈ' | 'ˌ'): string {
  if (/[ˈˌ]/.test(phonemes)) return mark === 'ˈ' && !phonemes.includes('ˈ') ? phonemes.replace('ˌ', 'ˈ') : phonemes
  return phonemes.replace(vowelPattern, (vowel) => mark + vowel)
}
