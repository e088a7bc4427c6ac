/** Captions beside an audio file: speech comes as events then, which bring the audio and when each word is spoken. */
import { extname } from 'node:path'
import { srt, vtt } from '../../domain/subtitles.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import { Failure } from '../terminal/terminal.ts'
import { fileSink } from './sink.ts'
import { placeOf } from './target.ts'

interface TimedWord {
  word: string
  start: number
  end: number
  text_start: number
  text_end: number
}

const writers: Readonly<Record<string, typeof srt>> = { '.srt': srt, '.vtt': vtt }

/** The file of captions, gathered from one or several pieces of speech. */
export class Captions {
  readonly #path: string
  readonly #write: typeof srt
  readonly #segments: TranscriptSegment[] = []
  #isEstimated = false

  private constructor(path: string, write: typeof srt) {
    this.#path = path
    this.#write = write
  }

  /** @throws Failure when the file is named like no captions, or cannot be written: before speech is paid for */
  static async into(path: string): Promise<Captions> {
    const write = writers[extname(path).toLowerCase()]
    if (write === undefined) throw new Failure(`Captions are .srt or .vtt; '${path}' is neither.`, 'unknown_captions')
    await placeOf(path)
    return new Captions(path, write)
  }

  /** Whether the model does not time its words. */
  get isEstimated(): boolean {
    return this.#isEstimated
  }

  /** @param input that was spoken @param offsetMs where its sound begins in the whole */
  add(input: string, { words, isEstimated }: SpokenWords, offsetMs = 0): void {
    this.#isEstimated ||= isEstimated
    this.#segments.push(...sentencesOf(input, words, offsetMs))
  }

  /** Written once the audio is whole. */
  async write(): Promise<void> {
    const sink = await fileSink(this.#path)
    await sink.write(Buffer.from(this.#write(this.#segments)))
    await sink.keep()
  }
}

export interface SpokenWords {
  words: readonly TimedWord[]
  isEstimated: boolean
}

/** What the request must ask for, besides the speech, so that its words are timed. */
export const timingFields = { stream_format: 'sse', timestamps: ['word'] } as const

/** The events of one timed request: gives out their audio and keeps their words. */
export class TimedSpeech implements SpokenWords {
  readonly words: TimedWord[] = []
  isEstimated = false

  /** The audio in the events, as it arrives. @throws Failure in the server's words when an event reports an error */
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

  #take(event: Record<string, unknown>): Uint8Array | null {
    if (event.type === 'speech.audio.delta') return Buffer.from(String(event.audio), 'base64')
    if (event.type === 'speech.audio.timestamps') {
      this.words.push(...(event.words as TimedWord[]))
      this.isEstimated ||= event.estimated === true
    }
    if (event.type !== 'error') return null
    const { message = 'the server failed', code = 'generation_failed' } = event.error as Record<string, string>
    throw new Failure(message, code)
  }
}

/** One segment a sentence; `subtitles` cuts those that are too long for a screen. */
function sentencesOf(input: string, words: readonly TimedWord[], offsetMs: number): TranscriptSegment[] {
  const ms = (seconds: number) => offsetMs + 1000 * seconds
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
      startMs: ms(own[0]!.start),
      endMs: ms(own.at(-1)!.end),
      text: between(own[0]!.text_start, next?.text_start ?? chars.length).trim(),
      words: own.map(({ word, start, end: wordEnd }) => {
        return { text: word, startMs: ms(start), endMs: ms(wordEnd), probability: null }
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
