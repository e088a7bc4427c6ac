/** Verses of the Bible: "John 3:16" is three sixteen, neither a time nor a ratio. */
import { cardinal } from './numbers.ts'
import { type Before, match, type Said } from './rule.ts'

const books = new Set(
  (
    'Genesis Exodus Leviticus Numbers Deuteronomy Joshua Judges Ruth Samuel Kings Chronicles Ezra Nehemiah Esther ' +
    'Job Psalm Psalms Proverbs Ecclesiastes Solomon Songs Isaiah Jeremiah Lamentations Ezekiel Daniel Hosea Joel ' +
    'Amos Obadiah Jonah Micah Nahum Habakkuk Zephaniah Haggai Zechariah Malachi Matthew Mark Luke John Acts Romans ' +
    'Corinthians Galatians Ephesians Philippians Colossians Thessalonians Timothy Titus Philemon Hebrews James ' +
    'Peter Jude Revelation Quran Surah'
  ).split(' '),
)
const shortBooks: Readonly<Record<string, string>> = {
  Gen: 'Genesis',
  Exod: 'Exodus',
  Lev: 'Leviticus',
  Num: 'Numbers',
  Deut: 'Deuteronomy',
  Josh: 'Joshua',
  Judg: 'Judges',
  Sam: 'Samuel',
  Chr: 'Chronicles',
  Neh: 'Nehemiah',
  Ps: 'Psalm',
  Prov: 'Proverbs',
  Eccl: 'Ecclesiastes',
  Isa: 'Isaiah',
  Jer: 'Jeremiah',
  Lam: 'Lamentations',
  Ezek: 'Ezekiel',
  Hos: 'Hosea',
  Hab: 'Habakkuk',
  Zech: 'Zechariah',
  Mal: 'Malachi',
  Matt: 'Matthew',
  Mt: 'Matthew',
  Mk: 'Mark',
  Lk: 'Luke',
  Jn: 'John',
  Rom: 'Romans',
  Cor: 'Corinthians',
  Gal: 'Galatians',
  Eph: 'Ephesians',
  Thess: 'Thessalonians',
  Heb: 'Hebrews',
  Jas: 'James',
  Pet: 'Peter',
  Rev: 'Revelation',
}
const shortBook = /([A-Z][a-z]{1,4})\.? (?=\d{1,3}:\d{1,3}(?![\d:]| ?[ap]\.?m\b))/y

const timePattern = /\d{1,2}:[0-5]\d(?!\d)/y

/** "Matt. 5:3": the book and its verse; "1 Cor. 13" needs none. */
export function bookAt(text: string, at: number, before: Before): Said | null {
  const isSecond = /^[123]$/.test(before.word) && /(?:^|[^\d.])\d $/.test(text.slice(Math.max(0, at - 3), at))
  const second = isSecond ? match(/(Sam|Chr|Cor|Thess|Pet|Jn)\.? (?=\d)/y, text, at) : null
  const letter = second === null ? undefined : shortBooks[second[1] as string]
  if (second !== null && letter !== undefined && match(shortBook, text, at) === null)
    return { to: at + second[0].length, words: letter }
  const found = match(shortBook, text, at)
  // "Sam 5:30" may be a time at which one meets.
  if (found !== null && !found[0].includes('.') && match(timePattern, text, at + found[0].length) !== null) return null
  const name = found === null ? undefined : shortBooks[found[1] as string]
  const psalm = found === null ? match(/Ps\. (?=\d)/y, text, at) : null
  if (psalm !== null) return { to: at + psalm[0].length, words: 'Psalm' }
  if (found === null || name === undefined) return null
  const verse = verseAt(text, at + found[0].length, { word: name })
  return verse && { to: verse.to, words: `${name} ${verse.words}` }
}

const versePattern = /(\d{1,3}):(\d{1,3})(?:[-–](\d{1,3}))?(?![\d:])/y
const numberedBook = new RegExp(
  String.raw`([123])(?= (Sam|Samuel|Kings|Chr|Chronicles|Cor|Corinthians|Thess|Thessalonians|Tim|Timothy|Pet|Peter|` +
    String.raw`Jn|John)\.? \d)`,
  'y',
)
const ranks: Readonly<Record<string, string>> = { 1: 'First', 2: 'Second', 3: 'Third' }

export function verseAt(text: string, at: number, before: Before): Said | null {
  const book = match(numberedBook, text, at)
  if (book !== null) return { to: at + 1, words: ranks[book[1] as string] as string }
  const found = books.has(before.word) ? match(versePattern, text, at) : null
  if (found === null) return null
  const [whole, chapter, first, last] = found as unknown as [string, string, string, string?]
  const until = last === undefined ? '' : ` to ${cardinal(last)}`
  return { to: at + whole.length, words: `${cardinal(chapter)} ${cardinal(first)}${until}` }
}
