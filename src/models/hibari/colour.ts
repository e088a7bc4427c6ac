/**
 * The colour of a clip, frame by frame: each frame's cepstrum is moved to where the clip has its own of that kind, by a
 * map between the two as wholes (`transport.ts`), and the spectrum is brought after it. Loud frames get what is theirs;
 * silent ones get the average less 6 dB and no boost, or the room of the clip would be heard between the words (DNSMOS
 * 3.38 instead of 3.27). What changes from frame to frame is smoothed, which takes three frames of patience.
 */
import { activeDb, bands, bandsHz, cepstra, fromCepstrum, measure, toCepstrum } from './features.ts'
import { bins, frameSamples, sampleRateHz, type Spectrum } from './parameters.ts'

export interface Colour {
  /** Of the voice before, of the clip: cepstra. */
  mean: Float64Array
  target: Float64Array
  /** Row by row. */
  map: Float64Array
  /** Level of loud frames before, in dB. */
  loudDb: number
}

/** A boost brings up the noise of the clip. */
const cutDb = -20
const boostDb = 12
/** Frames below those that speak fade into the average so slowly. */
const fadeDb = 12
const neper = Math.LN10 / 20

/** Silence is made so much quieter than the average colour would have it. */
const silenceDb = 6

/** Gaussian of one frame. */
const reach = 3
const kernel = (() => {
  const raw = Array.from({ length: 2 * reach + 1 }, (_, at) => Math.exp(-((at - reach) ** 2) / 2))
  const sum = raw.reduce((total, value) => total + value, 0)
  return raw.map((value) => value / sum)
})()

/** Of each bin: the band below it, and how far it is to the next, over ln(f + 100). */
const places = Array.from({ length: bins }, (_, bin) => {
  const place = (hz: number) => Math.log(hz + 100)
  const at = place((bin * sampleRateHz) / frameSamples)
  const after = bandsHz.findIndex((hz) => place(hz) > at)
  if (after === 0) return { band: 0, share: 0 }
  if (after < 0) return { band: bands - 2, share: 1 }
  const from = place(bandsHz[after - 1]!)
  return { band: after - 1, share: (at - from) / (place(bandsHz[after]!) - from) }
})

interface Held {
  spectrum: Spectrum
  gainsDb: Float64Array
}

export class Colourer {
  readonly #colour: Colour
  /** What is added to frames of silence. */
  readonly #silentDb: Float64Array
  /** Makes the middle band of the average 0. */
  readonly #middleDb: number
  readonly #held: Held[] = []
  readonly #before: Float64Array[] = []
  readonly #powers = new Float64Array(bins)
  readonly #levels = new Float64Array(bands)
  readonly #cepstrum = new Float64Array(cepstra)
  readonly #moved = new Float64Array(cepstra)
  readonly #smooth = new Float64Array(bands)

  constructor(colour: Colour) {
    this.#colour = colour
    const averageDb = new Float64Array(bands)
    const difference = colour.target.map((value, at) => value - colour.mean[at]!)
    fromCepstrum(difference, averageDb)
    this.#middleDb = averageDb.toSorted()[bands >> 1]!
    this.#silentDb = averageDb.map((db) => Math.min(0, db - this.#middleDb - silenceDb))
  }

  /** @returns the frame that came `reach` frames before, coloured; null: it is too early for one */
  push({ re, im }: Spectrum): Spectrum | null {
    this.#held.push({ spectrum: { re: re.slice(), im: im.slice() }, gainsDb: this.#gains(re, im) })
    return this.#held.length > reach ? this.#take() : null
  }

  /** Those that are left, one by one. */
  flush(): Spectrum | null {
    return this.#held.length > 0 ? this.#take() : null
  }

  #take(): Spectrum {
    const { spectrum, gainsDb } = this.#held[0]!
    this.#smooth.fill(0)
    for (let tap = -reach; tap <= reach; tap++) {
      const near = tap < 0 ? this.#before.at(tap) : this.#held[Math.min(tap, this.#held.length - 1)]!.gainsDb
      const gains = near ?? this.#before[0] ?? gainsDb
      for (let band = 0; band < bands; band++) this.#smooth[band]! += kernel[tap + reach]! * gains[band]!
    }
    this.#held.shift()
    this.#before.push(gainsDb)
    if (this.#before.length > reach) this.#before.shift()
    for (let band = 0; band < bands; band++) this.#smooth[band] = limited(this.#smooth[band]!)
    for (let bin = 0; bin < bins; bin++) {
      const { band, share } = places[bin]!
      const db = this.#smooth[band]! + (this.#smooth[band + 1]! - this.#smooth[band]!) * share
      const gain = Math.exp(neper * db)
      spectrum.re[bin]! *= gain
      spectrum.im[bin]! *= gain
    }
    return spectrum
  }

  #gains(re: Float64Array, im: Float64Array): Float64Array {
    const { mean, target, map, loudDb } = this.#colour
    for (let bin = 0; bin < bins; bin++) this.#powers[bin] = re[bin]! ** 2 + im[bin]! ** 2
    const levelDb = measure(this.#powers, this.#levels)
    toCepstrum(this.#levels, this.#cepstrum)
    for (let row = 0; row < cepstra; row++) {
      let sum = target[row]! - this.#cepstrum[row]!
      for (let at = 0; at < cepstra; at++) sum += map[row * cepstra + at]! * (this.#cepstrum[at]! - mean[at]!)
      this.#moved[row] = sum
    }
    const own = new Float64Array(bands)
    fromCepstrum(this.#moved, own)
    const weight = Math.min(1, Math.max(0, (levelDb - (loudDb - activeDb)) / fadeDb + 1))
    for (let band = 0; band < bands; band++) {
      own[band] = weight * (own[band]! - this.#middleDb) + (1 - weight) * this.#silentDb[band]!
    }
    return own
  }
}

const limited = (db: number): number => Math.min(boostDb, Math.max(cutDb, db))
