/**
 * A file as mono samples at its own rate (the mean of the channels), stretch by stretch on request, without what codecs
 * add at either end. What a file states about itself is believed only as far as the data goes: the limit counts what
 * was actually decoded.
 */
import { UnsupportedAac } from './aac.ts'
import { openPacketDecoder, opusPreSkip } from './codecs.ts'
import { type OpenedFile, openFile } from './demux.ts'
import type { Packet } from './packet.ts'
import type { PacketDecoder } from './planes.ts'
import { Refusal, undecodable, unsupported } from './refusal.ts'
import { type Damage, Sound } from './gaps.ts'
import type { ClipBytes } from './source.ts'
import { concatFloats } from '../pcm.ts'

/**
 * Held back from an Ogg stream until its end says how much of it is padding: more than a packet of any codec contains.
 */
const heldBackSeconds = 1

export class MonoReader {
  readonly file: OpenedFile
  readonly #maxSeconds: number
  readonly #sound: Sound
  #givenSamples = 0
  #first: Packet | null = null

  /** @throws Refusal */
  static async open(bytes: ClipBytes, maxSeconds: number): Promise<MonoReader> {
    try {
      return new MonoReader(await openFile(bytes), maxSeconds)
    } catch (error) {
      throw error instanceof Refusal ? error : damaged('file', 0, error)
    }
  }

  private constructor(file: OpenedFile, maxSeconds: number) {
    this.file = file
    this.#maxSeconds = maxSeconds
    this.#sound = new Sound(file)
  }

  /** Known with the first samples. */
  get sampleRateHz(): number {
    return this.#sound.sampleRateHz
  }

  /** Seconds skipped so far. */
  get damage(): Readonly<Damage> {
    return this.#sound.damage
  }

  /**
   * Once. None of the stretches is empty; there is at least one.
   * @throws Refusal when most of the file is damaged, it holds no samples or something else, or is too long
   */
  async *read(): AsyncGenerator<Float32Array> {
    try {
      yield* this.#trimmed()
    } catch (error) {
      if (error instanceof Refusal) throw error
      throw damaged(`audio (${this.file.title})`, this.#sound.seconds, error)
    }
    if (this.#givenSamples === 0) throw undecodable('The file has no samples.')
  }

  async *#trimmed(): AsyncGenerator<Float32Array> {
    const held = new Held()
    let skip: number | null = null
    for await (const mono of this.#decoded()) {
      skip ??= Math.round(this.#startSeconds() * this.sampleRateHz)
      const sound = mono.subarray(Math.min(skip, mono.length))
      skip -= mono.length - sound.length
      const holdBack = this.#isEndTold ? heldBackSeconds * this.sampleRateHz : 0
      for (const stretch of held.exchange(sound, holdBack)) yield* this.#counted(stretch)
    }
    const told = this.#isEndTold ? this.#sound.toldSeconds : null
    const left = told === null ? Infinity : (told - this.#startSeconds()) * this.sampleRateHz - this.#givenSamples
    yield* this.#counted(held.rest(Math.max(0, Math.round(left))))
  }

  async *#decoded(): AsyncGenerator<Float32Array> {
    if (!this.file.isPcm) return yield* this.#sound.of(this.#packets(), await decoderOf(this.file))
    for await (const planes of this.file.planes()) yield* this.#sound.mixed(planes)
  }

  async *#packets(): AsyncGenerator<Packet> {
    for await (const packet of this.file.packets()) {
      this.#first ??= packet
      yield packet
    }
  }

  *#counted(stretch: Float32Array): Generator<Float32Array> {
    if (stretch.length === 0) return
    this.#givenSamples += stretch.length
    const seconds = this.#givenSamples / this.sampleRateHz
    if (seconds > this.#maxSeconds) throw tooLong(Math.max(seconds, this.file.declaredSeconds ?? 0), this.#maxSeconds)
    yield stretch
  }

  /** Samples that are only there to start the decoder. */
  #startSeconds(): number {
    if (this.file.codec === 'opus') return opusPreSkip(this.file.description) / 48000
    return Math.max(0, -(this.#first?.timestamp ?? 0))
  }

  /** Only in Ogg is it known where the padding begins: by the last page's granule position. */
  get #isEndTold(): boolean {
    return this.file.container === 'ogg'
  }
}

/** Stretches that wait for those after them. */
class Held {
  readonly #stretches: Float32Array[] = []
  #samples = 0

  /** Takes a stretch and returns those that exceed the number of samples to hold back. */
  exchange(stretch: Float32Array, holdBack: number): Float32Array[] {
    this.#stretches.push(stretch)
    this.#samples += stretch.length
    let count = 0
    for (const { length } of this.#stretches) {
      if (this.#samples - length < holdBack) break
      this.#samples -= length
      count++
    }
    return this.#stretches.splice(0, count)
  }

  rest(samplesMax: number): Float32Array {
    return concatFloats(this.#stretches.splice(0)).subarray(0, samplesMax)
  }
}

async function decoderOf(file: OpenedFile): Promise<PacketDecoder> {
  try {
    const decoder = await openPacketDecoder(file)
    if (decoder !== null) return decoder
  } catch (error) {
    if (error instanceof UnsupportedAac) throw unsupported(`${error.message} in ${file.title.split(' in ')[1]}`)
    throw error
  }
  throw unsupported(file.title)
}

function damaged(what: string, seconds: number, cause: unknown): Refusal {
  const refusal = undecodable(`The ${what} is damaged: it cannot be decoded past ${seconds.toFixed(1)} s.`)
  refusal.cause = cause
  return refusal
}

const tooLong = (durationSeconds: number, maxSeconds: number): Refusal => {
  const message = `The clip is longer than ${maxSeconds} seconds.`
  const extras = { duration_seconds: Math.round(durationSeconds * 1000) / 1000, max_seconds: maxSeconds }
  return new Refusal('clip_too_long', message, extras)
}
