/** Words of speech with their times, as clients read them. */
import type { AudioFormat, SpokenWord } from '../../domain/speech.ts'

/**
 * A decoder returns this much more sound, at the start, than was encoded. Only Ogg and containers can declare it, and
 * mp3 and ADTS streams are neither: samples at 24 kHz, as the encoders' tests check.
 */
const delayS: Readonly<Partial<Record<AudioFormat, number>>> = { mp3: 1105 / 24_000, aac: 1024 / 24_000 }

/** @param input of the request @param format of the audio, whose time scale the words use; in seconds */
export function wordsOf(words: readonly SpokenWord[], input: string, format: AudioFormat) {
  const chars = words.length === 0 ? [] : Array.from(input)
  const late = delayS[format] ?? 0
  const seconds = (ms: number) => Math.round(ms + 1000 * late) / 1000
  return words.map(({ from, to, startMs, endMs, isEstimated }) => ({
    word: chars.slice(from, to).join(''),
    start: seconds(startMs),
    end: seconds(Math.max(startMs, endMs)),
    text_start: from,
    text_end: to,
    isEstimated,
  }))
}
