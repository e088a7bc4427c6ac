/**
 * Sample rate conversion by a rational ratio: a windowed sinc in polyphase form, computed directly at the output times,
 * so a block of input may have any size and the output is the same to the last bit.
 * J. O. Smith, "Digital Audio Resampling" (https://ccrma.stanford.edu/~jos/resample/) gives the scheme; the length and
 * shape of the window are Kaiser's: J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window
 * function", 1974.
 */

export interface Filter {
  /** Stop band attenuation that the window is designed for; above 50. */
  attenuationDb: number
  /** Pass and stop band edges, as shares of the lower of the two Nyquist frequencies. */
  passEdge: number
  stopEdge: number
}

/** For ears. */
const fine: Filter = { attenuationDb: 96, passEdge: 0.91, stopEdge: 1 }
/**
 * For speech recognition: a third of the work. Aliasing falls into the top 4 % of the band, where speech has next to
 * nothing; the tools that such models were trained with cut less sharply.
 */
export const rough: Filter = { attenuationDb: 60, passEdge: 0.88, stopEdge: 1.04 }

/** 22,050 to 32,000 Hz needs 640 phases, 11,025 to 48,000 as many; more means that the rates are nonsense. */
const maxPhases = 1024
const maxRatio = 16
const keptTables = 16

interface FilterTable {
  /** The ratio in lowest terms: `up` output samples for `down` input samples. */
  up: number
  down: number
  /** Input samples on either side of an output time that it depends on. */
  reach: number
  /** `up` filters of `2 * reach` taps each, one for each offset of an output time from the input grid. */
  taps: Float64Array
}

const tables = new Map<string, FilterTable>()

/** One mono stream. Silence is assumed before its start and after its end; nothing is delayed. */
export class Resampler {
  readonly #table: FilterTable | null
  #pending: Float64Array
  /** How many samples at the start of `#pending` count. */
  #held: number
  /** Position in `#pending` of the next output's first tap, and which of the filters it uses. */
  #at = 0
  #phase = 0
  #received = 0
  #sent = 0

  /** @throws RangeError when a rate is not a positive whole number or the ratio is beyond what audio needs */
  constructor(fromHz: number, toHz: number, filter = fine) {
    this.#table = fromHz === toHz && fromHz > 0 ? null : filterTable(fromHz, toHz, filter)
    this.#held = this.#table === null ? 0 : this.#table.reach - 1
    this.#pending = new Float64Array(this.#held)
  }

