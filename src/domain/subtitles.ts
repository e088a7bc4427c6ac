/**
 * Subtitles of a transcript: SubRip, whose times always have hours and whose cues are numbered, and WebVTT
 * (https://www.w3.org/TR/webvtt1/). A segment is a cue; one too long to be read at a glance becomes several where the
 * times of its words are known.
 */
import type { TranscriptSegment, TranscriptWord } from './transcript.ts'

interface Cue {
  startMs: number
  endMs: number
  text: string
}

/** Two lines of what fits a screen; wide characters count twice. */
const maxColumns = 84
const maxCueMs = 7000

/** Ends with one line break, with nothing before it where nothing was said. */
export function srt(segments: readonly TranscriptSegment[]): string {
  const cues = cuesOf(segments).map(({ startMs, endMs, text }, index) => {
    const times = `${clock(startMs, true, ',')} --> ${clock(endMs, true, ',')}`
    return `${index + 1}\n${times}\n${text.replaceAll('-->', '->')}\n`
  })
  return cues.length === 0 ? '\n' : cues.join('\n')
}

/** Ends with one line break. */
export function vtt(segments: readonly TranscriptSegment[]): string {
  const cues = cuesOf(segments).map(({ startMs, endMs, text }) => {
    const times = `${clock(startMs, false, '.')} --> ${clock(endMs, false, '.')}`
    return `${times}\n${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}\n`
  })
  return ['WEBVTT\n', ...cues].join('\n')
}

function cuesOf(segments: readonly TranscriptSegment[]): Cue[] {
  const cues = segments.flatMap((segment) => {
    const { startMs, endMs, text, words } = segment
    const isLong = columnsOf(text.trim()) > maxColumns || endMs - startMs > maxCueMs
    return (isLong && words !== null ? cutAtWords(text, words) : null) ?? [{ startMs, endMs, text }]
  })
  return cues
    .map(({ startMs, endMs, text }) => {
      const beginMs = Math.max(0, Math.round(startMs))
      // A cue without duration is invalid; a line break in its text, or worse an empty line, would end it.
      return {
        startMs: beginMs,
        endMs: Math.max(beginMs + 1, Math.round(endMs)),
        text: text.trim().replace(/\s+/g, ' '),
      }
    })
    .filter(({ text }) => text !== '')
}

interface PlacedWord extends TranscriptWord {
  /** Its start within the segment's text. */
  at: number
}

/** @returns null when the words are not those of the text */
function cutAtWords(text: string, words: readonly TranscriptWord[]): Cue[] | null {
  const placed: PlacedWord[] = []
  let from = 0
  for (const word of words) {
    const at = text.indexOf(word.text, from)
    if (at < 0) return null
    placed.push({ ...word, at })
    from = at + word.text.length
  }
  const cues: Cue[] = []
  for (let first = 0; first < placed.length;) {
    const next = endOfCue(text, placed, first)
    const start = first === 0 ? 0 : placed[first]!.at
    const end = placed[next]?.at ?? text.length
    cues.push({ startMs: placed[first]!.startMs, endMs: placed[next - 1]!.endMs, text: text.slice(start, end) })
    first = next
  }
  return cues.length === 0 ? null : cues
}

/**
 * As many words as fit, or a few less: up to the end of a sentence or clause in their second half. @returns the next
 */
function endOfCue(text: string, words: readonly PlacedWord[], first: number): number {
  const begin = words[first]!
  let next = first + 1
  for (; next < words.length; next++) {
    const word = words[next]!
    const columns = columnsOf(text.slice(begin.at, word.at + word.text.length))
    if (columns > maxColumns || word.endMs - begin.startMs > maxCueMs) break
  }
  if (next === words.length) return next
  for (const pause of [/[.!?…。！？]["'”’)]*$/, /[,;:、，；：]$/]) {
    for (let end = next; end > first + (next - first) / 2; end--) if (pause.test(words[end - 1]!.text)) return end
  }
  return next
}

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const columnsOf = (text: string): number => text.length + (text.match(wide)?.length ?? 0)

/** `01:02:03,004`; hours only where there are some, unless they always are. */
function clock(ms: number, withHours: boolean, point: ',' | '.'): string {
  const pad = (value: number, digits: number) => String(value).padStart(digits, '0')
  const hours = Math.floor(ms / 3_600_000)
  const minutes = pad(Math.floor(ms / 60_000) % 60, 2)
  const seconds = pad(Math.floor(ms / 1000) % 60, 2)
  return `${withHours || hours > 0 ? `${pad(hours, 2)}:` : ''}${minutes}:${seconds}${point}${pad(ms % 1000, 3)}`
}
