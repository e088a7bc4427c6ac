/**
 * The audio of all packets, each at its place in time: silence replaces packets that are missing or cannot be decoded,
 * so that everything after them keeps its time. This is done only for files that are mostly intact.
 */
import type { Packet } from './packet.ts'
import type { PacketDecoder, Planes } from './planes.ts'
import { undecodable } from './refusal.ts'

/** The gap that silence fills. */
export interface Damage {
  packets: number
  seconds: number
}

/** More than this may only be missing where more than that came through. */
const toleratedSeconds = 60
/** More than a page of Ogg holds. */
const heldSeconds = 20
/** Smaller differences come from rounding of times. */
const leastMissingSeconds = 0.005

export class Sound {
  readonly #title: string
  readonly #isMp3: boolean
  readonly #damage: Damage = { packets: 0, seconds: 0 }
  #failure: unknown = null
  #sampleRateHz = 0
  /** Silence included. */
  #samples = 0
  /** Silence at the beginning, for which no rate is known yet. */
  #owedSeconds = 0
  /** Audio that waits until its place is known. */
  #held: Float32Array[] | null = null
  #heldSamples = 0
  #packetSeconds = 0
  /** The stream's own clock before the first sample. */
  #originSeconds: number | null = null
  #endSeconds: number | null = null

  /** @param title for words to the client */
  constructor({ title, codec }: { title: string; codec: string }) {
    this.#title = title
    this.#isMp3 = codec === 'mp3'
  }

  get damage(): Readonly<Damage> {
    return this.#damage
  }

  /** 0 before the first samples. */
  get sampleRateHz(): number {
    return this.#sampleRateHz
  }

  /** Total so far. */
  get seconds(): number {
    return this.#samples === 0 ? 0 : this.#samples / this.#sampleRateHz
  }

  /** Length by the container's own clock, without padding at the end; null: it has no clock. */
  get toldSeconds(): number | null {
    return this.#endSeconds === null ? null : this.#endSeconds - (this.#originSeconds ?? 0)
  }

