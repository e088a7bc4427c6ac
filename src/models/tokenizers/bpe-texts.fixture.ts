/**
 * Seeded texts in twenty scripts for tests of tokenizers. Their words come from a small stock, so that a vocabulary can
 * be learned from them, and between them is everything that divides a text for a tokenizer.
 */
import { Seeded } from '../../testing/seeded.ts'

/** The ranges of code points for the letters and marks of a script, both ends included. */
const scripts: Readonly<Record<string, readonly [number, number][]>> = {
  Latin: [
    [0x61, 0x7a],
    [0x61, 0x7a],
    [0x41, 0x5a],
    [0xe0, 0xfe],
  ],
  Greek: [[0x3b1, 0x3c9]],
  Cyrillic: [[0x410, 0x44f]],
  Armenian: [[0x561, 0x586]],
  Georgian: [[0x10d0, 0x10f0]],
  Hebrew: [[0x5d0, 0x5ea]],
  Arabic: [
    [0x621, 0x64a],
    [0x64b, 0x652],
  ],
  Devanagari: [
    [0x915, 0x939],
    [0x93e, 0x94d],
  ],
  Bengali: [
    [0x995, 0x9a8],
    [0x9be, 0x9c4],
  ],
  Tamil: [
    [0xb95, 0xb9a],
    [0xbbe, 0xbc2],
  ],
  Telugu: [
    [0xc15, 0xc28],
    [0xc3e, 0xc44],
  ],
  Thai: [[0xe01, 0xe3a]],
  Lao: [
    [0xe94, 0xe97],
    [0xeb0, 0xeb9],
  ],
  Khmer: [[0x1780, 0x17b3]],
  Myanmar: [
    [0x1000, 0x1021],
    [0x102d, 0x1032],
  ],
  Ethiopic: [[0x1208, 0x1246]],
  Hangul: [[0xac00, 0xae00]],
  Hiragana: [[0x3041, 0x3096]],
  Katakana: [[0x30a1, 0x30fa]],
  Han: [[0x4e00, 0x4f00]],
}

/** Separates words, or replaces one. */
// prettier-ignore
const signs: readonly string[] = [
  ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', '  ', '   ', '\n', '\r\n', '\t', ' \n ', '\u0085', '\u00a0', '\u3000',
  '\u2028', '\ufeff', '\u200b', '\u200d', '', '', ', ', '. ', '! ', '? ', '…', ' - ', '--', '—', ': ', '; ', '/', '。',
  '、', '，', '！', '？', '「', '」', '・', '؟', '،', '।', "'", '"', '“', '”', '(', ')', '[', ']', '{', '}', "'s ", "'t ",
  "'re ", "'ve ", "'m ", "'ll ", "'d ", "'S ", "'LL ", '’s ', "''s", " 's", ' 1', '12', ' 2026', ' 3.14', ' 1,000',
  '٣٤', '१२', '½', '²', 'Ⅷ', '一', ' ৪', '𝟗', '😀', ' 🙂', '👩‍💻', '🇨🇭', '♪', '♪♪♪', 'é', 'ñ', '\u0301', '\u20dd',
  '\ud7a3', '𐍈', '𝒳', '\u{1f600}\u{1f3fb}', '<|endoftext|>', '<|en|>', '<|0.00|>', '@', '#', '$', '%', '^', '&',
  '*', '_', '=', '+', '\\', '|', '~', '`', '\0',
]

const longestWord = 7
const stockSize = 60

/** @param count how many texts; the first ones are the smallest that exist */
export function tokenizerTexts(count: number, seed: number): string[] {
  const random = new Seeded(seed)
  const stocks = Object.values(scripts).map((ranges) => Array.from({ length: stockSize }, () => word(ranges, random)))
  const texts = ['', ' ', '  ', '\n', 'a', "'", ...signs]
  while (texts.length < count) texts.push(text(stocks, random))
  return texts.slice(0, count)
}

function word(ranges: readonly [number, number][], random: Seeded): string {
  const letters = Array.from({ length: random.whole(1, longestWord) }, () => {
    const [first, last] = random.pick(ranges)
    return String.fromCodePoint(random.whole(first, last))
  })
  return letters.join('')
}

/** One script or two; the common words of a stock occur more often than the rare ones. */
function text(stocks: readonly (readonly string[])[], random: Seeded): string {
  const own = [random.pick(stocks), random.pick(stocks)]
  const parts = Array.from({ length: random.whole(1, 12) }, () => {
    const stock = own[random.chance(0.9) ? 0 : 1]!
    const rarity = random.next() * random.next()
    return stock[Math.floor(rarity * stock.length)]! + (random.chance(0.6) ? ' ' : random.pick(signs))
  })
  return parts.join('')
}
