/**
 * A book being spoken: its pieces one after another, joined to one MP3 with chapter marks. It continues while other
 * pages are open. What failed or was paused continues from where it was.
 */
import type { Book, Chapter } from '../../book/book.ts'
import { id3Tag } from '../../book/id3.ts'
import { fewEnough, type Mark } from '../../book/marks.ts'
import { mp3Stream } from '../../book/mp3-frames.ts'
import { pieces } from '../../book/pieces.ts'
import { ApiError, jsonType, request } from '../api.ts'

export interface Manner {
  voice: string | null
  model: string | null
  speed: number
}

/** Each piece begins and ends with this much silence already: the encoder's. */
const encoderSilenceS = 0.09
const maxTries = 6

interface Part {
  text: string
  pauseSeconds: number
  chapter: number
}

interface Spoken {
  /** Frames, and the silence behind them. */
  sound: Blob
  seconds: number
}

export class BookSpeech extends EventTarget {
  readonly title: string | null
  readonly #author: string | null
  readonly #manner: Manner
  readonly chapters: readonly Chapter[]
  readonly #parts: readonly Part[]
  readonly #spoken: Spoken[] = []
  #abort: AbortController | null = null
  error: Error | null = null
  /** null: not whole yet. */
  file: Blob | null = null

  /** @param chapters those that are wanted @param maxChars of a request */
  constructor({ title, author }: Book, chapters: readonly Chapter[], manner: Manner, maxChars: number) {
    super()
    this.title = title
    this.#author = author
    this.#manner = manner
    this.chapters = chapters
    this.#parts = chapters.flatMap(({ text }, chapter) =>
      pieces(text, maxChars).map((piece) => ({ ...piece, chapter })),
    )
  }

  get isRunning(): boolean {
    return this.#abort !== null
  }

  /** 0 to 1. */
  get share(): number {
    return this.#parts.length === 0 ? 1 : this.#spoken.length / this.#parts.length
  }

  /** The chapter that is being spoken, from 0. */
  get chapter(): number {
    return this.#parts[Math.min(this.#spoken.length, this.#parts.length - 1)]?.chapter ?? 0
  }

  get seconds(): number {
    return this.#spoken.reduce((sum, { seconds }) => sum + seconds, 0)
  }

  /** Begins, or continues where it ended. */
  async run(): Promise<void> {
    if (this.isRunning || this.file !== null) return
    const abort = new AbortController()
    this.#abort = abort
    this.error = null
    this.#tell()
    try {
      for (let part = this.#parts[this.#spoken.length]; part !== undefined; part = this.#parts[this.#spoken.length]) {
        this.#spoken.push(await this.#speak(part, abort.signal))
        this.#tell()
      }
      this.file = new Blob([id3Tag(this.#marks()), ...this.#spoken.map(({ sound }) => sound)], { type: 'audio/mpeg' })
    } catch (cause) {
      if (!abort.signal.aborted) this.error = cause as Error
    } finally {
      this.#abort = null
      this.#tell()
    }
  }

  stop(): void {
    this.#abort?.abort()
  }

  async #speak({ text, pauseSeconds }: Part, signal: AbortSignal): Promise<Spoken> {
    const body = JSON.stringify({ input: text, ...given(this.#manner), response_format: 'mp3' })
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await request('/v1/audio/speech', { method: 'POST', headers: jsonType, body, signal })
        const { frames, seconds, silence } = mp3Stream(new Uint8Array(await answer.arrayBuffer()))
        const rest = silence(pauseSeconds - encoderSilenceS)
        const sound = new Blob([new Uint8Array(frames), rest])
        return { sound, seconds: seconds + (rest.length === 0 ? 0 : mp3Stream(rest).seconds) }
      } catch (cause) {
        const waitMs = cause instanceof ApiError ? cause.retryAfterMs : null
        if (waitMs === null || attempt === maxTries) throw cause
        await pause(waitMs, signal)
      }
    }
  }

  #marks() {
    const marks: Mark[] = this.chapters.map(({ title }) => ({ title, startMs: 0, endMs: 0 }))
    let ms = 0
    for (const [index, { chapter }] of this.#parts.entries()) {
      const mark = marks[chapter]
      if (mark === undefined) continue
      if (mark.endMs === 0) mark.startMs = ms
      ms += 1000 * (this.#spoken[index]?.seconds ?? 0)
      mark.endMs = ms
    }
    return { title: this.title, author: this.#author, chapters: marks.length > 1 ? fewEnough(marks) : [] }
  }

  #tell(): void {
    this.dispatchEvent(new Event('change'))
  }
}

const given = ({ voice, model, speed }: Manner) => ({
  ...(voice === null ? {} : { voice }),
  ...(model === null ? {} : { model }),
  ...(speed === 1 ? {} : { speed }),
})

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    reject(signal.reason as Error)
  })
  return promise
}
