/**
 * Languages as people name them: by code, by a tag with a region, or by the English name that OpenAI's API answers
 * with. Codes are ISO 639, two letters where there are two.
 */
const named =
  'af afrikaans, am amharic, ar arabic, as assamese, az azerbaijani, ba bashkir, be belarusian, bg bulgarian, ' +
  'bn bengali, bo tibetan, br breton, bs bosnian, ca catalan, cs czech, cy welsh, da danish, de german, el greek, ' +
  'en english, es spanish, et estonian, eu basque, fa persian, fi finnish, fo faroese, fr french, gl galician, ' +
  'gu gujarati, ha hausa, haw hawaiian, he hebrew, hi hindi, hr croatian, ht haitian creole, hu hungarian, ' +
  'hy armenian, id indonesian, is icelandic, it italian, ja japanese, jv javanese, ka georgian, kk kazakh, km khmer, ' +
  'kn kannada, ko korean, la latin, lb luxembourgish, ln lingala, lo lao, lt lithuanian, lv latvian, mg malagasy, ' +
  'mi maori, mk macedonian, ml malayalam, mn mongolian, mr marathi, ms malay, mt maltese, my myanmar, ne nepali, ' +
  'nl dutch, nn nynorsk, no norwegian, oc occitan, pa punjabi, pl polish, ps pashto, pt portuguese, ro romanian, ' +
  'ru russian, sa sanskrit, sd sindhi, si sinhala, sk slovak, sl slovenian, sn shona, so somali, sq albanian, ' +
  'sr serbian, su sundanese, sv swedish, sw swahili, ta tamil, te telugu, tg tajik, th thai, tk turkmen, tl tagalog, ' +
  'tr turkish, tt tatar, uk ukrainian, ur urdu, uz uzbek, vi vietnamese, yi yiddish, yo yoruba, yue cantonese, ' +
  'zh chinese'

/** Further names for some of them. */
const alsoNamed =
  'my burmese, ca valencian, nl flemish, ht haitian, lb letzeburgesch, ps pushto, pa panjabi, ro moldavian, ' +
  'ro moldovan, si sinhalese, es castilian, zh mandarin, no bokmål'

const pairsOf = (list: string): [string, string][] =>
  list.split(', ').map((entry) => [entry.slice(0, entry.indexOf(' ')), entry.slice(entry.indexOf(' ') + 1)])

const namesByCode: ReadonlyMap<string, string> = new Map(pairsOf(named).map(([code, name]) => [canonical(code), name]))
const codesByName: ReadonlyMap<string, string> = new Map(
  [...pairsOf(alsoNamed), ...pairsOf(named)].map(([code, name]) => [name, code]),
)

/** The English name in lower case; the code itself if it has no name here. */
export const languageName = (code: string): string => namesByCode.get(canonical(code)) ?? code

/**
 * @param name `en`, `eng`, `en-US`, `en_us`, `English`
 * @returns ISO 639; null when it names no language
 */
export function languageCode(name: string): string | null {
  const trimmed = name.trim().toLowerCase()
  const known = codesByName.get(trimmed)
  if (known !== undefined) return known
  try {
    return canonical(trimmed.replaceAll('_', '-'))
  } catch {
    return null
  }
}

/** The one of these languages that is meant, as it is written there; null: none of them is. */
export function findLanguage(code: string, among: readonly string[]): string | null {
  const wanted = canonical(code)
  const find = (sought: string | undefined) => among.find((candidate) => canonical(candidate) === sought) ?? null
  return find(wanted) ?? find(widerCodes[wanted])
}

/** Names that recognizers use for languages with codes of their own. */
const widerCodes: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl', cmn: 'zh', arb: 'ar', swh: 'sw' }

/** The language of a tag, in lower case: `pt` for `pt-BR`. Text that is not a tag is returned as it is. */
export const primaryLanguage = (tag: string): string => tag.toLowerCase().split('-')[0] ?? ''

/** Whether the language is one of these, in any region: `de` is among `de-AT`, and vice versa. */
export const isLanguageAmong = (tag: string, languages: readonly string[]): boolean =>
  languages.some((language) => primaryLanguage(language) === primaryLanguage(tag))

/** The language of any tag, with replaced codes such as `iw` updated. @throws RangeError if it is not a tag */
function canonical(tag: string): string {
  return Intl.getCanonicalLocales(tag)[0]!.split('-')[0]!
}
