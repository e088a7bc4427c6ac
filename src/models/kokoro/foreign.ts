/**
 * Text in other languages than English to the units of Kokoro's chunks: cut at its stops and pauses, spoken by
 * espeak-ng, whose IPA becomes the symbols that the voices were taught. Numbers are read by espeak-ng, too.
 */
import { countChars } from '../../domain/charge.ts'
import { symbolIds } from '../../phonemes/symbols.ts'
import { blocks } from '../../text/blocks.ts'
import { breaks, type Mapped } from '../../text/fold.ts'
import { plainText } from '../../text/inline.ts'
import type { Unit } from '../../phonemes/chunks.ts'
import { type Espeak, longestLine } from './espeak.ts'

/** Languages with voices of Kokoro, and espeak-ng's name for each. */
export const espeakVoices: ReadonlyMap<string, string> = new Map([
  ['es', 'es'],
  ['fr', 'fr-fr'],
  ['hi', 'hi'],
  ['it', 'it'],
  ['pt', 'pt-br'],
])

interface Segment {
  text: string
  mark: string
  end: number
  ends: Unit['ends']
}

/** Segments that one process speaks: few for an early first chunk, more later on. */
const firstBatch = 4
const laterBatch = 24

/** @param voice one of `espeakVoices` @throws as `Espeak.phonemes` */
export async function* foreignUnits(
  text: string,
  voice: string,
  espeak: Espeak,
  signal: AbortSignal,
): AsyncGenerator<Unit> {
  const all = segments(text)
  let held: Unit | null = null
  let covered = 0
  for (let most = firstBatch; ; most = laterBatch) {
    const batch = Array.from(take(all, most))
    if (batch.length === 0) break
    const spoken = await espeak.phonemes(
      batch.map((segment) => segment.text),
      voice,
      signal,
    )
    for (const [at, segment] of batch.entries()) {
      for (const unit of unitsOf(segment, toSymbols(spoken[at] as string), covered)) {
        if (held !== null) yield held
        held = unit
      }
      covered = Math.max(covered, segment.end)
      if (held !== null && held.end < covered) held = joined(held, segment, covered)
    }
  }
  if (held !== null) yield { ...held, end: countChars(text) }
}

/** What a segment without a sound adds to the unit before it: its place, and the end of its sentence. */
const joined = (unit: Unit, { ends }: Segment, end: number): Unit => ({
  ...unit,
  end,
  ends: unit.ends === 'paragraph' || ends === 'word' ? unit.ends : ends,
})

function unitsOf({ mark, end, ends }: Segment, symbols: string, covered: number): Unit[] {
  const words = symbols.split(' ').filter((word) => /\p{L}/u.test(word))
  return words.map((word, at) =>
    at < words.length - 1
      ? { symbols: word, end: covered, ends: 'word' as const }
      : { symbols: word + mark, end, ends },
  )
}

function* take<T>(items: Iterator<T>, most: number): Generator<T> {
  for (let count = 0; count < most; count++) {
    const { value, done } = items.next()
    if (done === true) return
    yield value
  }
}

/** Signs that end a segment, and their replacements; those without a symbol only separate. */
const marks: Readonly<Record<string, string>> = {
  '.': '.',
  '!': '!',
  '?': '?',
  ',': ',',
  ';': ';',
  ':': ':',
  '–': ' —',
  '"': '',
  '(': ',',
  ')': ',',
  '[': '',
  ']': '',
  '{': '',
  '}': '',
  '|': ',',
  '<': '',
  '>': '',
}
const stops = new Set(['.', '!', '?', '…'])

function* segments(input: string): Generator<Segment> {
  for (const block of blocks(input, true)) {
    yield* segmentsOf(plainText(block), block.after === 'none' ? 'word' : block.after)
  }
}

function* segmentsOf({ text, ends }: Mapped, after: Unit['ends']): Generator<Segment> {
  let open = ''
  let last: Segment | null = null
  for (let at = 0; at <= text.length; at++) {
    const char = text[at] ?? breaks.sentence
    const isBreak = char === breaks.sentence || char === breaks.paragraph
    const isMark = isBreak || (Object.hasOwn(marks, char) && !isInside(text, at))
    if (!isMark && open.length < longestLine) {
      open += char
      continue
    }
    // In a trail of dots the last one counts.
    const trail = char === '.' && text.slice(Math.max(0, at - 2), at) === '..'
    const mark = isBreak || !isMark ? '' : trail ? '…' : (marks[char] as string)
    const end = ends[Math.min(at, text.length - 1)] ?? 0
    if (/[\p{L}\p{N}]/u.test(open)) {
      if (last !== null) yield last
      const isStop = isBreak || stops.has(mark)
      last = { text: open.trim(), mark: isBreak ? '.' : mark, end, ends: isStop ? 'sentence' : 'word' }
      if (char === breaks.paragraph) last.ends = 'paragraph'
    } else if (last !== null) {
      last.end = Math.max(last.end, end)
      if (stops.has(mark)) Object.assign(last, { mark, ends: 'sentence' })
      else if (last.mark === '') last.mark = mark
    }
    open = isMark ? '' : char
  }
  if (last === null) return
  if (after === 'word') yield { ...last, mark: last.mark === '.' ? '' : last.mark, ends: 'word' }
  else yield { ...last, ends: after }
}

/** "3.14", "12:30", "1,5": between digits or letters a mark is part of a word. */
const isInside = (text: string, at: number): boolean =>
  /[.,:]/.test(text[at] as string) &&
  /[\p{L}\p{N}]/u.test(text[at - 1] ?? '') &&
  /[\p{L}\p{N}]/u.test(text[at + 1] ?? '')

/** Sounds of two parts that are one symbol. */
const pairs: readonly (readonly [string, string])[] = [
  ['a^ɪ', 'I'],
  ['a^ʊ', 'W'],
  ['d^z', 'ʣ'],
  ['d^ʒ', 'ʤ'],
  ['e^ɪ', 'A'],
  ['o^ʊ', 'O'],
  ['ə^ʊ', 'Q'],
  ['s^s', 'S'],
  ['t^s', 'ʦ'],
  ['t^ʃ', 'ʧ'],
  ['ɔ^ɪ', 'Y'],
]

/** @param ipa as `Espeak` gives it; a change of language is marked there in brackets: "(^e^n)" */
export function toSymbols(ipa: string): string {
  let text = ipa.replace(/\([a-z^-]*\)/g, '')
  for (const [pair, symbol] of pairs) text = text.replaceAll(pair, symbol)
  const known = Array.from(text, (char) => (symbolIds.has(char) && char !== '^' ? char : '')).join('')
  return known.replace(/ {2,}/g, ' ').trim()
}
