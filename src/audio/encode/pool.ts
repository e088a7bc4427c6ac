/**
 * Encoding for the server: a fixed number of Workers, each with many streams, so that no codec runs on the thread that
 * answers requests and sixty streams do not cost sixty Workers (7 MB and 20 ms each). Stands behind the service's port
 * `Encoders`. pcm and wav are copies and stay on the calling thread.
 */
import { type AudioFormat, defaultSampleRateHz } from '../../domain/speech.ts'
import type { CodecFormat } from './codec.ts'
import { libopusPath } from './libopus.ts'
import { EncodeThread } from './thread.ts'
import { concatBytes, s16AsBytes } from '../pcm.ts'
import { wavHeader } from '../wav.ts'

export interface StreamEncoder {
  /** @returns bytes that are ready, possibly none @throws Error when closed or when the encoder's thread died */
  encode(pcm: Int16Array): Promise<Uint8Array>
  /** The rest; legal without audio. The encoder is closed afterwards. */
  finish(): Promise<Uint8Array>
  /** Gives up: a pending call fails. Harmless afterwards and more than once. */
  close(): void
}

const nothing = new Uint8Array(0)

/** What a codec has encoded, and how long it took. */
export type OnEncoded = (format: AudioFormat, soundMs: number, busyMs: number) => void

export class EncoderPool {
  readonly #threads: (EncodeThread | null)[]
  readonly #onEncoded: OnEncoded
  #streams = 0
  #closed = false

  /** Threads start when they are first needed. @throws RangeError when there would be none */
  constructor({ workers, onEncoded = () => {} }: { workers: number; onEncoded?: OnEncoded }) {
    this.#onEncoded = onEncoded
    if (!Number.isInteger(workers) || workers < 1)
      throw new RangeError(`An encoder pool cannot have ${workers} threads.`)
    this.#threads = Array.from({ length: workers }, () => null)
  }

  /**
   * @param sampleRateHz of the PCM, and of what comes out
   * @throws RangeError when the format cannot have that rate, Error when the pool is closed or the thread died
   */
  async open(format: AudioFormat, sampleRateHz: number): Promise<StreamEncoder> {
    if (this.#closed) throw new Error('The encoder pool is closed.')
    if (format === 'pcm') return new CopyEncoder(null)
    if (format === 'wav') return new CopyEncoder(wavHeader(sampleRateHz, null))
    return this.#openOn(this.#leastLoaded(), format, sampleRateHz)
  }

  /**
   * Starts every thread and has each compile these codecs, so that the first request does not wait for it. One after
   * the other, because requests come meanwhile.
   */
  async warm(formats: readonly AudioFormat[]): Promise<void> {
    const codecs = formats.filter((format) => format !== 'pcm' && format !== 'wav')
    const silence = new Int16Array(defaultSampleRateHz / 10)
    for (const index of this.#threads.keys()) {
      for (const format of codecs) {
        const encoder = await this.#openOn(this.#thread(index), format, defaultSampleRateHz)
        await encoder.encode(silence)
        await encoder.finish()
      }
    }
  }

  /** Ends all threads; open streams fail. */
  close(): void {
    this.#closed = true
    for (const thread of this.#threads) thread?.close()
  }

  async #openOn(thread: EncodeThread, format: CodecFormat, sampleRateHz: number): Promise<StreamEncoder> {
    const stream = this.#streams++
    const library = format === 'opus' ? libopusPath() : ''
    thread.add(stream)
    try {
      await thread.ask({ name: 'open', stream, format, sampleRateHz, library })
    } catch (error) {
      thread.remove(stream)
      throw error
    }
    return new ThreadEncoder(thread, stream, sampleRateHz, (...what) => this.#onEncoded(format, ...what))
  }

  /** A thread that runs already wins over one that would have to be started. */
  #leastLoaded(): EncodeThread {
    const load = (thread: EncodeThread | null): number => (thread === null ? 0.5 : thread.streams)
    let best = 0
    for (let i = 1; i < this.#threads.length; i++) {
      if (load(this.#threads[i] ?? null) < load(this.#threads[best] ?? null)) best = i
    }
    return this.#thread(best)
  }

  #thread(index: number): EncodeThread {
    const thread = this.#threads[index] ?? new EncodeThread(() => (this.#threads[index] = null))
    this.#threads[index] = thread
    return thread
  }
}

/** A stream on a thread. Long input goes over in pieces of a second, so that no stream holds up the others. */
class ThreadEncoder implements StreamEncoder {
  readonly #thread: EncodeThread
  readonly #stream: number
  readonly #pieceSamples: number
  readonly #onEncoded: (soundMs: number, busyMs: number) => void
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    thread: EncodeThread,
    stream: number,
    sampleRateHz: number,
    onEncoded: (soundMs: number, busyMs: number) => void,
  ) {
    this.#onEncoded = onEncoded
    this.#thread = thread
    this.#stream = stream
    this.#pieceSamples = sampleRateHz
  }

  encode(pcm: Int16Array): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const parts: Uint8Array[] = []
      for (let at = 0; at < pcm.length; at += this.#pieceSamples) {
        const piece = new Int16Array(pcm.subarray(at, at + this.#pieceSamples))
        const soundMs = (1000 * piece.length) / this.#pieceSamples
        const call = { name: 'encode', stream: this.#stream, pcm: piece } as const
        const { bytes, busyMs } = await this.#thread.ask(call, [piece.buffer])
        this.#onEncoded(soundMs, busyMs)
        parts.push(bytes)
      }
      return parts.length === 1 ? parts[0]! : concatBytes(parts)
    })
  }

  finish(): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const { bytes } = await this.#thread.ask({ name: 'finish', stream: this.#stream })
      this.#thread.remove(this.#stream)
      return bytes
    })
  }

  close(): void {
    this.#thread.drop(this.#stream)
  }

  #inTurn(call: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const turn = this.#last.then(call)
    this.#last = turn.catch(() => null)
    return turn
  }
}

/** Samples as bytes, after a header if there is one: it leaves with the first audio, or with the end. */
class CopyEncoder implements StreamEncoder {
  #header: Uint8Array | null
  #open = true

  constructor(header: Uint8Array | null) {
    this.#header = header
  }

  async encode(pcm: Int16Array): Promise<Uint8Array> {
    if (!this.#open) throw new Error('The encoder is closed.')
    return pcm.length === 0 ? nothing : this.#withHeader(s16AsBytes(pcm))
  }

  async finish(): Promise<Uint8Array> {
    if (!this.#open) throw new Error('The encoder is closed.')
    this.#open = false
    return this.#withHeader(nothing)
  }

  close(): void {
    this.#open = false
  }

  #withHeader(bytes: Uint8Array): Uint8Array {
    if (this.#header === null) return bytes
    const whole = concatBytes([this.#header, bytes])
    this.#header = null
    return whole
  }
}
