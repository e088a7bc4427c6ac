/**
 * Faster or slower speech at the same pitch, for voices without a pace setting: overlapping pieces of the sound are put
 * closer together or further apart, each shifted a little so that it continues the one before smoothly. W. Verhelst, M.
 * Roelands, "An overlap-add technique based on waveform similarity (WSOLA)", ICASSP 1993.
 */

/** Of one piece; half of it overlaps the next. Two periods of a low voice. */
const pieceS = 0.03
/** How far a piece may be moved to either side: one period of a low voice. */
const reachS = 0.0125
/** Every third place is tried first. */
const coarse = 3

/** One mono stream. What comes out is delayed by some 45 ms of input. */
export class Stretcher {
  readonly #speed: number
  readonly #half: number
  readonly #reach: number
  readonly #fadeIn: Float64Array
  #input = new Float32Array(0)
  /** Of the whole stream: where `#input` begins, what was received, what was given out. */
  #inputAt = 0
  #received = 0
  #sent = 0
  #pieces = 0
  /** How the sound continues after the last piece; the next piece is faded into it. */
  #tail: Float32Array | null = null

  /** @param speed 2: twice as fast @throws RangeError when it is not between 0.25 and 4 */
  constructor(sampleRateHz: number, speed: number) {
    if (!(speed >= 0.25 && speed <= 4))
      throw new RangeError(`Cannot speak ${speed} times as fast: 0.25 to 4 is possible.`)
    this.#speed = speed
    this.#half = Math.round((pieceS * sampleRateHz) / 2)
    this.#reach = Math.round(reachS * sampleRateHz)
    this.#fadeIn = Float64Array.from({ length: this.#half }, (_, at) => {
      return 0.5 - 0.5 * Math.cos((Math.PI * (at + 0.5)) / this.#half)
    })
  }

  /** @returns what is final by now, in a buffer of its own; at speed 1 the input itself, to the last bit */
  push(samples: Float32Array): Float32Array<ArrayBuffer> {
    if (this.#speed === 1) return new Float32Array(samples)
    this.#append(samples)
    this.#received += samples.length
    return this.#stretch(() => this.#nominal() + this.#reach + 2 * this.#half <= this.#received, Infinity)
  }

  /** The rest: after it, `round(received / speed)` samples have come out. The stretcher then starts afresh. */
  flush(): Float32Array<ArrayBuffer> {
    if (this.#speed === 1) return new Float32Array(0)
    const total = Math.round(this.#received / this.#speed)
    this.#append(new Float32Array(this.#reach + 4 * this.#half + Math.ceil(this.#half * this.#speed)))
    const rest = this.#stretch(() => this.#sent < total, total - this.#sent)
    this.#input = new Float32Array(0)
    this.#inputAt = this.#received = this.#sent = this.#pieces = 0
    this.#tail = null
    return rest
  }

  #append(samples: Float32Array): void {
    const kept = this.#input.subarray(this.#keptFrom() - this.#inputAt)
    this.#inputAt = this.#keptFrom()
    const next = new Float32Array(kept.length + samples.length)
    next.set(kept)
    next.set(samples, kept.length)
    this.#input = next
  }

  #keptFrom(): number {
    return Math.max(this.#inputAt, Math.min(this.#nominal() - this.#reach, this.#inputAt + this.#input.length))
  }

  /** Where the next piece would be taken from if it were not moved. */
  #nominal(): number {
    return Math.round(this.#pieces * this.#half * this.#speed)
  }

  #stretch(isReady: () => boolean, limit: number): Float32Array<ArrayBuffer> {
    const parts: Float32Array[] = []
    while (isReady()) {
      const from = this.#place() - this.#inputAt
      const piece = this.#input.slice(from, from + this.#half)
      if (this.#tail !== null) this.#fade(this.#tail, piece)
      this.#tail = this.#input.slice(from + this.#half, from + 2 * this.#half)
      this.#pieces++
      this.#sent += piece.length
      parts.push(piece)
    }
    const all = new Float32Array(parts.length * this.#half)
    for (const [at, part] of parts.entries()) all.set(part, at * this.#half)
    return all.length > limit ? all.slice(0, limit) : all
  }

  /** From the end of one piece to the start of the next. */
  #fade(out: Float32Array, into: Float32Array): void {
    for (let at = 0; at < into.length; at++) {
      const share = this.#fadeIn[at]!
      into[at] = out[at]! * (1 - share) + into[at]! * share
    }
  }

  /** Near the nominal place, where the sound is most like the continuation of the last piece. */
  #place(): number {
    const nominal = this.#nominal()
    const tail = this.#tail
    if (tail === null) return nominal
    const lowest = Math.max(this.#inputAt, nominal - this.#reach)
    const highest = nominal + this.#reach
    let best = { place: nominal, likeness: this.#likeness(tail, nominal) }
    const offer = (place: number) => {
      const likeness = this.#likeness(tail, place)
      if (likeness > best.likeness) best = { place, likeness }
    }
    for (let place = lowest; place <= highest; place += coarse) offer(place)
    const middle = best.place
    for (let place = middle - coarse + 1; place < middle + coarse; place++) {
      if (place >= lowest && place <= highest && place !== middle) offer(place)
    }
    return best.place
  }

  /** Correlation, normalised by the energy of the place. */
  #likeness(tail: Float32Array, place: number): number {
    const from = place - this.#inputAt
    const input = this.#input
    let product = 0
    let energy = 1e-9
    for (let at = 0; at < tail.length; at++) {
      const sample = input[from + at]!
      product += tail[at]! * sample
      energy += sample * sample
    }
    return product / Math.sqrt(energy)
  }
}
