/**
 * A text of any length on its way to becoming sound: its parts are spoken one after another, played while they come,
 * and joined into one file. It continues while other pages are open.
 */
import { type Piece, pieces } from '../../book/pieces.ts'
import { ApiError } from '../api.ts'
import { wavOf } from '../recording/wav.ts'
import { PeakMeter } from './peaks.ts'
import { type Playback, playMp3, playPcm, playWhole, streamsMp3 } from './playback.ts'
import { cancel, type Format, sampleRateHz, settled, speak, type SpeechAsk, typeOf } from './speech.ts'
import { charsOf } from './typed.ts'

export type ReadingState = 'speaking' | 'completed' | 'cancelled' | 'failed' | 'refused'

/** Everything that is known of it; a new object whenever that changes. */
export interface Reading {
  ask: SpeechAsk
  state: ReadingState
  /** Parts in all, and those spoken to their end. */
  parts: number
  done: number
  operationIds: readonly string[]
  /** From the request to the first audible sound. */
  firstSoundMs: number | null
  /** From the request to the last byte. */
  tookMs: number | null
  receivedBytes: number
  /** As the server recorded them. */
  seconds: number
  chargedMicros: number
  /** Of what arrived; none for formats that are not raw. */
  peaks: readonly number[]
  error: Error | null
  /** What arrived, in the requested format; null: still coming, or nothing came. */
  file: Blob | null
}

/** Files of these formats are one stream: two of them in a row are no file. */
const undivided: readonly Format[] = ['opus', 'flac']

/** @returns why this text cannot be had in this format; null: it can */
export const refusalOf = ({ input, format }: SpeechAsk, maxChars: number): string | null =>
  undivided.includes(format) && charsOf(input.trim()) > maxChars
    ? `A text of more than ${maxChars} characters comes as WAV, MP3, AAC or PCM.`
    : null

/** As one request if it fits, so that its tone is even; longer ones are cut where a reader would take a breath. */
function partsOf(text: string, maxChars: number): Piece[] {
  const whole = text.trim()
  return charsOf(whole) <= maxChars ? [{ text: whole, pauseSeconds: 0 }] : pieces(whole, maxChars)
}

/** What a pause is in 16 bits. */
const silence = (seconds: number) => new Uint8Array(2 * Math.round(seconds * sampleRateHz))

const isRaw = (format: Format): boolean => format === 'wav' || format === 'pcm'

/** A refusal that asks to wait is tried again this often. */
const maxTries = 6

export class Reader {
  readonly playback: Playback
  /** Resolves when it has been heard to its end, or stopped. */
  readonly heard: Promise<void>
  /** Resolves when everything has arrived and is settled, or will never. */
  readonly whole: Promise<Reading>
  reading: Reading
  readonly #abort = new AbortController()
  readonly #meter = new PeakMeter()
  readonly #bytes: Uint8Array<ArrayBuffer>[] = []
  readonly #beganMs = performance.now()
  readonly #onChange: (reading: Reading) => void

  /** @param maxChars of a request @param onChange called whenever more is known */
  constructor(ask: SpeechAsk, maxChars: number, onChange: (reading: Reading) => void) {
    this.#onChange = onChange
    const parts = partsOf(ask.input, maxChars)
    this.reading = {
      ask,
      state: 'speaking',
      parts: parts.length,
      done: 0,
      operationIds: [],
      firstSoundMs: null,
      tookMs: null,
      receivedBytes: 0,
      seconds: 0,
      chargedMicros: 0,
      peaks: this.#meter.peaks,
      error: null,
      file: null,
    }
    const onSound = () => this.#change({ firstSoundMs: performance.now() - this.#beganMs })
    this.playback = playbackOf(ask.format, onSound)
    const heard = Promise.withResolvers<void>()
    this.heard = heard.promise
    this.whole = this.#run(ask, parts, heard.resolve)
  }

  /** The server stops at once; what has arrived stays. */
  async cancel(): Promise<void> {
    if (this.reading.state !== 'speaking') return
    const last = this.reading.operationIds.at(-1)
    if (last !== undefined) await cancel(last)
    this.#abort.abort()
  }

  async #run(ask: SpeechAsk, parts: readonly Piece[], onHeard: () => void): Promise<Reading> {
    const records: ReturnType<typeof settled>[] = []
    let error: Error | null = null
    try {
      for (const { text: input, pauseSeconds } of parts) {
        const id = await this.#part({ ...ask, input })
        if (id !== null) records.push(settled(id))
        this.#change({ done: this.reading.done + 1 })
        if (isRaw(ask.format) && this.reading.done < parts.length) this.#take(silence(pauseSeconds))
      }
    } catch (cause) {
      error = cause as Error
      this.playback.stop()
      // What came of the part that ended early is on record, too.
      const last = this.reading.operationIds.at(-1)
      if (last !== undefined && this.reading.operationIds.length > records.length) records.push(settled(last))
    }
    this.#change({ tookMs: performance.now() - this.#beganMs })
    if (error === null) void this.playback.finish().then(onHeard)
    else onHeard()
    this.#change(outcomeOf(await Promise.all(records), error, this.#abort.signal.aborted))
    this.#change({ file: this.reading.receivedBytes === 0 ? null : this.#file(ask.format) })
    return this.reading
  }

  /** @returns the operation's id */
  async #part(ask: SpeechAsk): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      let id: string | null = null
      try {
        const accepted = (operationId: string) => {
          id = operationId
          this.#change({ operationIds: [...this.reading.operationIds, operationId] })
        }
        await speak(ask, accepted, (bytes) => this.#take(bytes), this.#abort.signal)
        return id
      } catch (cause) {
        const waitMs = cause instanceof ApiError && id === null ? cause.retryAfterMs : null
        if (waitMs === null || attempt === maxTries || this.reading.parts === 1) throw cause
        await pause(waitMs, this.#abort.signal)
      }
    }
  }

  #take(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes.push(bytes)
    this.playback.push(bytes)
    if (isRaw(this.reading.ask.format)) this.#meter.push(bytes)
    this.#change({ receivedBytes: this.reading.receivedBytes + bytes.length })
  }

  #file(format: Format): Blob {
    return format === 'wav' ? wavOf(this.#bytes, sampleRateHz) : new Blob(this.#bytes, { type: typeOf[format] })
  }

  #change(change: Partial<Reading>): void {
    this.reading = { ...this.reading, ...change }
    this.#onChange(this.reading)
  }
}

type Records = readonly Awaited<ReturnType<typeof settled>>[]

function outcomeOf(records: Records, error: Error | null, isAborted: boolean): Partial<Reading> {
  const seconds = records.reduce((sum, record) => sum + (record?.seconds ?? 0), 0)
  const chargedMicros = records.reduce((sum, record) => sum + (record?.chargedMicros ?? 0), 0)
  const known = { seconds, chargedMicros }
  // A cancelled stream ends early; that is not a failure.
  if (isAborted || records.some((record) => record?.outcome === 'cancelled')) return { ...known, state: 'cancelled' }
  if (error === null) {
    const isWhole = records.every((record) => record === null || record.outcome === 'completed')
    return { ...known, state: isWhole ? 'completed' : 'failed' }
  }
  const isRefused = error instanceof ApiError && error.status > 0
  return { ...known, error, state: isRefused ? 'refused' : 'failed' }
}

function playbackOf(format: Format, onSound: () => void): Playback {
  if (isRaw(format)) return playPcm(onSound)
  return format === 'mp3' && streamsMp3() ? playMp3(onSound) : playWhole(typeOf[format], onSound)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    reject(signal.reason as Error)
  })
  return promise
}