  /** Mono. @throws Refusal when most is damaged; what the decoder threw when nothing at all could be decoded */
  async *of(packets: AsyncIterable<Packet> | Iterable<Packet>, decoder: PacketDecoder): AsyncGenerator<Float32Array> {
    try {
      for await (const packet of packets) {
        if (packet.missingBefore !== 0) yield* this.#gap(packet.missingBefore, await decoder.finish())
        this.#packetSeconds = packet.duration
        if (packet.data.length > 0) yield* this.#decoded(packet.data, decoder)
        if (packet.endsAt !== null) yield* this.#placed(packet.endsAt)
      }
    } catch (error) {
      // The demuxer's, too: what came before it is still sound.
      if (this.#samples === 0) throw error
      this.#note(0, error)
    }
    yield* this.mixed(await decoder.finish())
    yield* this.#released()
    if (this.#samples === 0 && this.#failure !== null) throw this.#failure
    this.#requireMostlyWhole(0)
  }

  *mixed({ channels, sampleRateHz, broken = 0 }: Planes): Generator<Float32Array> {
    if (broken > 0) this.#note(broken * this.#packetSeconds, new Error('it cannot be decoded'), broken)
    const length = channels[0]?.length ?? 0
    if (length === 0) return void (yield* this.#silence(broken * this.#packetSeconds))
    if (this.#sampleRateHz === 0) this.#sampleRateHz = sampleRateHz
    else if (sampleRateHz !== this.#sampleRateHz) throw undecodable('The sample rate changes within the file.')
    const mono = channels.length === 1 ? channels[0]! : meanOf(channels, length)
    if (!mono.every(Number.isFinite))
      throw undecodable('The file contains samples that are not numbers (NaN or infinite).')
    const owed = this.#owedSeconds
    this.#owedSeconds = 0
    yield* this.#silence(owed)
    yield* this.#out(mono)
  }

  async *#decoded(data: Uint8Array, decoder: PacketDecoder): AsyncGenerator<Float32Array> {
    const planes = await this.#attempt(data, decoder)
    if (planes !== null) yield* this.mixed(planes)
    // mpg123 gives nothing for a frame that continues a damaged one.
    const isSkipped = this.#isMp3 && planes !== null && planes.channels[0]?.length === 0
    if (isSkipped) this.#note(this.#packetSeconds, new Error('its frame gave no samples'))
    if (planes !== null && !isSkipped) return
    yield* this.mixed(await decoder.finish())
    // If packets have no duration, the end of their page states it.
    if (this.#packetSeconds === 0) this.#held ??= []
    yield* this.#silence(this.#packetSeconds)
  }

  async #attempt(data: Uint8Array, decoder: PacketDecoder): Promise<Planes | null> {
    try {
      return await decoder.decode(data)
    } catch (error) {
      this.#note(this.#packetSeconds, error)
      return null
    }
  }

  /** @param seconds null: the next page states it @param pending what the decoder had not given yet */
  *#gap(seconds: number | null, pending: Planes): Generator<Float32Array> {
    yield* this.mixed(pending)
    if (seconds === null) this.#held ??= []
    else if (seconds > leastMissingSeconds) yield* this.#missing(seconds)
  }

  *#missing(seconds: number): Generator<Float32Array> {
    this.#note(seconds, new Error('a part is missing'))
    yield* this.#silence(seconds)
  }

  /** Now it is known where the sound so far ends. */
  *#placed(endsAtSeconds: number): Generator<Float32Array> {
    if (this.#samples === 0) return
    this.#originSeconds ??= Math.max(0, endsAtSeconds - this.seconds)
    this.#endSeconds = endsAtSeconds
    const held = this.#held
    if (held === null) return
    this.#held = null
    this.#samples -= this.#heldSamples
    const missing = endsAtSeconds - this.#originSeconds - this.seconds - this.#heldSamples / this.#sampleRateHz
    this.#heldSamples = 0
    if (missing > leastMissingSeconds) yield* this.#missing(missing)
    for (const stretch of held) yield* this.#out(stretch)
  }

  *#released(): Generator<Float32Array> {
    const held = this.#held ?? []
    this.#held = null
    this.#heldSamples = 0
    yield* held
  }

  *#silence(seconds: number): Generator<Float32Array> {
    if (this.#sampleRateHz === 0) this.#owedSeconds += seconds
    else {
      for (let left = Math.round(seconds * this.#sampleRateHz); left > 0; left -= this.#sampleRateHz)
        yield* this.#out(new Float32Array(Math.min(left, this.#sampleRateHz)))
    }
  }

  *#out(mono: Float32Array): Generator<Float32Array> {
    this.#samples += mono.length
    if (this.#held === null) return void (yield mono)
    this.#held.push(mono)
    this.#heldSamples += mono.length
    if (this.#heldSamples > heldSeconds * this.#sampleRateHz) yield* this.#released()
  }

  #note(seconds: number, cause: unknown, packets = 1): void {
    this.#failure ??= cause
    this.#damage.packets += packets
    this.#damage.seconds += seconds
    this.#requireMostlyWhole(toleratedSeconds)
  }

  #requireMostlyWhole(tolerated: number): void {
    const { seconds } = this.#damage
    // Samples that are owed or about to be inserted do not count as audio.
    if (seconds <= tolerated + Math.max(0, this.seconds - seconds)) return
    const refusal = undecodable(`Most of the audio (${this.#title}) is damaged.`)
    refusal.cause = this.#failure
    throw refusal
  }
}

function meanOf(channels: readonly Float32Array[], length: number): Float32Array {
  const mono = new Float32Array(length)
  for (const channel of channels) for (let i = 0; i < length; i++) mono[i]! += channel[i]! / channels.length
  return mono
}
