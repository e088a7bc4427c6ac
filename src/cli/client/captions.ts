/** Captions beside an audio file: speech comes as events then, which bring the audio and when each word is spoken. */
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { srt, vtt } from '../../domain/subtitles.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import { Failure } from '../terminal/terminal.ts'

interface TimedWord {
  word: string
  start: number
  end: number
  text_start: number
  text_end: number
}

const writers: Readonly<Record<string, typeof srt>> = { '.srt': srt, '.vtt': vtt }

export class Captions {
  readonly #path: string
  readonly #input: string
  readonly #words: TimedWord[] = []
  #isEstimated = false

  /** @param input that is spoken @throws Failure when the file is named like no captions */
  constructor(path: string, input: string) {
    if (writers[extname(path).toLowerCase()] === undefined) {
      throw new Failure(`Captions are .srt or .vtt; '${path}' is neither.`, 'unknown_captions')
    }
    this.#path = path
    this.#input = input
  }

  /** What the request must ask for, besides the speech. */
  readonly fields = { stream_format: 'sse', timestamps: ['word'] } as const

  /** Whether the model does not time its words. */
  get isEstimated(): boolean {
    return this.#isEstimated
  }

  /** The audio in the events, as it comes. @throws Failure in the server's words when an event tells of an error */
  async *audioIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        if (!line.startsWith('data: {')) continue
        const audio = this.#take(JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
        if (audio !== null) yield audio
      }
    }
  }

  /** Written once the audio is whole. */
  async write(): Promise<void> {
    const write = writers[extname(this.#path).toLowerCase()] ?? srt
    await writeFile(this.#path, write(sentencesOf(this.#input, this.#words)))
  }

  #take(event: Record<string, unknown>): Uint8Array | null {
    if (event.type === 'speech.audio.delta') return Buffer.from(String(event.audio), 'base64')
    if (event.type === 'speech.audio.timestamps') {
      this.#words.push(...(event.words as TimedWord[]))
      this.#isEstimated ||= event.estimated === true
    }
    if (event.type !== 'error') return null
    const { message = 'the server failed', code = 'generation_failed' } = event.error as Record<string, string>
    throw new Failure(message, code)
  }
}

/** One segment a sentence; `subtitles` cuts those that are too long for a screen. */
function sentencesOf(input: string, words: readonly TimedWord[]): TranscriptSegment[] {
  const chars = Array.from(input)
  const between = (from: number, to: number) => chars.slice(from, to).join('')
  const segments: TranscriptSegment[] = []
  let first = 0
  for (const [at, { text_end: end }] of words.entries()) {
    const next = words[at + 1]
    if (next !== undefined && !/[.!?…。！？]\s|\n/.test(between(end, next.text_start))) continue
    const own = words.slice(first, at + 1)
    first = at + 1
    segments.push({
      startMs: 1000 * own[0]!.start,
      endMs: 1000 * own.at(-1)!.end,
      text: between(own[0]!.text_start, next?.text_start ?? chars.length).trim(),
      words: own.map(({ word, start, end: wordEnd }) => {
        return { text: word, startMs: 1000 * start, endMs: 1000 * wordEnd, probability: null }
      }),
      seekMs: 0,
      tokens: [],
      temperature: 0,
      avgLogprob: 0,
      compressionRatio: 0,
      noSpeechProb: 0,
    })
  }
  return segments
}
