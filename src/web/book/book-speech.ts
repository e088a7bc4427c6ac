/**
 * A book being spoken: its pieces one after another, joined to one MP3 with chapter marks. It continues while other
 * pages are open. What failed, was paused or reloaded continues from where it was. A whole one goes to the history.
 */
import type { Chapter } from '../../book/book.ts'
import { id3Tag } from '../../book/id3.ts'
import { fewEnough, type Mark } from '../../book/marks.ts'
import { mp3Stream } from '../../book/mp3-frames.ts'
import { pieces } from '../../book/pieces.ts'
import { ApiError, jsonType, request } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { peaksOf } from '../speak/peaks.ts'
import { studio } from '../speak/studio.ts'
import { forgetBook, keepPart, keepPlan, type Manner, type Plan, type SpokenPart } from './shelf.ts'

/** Each piece begins and ends with this much silence already: the encoder's. */
const encoderSilenceS = 0.09
const maxTries = 6

interface Part {
  text: string
  pauseSeconds: number
  chapter: number
}

export class BookSpeech extends EventTarget {
  readonly plan: Plan
  readonly #parts: readonly Part[]
  readonly #spoken: SpokenPart[]
  #abort: AbortController | null = null
  #isUnkept = false
  error: Error | null = null
  /** null: not whole yet. */
  file: Blob | null = null

  /** @param spoken in order: those that still are parts of it need not be spoken again */
  constructor(plan: Plan, spoken: readonly SpokenPart[] = []) {
    super()
    this.plan = plan
    this.#parts = plan.chapters.flatMap(({ text }, chapter) =>
      pieces(text, plan.maxChars).map((piece) => ({ ...piece, chapter })),
    )
    const other = spoken.findIndex((part, index) => part.at !== index || part.text !== this.#parts[index]?.text)
    this.#spoken = spoken.slice(0, other === -1 ? spoken.length : other)
  }

  get chapters(): readonly Chapter[] {
    return this.plan.chapters
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
      if (this.#spoken.length === 0) await this.#keep(keepPlan(this.plan))
      for (let part = this.#parts[this.#spoken.length]; part !== undefined; part = this.#parts[this.#spoken.length]) {
        const { sound, seconds } = await this.#speak(part, abort.signal)
        const spoken = { planId: this.plan.id, at: this.#spoken.length, text: part.text, sound, seconds }
        this.#spoken.push(spoken)
        await this.#keep(keepPart(spoken))
        this.#tell()
      }
      this.file = new Blob([id3Tag(this.#marks()), ...this.#spoken.map(({ sound }) => sound)], { type: 'audio/mpeg' })
      await this.#finish(this.file)
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

  /** Without room in the browser it still is spoken to its end, while the page stays open. */
  async #keep(kept: Promise<unknown>): Promise<void> {
    await kept.catch((error: Error) => {
      if (!this.#isUnkept) announce(`The browser does not keep what is spoken: ${error.message} Leave this page open.`)
      this.#isUnkept = true
    })
  }

  async #finish(file: Blob): Promise<void> {
    const { id, accountId, name, title, manner, voiceName, chapters } = this.plan
    const of = { id, accountId, createdAtMs: Date.now(), text: title ?? name, chapters: chapters.length }
    const how = { voiceId: manner.voice, voiceName, model: manner.model, speed: manner.speed, format: 'mp3' } as const
    await studio.add({ ...of, ...how, isWhole: true, seconds: this.seconds, peaks: await peaksOf(file), file })
    await this.#keep(forgetBook(accountId))
  }

  async #speak({ text, pauseSeconds }: Part, signal: AbortSignal) {
    const body = JSON.stringify({ input: text, ...given(this.plan.manner), response_format: 'mp3' })
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
    const { title, author } = this.plan
    return { title, author, chapters: marks.length > 1 ? fewEnough(marks) : [] }
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