  /** @returns the output that is final by now, in a buffer of its own */
  push(samples: Float32Array): Float32Array<ArrayBuffer> {
    if (this.#table === null) return new Float32Array(samples)
    this.#append(samples)
    this.#received += samples.length
    return this.#convert(this.#table, Infinity)
  }

  /** The rest: after it, `round(received * to / from)` samples have come out. The resampler then starts afresh. */
  flush(): Float32Array<ArrayBuffer> {
    const table = this.#table
    if (table === null) return new Float32Array(0)
    const total = Math.round((this.#received * table.up) / table.down)
    this.#append(new Float32Array(table.reach + 1))
    const rest = this.#convert(table, total - this.#sent)
    this.#held = table.reach - 1
    this.#pending = new Float64Array(this.#held)
    this.#at = this.#phase = this.#received = this.#sent = 0
    return rest
  }

  #append(samples: Float32Array): void {
    const kept = this.#held - this.#at
    const next = kept + samples.length <= this.#pending.length ? this.#pending : new Float64Array(kept + samples.length)
    next.set(this.#pending.subarray(this.#at, this.#held))
    next.set(samples, kept)
    this.#pending = next
    this.#held = kept + samples.length
    this.#at = 0
  }

  #convert({ up, down, reach, taps }: FilterTable, limit: number): Float32Array<ArrayBuffer> {
    const width = 2 * reach
    const steps = Math.max(0, Math.ceil(((this.#held - this.#at - width + 1) * up - this.#phase) / down))
    const output = new Float32Array(Math.min(steps, limit))
    const pending = this.#pending
    let at = this.#at
    let phase = this.#phase
    for (let i = 0; i < output.length; i++) {
      output[i] = product(taps, phase * width, pending, at, width)
      phase += down
      at += Math.floor(phase / up)
      phase %= up
    }
    this.#at = at
    this.#phase = phase
    this.#sent += output.length
    return output
  }
}

/**
 * The sum of products, in two sums in turn, because each addition waits for the one before it in its sum. Both places
 * are cut to whole numbers, which they are: where the compiler does not see that, it takes four times as long.
 * @param count even
 */
function product(taps: Float64Array, tap: number, samples: Float64Array, sample: number, count: number): number {
  let even = 0
  let odd = 0
  const end = (tap + count) | 0
  for (let from = tap | 0, at = sample | 0; from < end; from += 2, at += 2) {
    even += taps[from]! * samples[at]!
    odd += taps[from + 1]! * samples[at + 1]!
  }
  return even + odd
}

/**
 * For the rates found in files: a rate without a filter counts as the nearest one that has a filter, up to 0.1 % off.
 * @throws RangeError when no rate is near enough
 */
export function resamplerNear(fromHz: number, toHz: number, filter = fine): Resampler {
  for (let off = 0; ; off++) {
    for (const nearHz of [fromHz - off, fromHz + off]) {
      try {
        return new Resampler(nearHz, toHz, filter)
      } catch (error) {
        if (!(off < fromHz / 1000)) throw error
      }
    }
  }
}

function filterTable(fromHz: number, toHz: number, filter: Filter): FilterTable {
  if (!Number.isSafeInteger(fromHz) || !Number.isSafeInteger(toHz) || fromHz <= 0 || toHz <= 0) {
    throw new RangeError(`Cannot resample from ${fromHz} to ${toHz} Hz: a rate is a positive whole number.`)
  }
  const divisor = greatestCommonDivisor(fromHz, toHz)
  const up = toHz / divisor
  const down = fromHz / divisor
  if (up > maxPhases || down > maxPhases || up > maxRatio * down || down > maxRatio * up) {
    throw new RangeError(`Cannot resample from ${fromHz} to ${toHz} Hz: the ratio ${up}:${down} is out of range.`)
  }
  const key = `${up}:${down} ${filter.attenuationDb}`
  const table = tables.get(key) ?? designTable(up, down, filter)
  tables.delete(key)
  tables.set(key, table)
  if (tables.size > keptTables) tables.delete(tables.keys().next().value!)
  return table
}

/** Frequencies below are in cycles per input sample; the input's own Nyquist frequency is 0.5. */
function designTable(up: number, down: number, { attenuationDb, passEdge, stopEdge }: Filter): FilterTable {
  const lowerNyquist = 0.5 * Math.min(1, up / down)
  const cutoff = lowerNyquist * ((passEdge + stopEdge) / 2)
  const transition = 2 * Math.PI * lowerNyquist * (stopEdge - passEdge)
  // Kaiser's estimates of the filter's order and of the window's shape (valid above 50 dB).
  const order = (attenuationDb - 7.95) / (2.285 * transition)
  const beta = 0.1102 * (attenuationDb - 8.7)
  const reach = Math.ceil(order / 2)
  const width = 2 * reach
  const taps = new Float64Array(up * width)
  for (let phase = 0; phase < up; phase++) {
    const filter = taps.subarray(phase * width, (phase + 1) * width)
    let gain = 0
    for (let k = 0; k < width; k++) {
      const distance = k - reach + 1 - phase / up
      const tap = sinc(2 * cutoff * distance) * kaiser(distance / reach, beta)
      filter[k] = tap
      gain += tap
    }
    // Each phase passes a constant unchanged: otherwise one would come out with a ripple at the input's rate.
    for (let k = 0; k < width; k++) filter[k]! /= gain
  }
  return { up, down, reach, taps }
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

const kaiser = (x: number, beta: number): number =>
  Math.abs(x) > 1 ? 0 : besselI0(beta * Math.sqrt(1 - x * x)) / besselI0(beta)

/** Modified Bessel function of the first kind, order 0: the sum of ((x/2)^k / k!)^2. */
function besselI0(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
