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
const versePattern = /(\d{1,3}):(\d{1,3})(?:[-–](\d{1,3}))?(?![\d:])/y
const numberedBook = /([123])(?= (Samuel|Kings|Chronicles|Corinthians|Thessalonians|Timothy|Peter|John) \d)/y
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
