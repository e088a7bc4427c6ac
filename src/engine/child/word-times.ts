/**
 * Finds when each word of an order's text is spoken (child side). A model that times its speech reports it; otherwise
 * the audio of a chunk is divided among its words by length, which is marked as an estimate. Words are those of the
 * text as it was sent: "3.5" is one word, however many are spoken for it.
 */
import type { SpokenWord } from '../../domain/speech.ts'
import type { SpokenChunk } from '../../models/architecture.ts'

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.,:/-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu
/** What a word takes besides its letters, and what the pause after a mark takes, in letters. */
const [perWord, perMark, perStop] = [2, 3, 6]
/** A window is silent when its level is so far below that of the loudest one. */
const [windowS, silenceDb] = [0.01, -40]

export class WordTimes {
  readonly #chars: readonly string[]
  readonly #sampleRateHz: number
  /** The model's audio so far. */
  #samples = 0
  #covered = 0
  /** The model times its speech. */
  #isTimed = false
  /** Where the words after the last span begin in the text, and when the first part of the next one was spoken. */
  #spanEnd = 0
  #beganS: number | null = null

  /** @param text of the order */
  constructor(text: string, sampleRateHz: number) {
    // Tags are not read; positions stay as they are.
    this.#chars = Array.from(text.replace(/<[^<>]*>/g, (tag) => ' '.repeat(Array.from(tag).length)))
    this.#sampleRateHz = sampleRateHz
  }

  /** @returns the words that begin in this chunk, or are timed with it */
  add({ pcm, coveredChars, spans }: SpokenChunk): SpokenWord[] {
    const startS = this.#samples / this.#sampleRateHz
    const before = this.#covered
    this.#samples += pcm.length
    this.#covered = Math.max(before, coveredChars)
    if (spans !== undefined) {
      this.#isTimed = true
      return spans.flatMap(({ end, startS: from, endS: to }) => this.#timed(end, startS + from, startS + to))
    }
    return this.#isTimed ? [] : this.#estimated(before, this.#covered, pcm, startS)
  }

  /** Several spans may be spoken for one word: it ends with the last of them. */
  #timed(end: number, startS: number, endS: number): SpokenWord[] {
    this.#beganS ??= startS
    if (end <= this.#spanEnd) return []
    const word = this.#narrowed(this.#spanEnd, end)
    this.#spanEnd = end
    if (word === null) return []
    const began = this.#beganS
    this.#beganS = null
    return [{ ...word, startMs: msOf(began), endMs: msOf(endS), isEstimated: false }]
  }

  /** Without the space and the marks around it; null: nothing remains. */
  #narrowed(from: number, to: number): { from: number; to: number } | null {
    const isWord = (char: string | undefined) => /[\p{L}\p{N}%€$£°]/u.test(char ?? '')
    let [first, last] = [from, to]
    while (first < last && !isWord(this.#chars[first])) first++
    while (last > first && !isWord(this.#chars[last - 1])) last--
    return first === last ? null : { from: first, to: last }
  }

  #estimated(from: number, to: number, pcm: Float32Array, startS: number): SpokenWord[] {
    const sound = soundIn(pcm, this.#sampleRateHz)
    if (sound === null) return []
    const words = this.#wordsBetween(from, to)
    const whole = words.reduce((sum, { weight, pause }) => sum + weight + pause, -(words.at(-1)?.pause ?? 0))
    const perWeight = (sound.endS - sound.startS) / Math.max(1, whole)
    let at = startS + sound.startS
    return words.map(({ weight, pause, ...word }) => {
      const began = at
      at += weight * perWeight
      const ended = at
      at += pause * perWeight
      return { ...word, startMs: msOf(began), endMs: msOf(ended), isEstimated: true }
    })
  }

  #wordsBetween(from: number, to: number): { from: number; to: number; weight: number; pause: number }[] {
    const text = this.#chars.slice(from, to).join('')
    return Array.from(text.matchAll(wordPattern), ({ 0: word, index }) => {
      const begin = from + Array.from(text.slice(0, index)).length
      const length = Array.from(word).length
      const mark = this.#chars[begin + length] ?? ''
      const pause = /[.!?…。！？]/.test(mark) ? perStop : /[,;:，；：]/.test(mark) ? perMark : 0
      return { from: begin, to: begin + length, weight: perWord + length, pause }
    })
  }
}

const msOf = (seconds: number): number => Math.max(0, Math.round(1000 * seconds))

/** From the first to the last window that is not silent; null: there is none. */
function soundIn(pcm: Float32Array, sampleRateHz: number): { startS: number; endS: number } | null {
  const size = Math.max(1, Math.round(windowS * sampleRateHz))
  const powers = Array.from({ length: Math.ceil(pcm.length / size) }, (_, window) => {
    let power = 0
    for (let at = window * size; at < Math.min(pcm.length, (window + 1) * size); at++) power += pcm[at]! ** 2
    return power
  })
  const loudest = powers.reduce((most, power) => Math.max(most, power), 0)
  if (loudest === 0) return null
  const isLoud = (power: number) => power > loudest * 10 ** (silenceDb / 10)
  const endS = Math.min(pcm.length, (powers.findLastIndex(isLoud) + 1) * size) / sampleRateHz
  return { startS: (powers.findIndex(isLoud) * size) / sampleRateHz, endS }
}
