/**
 * Turns parameters into sound. Of each frame the spectrum is
 *
 *     S = exp(harmonicLog) e^(i pi tanh(harmonicTurn)) P + exp(restLog) e^(i restPhase)
 *
 * where P is the spectrum of the pulses there, and the sound is the inverse transform of all frames, windowed and
 * overlapped. A block of 300 samples needs its own frame, one before and two after it, so that the first samples are
 * there a few milliseconds after the graph, however long the chunk is.
 */
import { Fft, hann } from '../../audio/fft.ts'
import { Colourer } from './colour.ts'
import { bins, frameSamples, hopSamples, leastVoicedHz, mostLog, type Parameters, type Spectrum } from './parameters.ts'
import { Pulses } from './pulses.ts'
import { type FrameRows, type Shape, shapedPitch, Shaper } from './shape.ts'

/** Frames that overlap at any sample. */
const overlap = frameSamples / hopSamples
/** Less than e^-9 in a bin, 100 dB below full scale, is not worth its sine. */
const silentLog = -9
/** Parameters are stored bin by bin and needed frame by frame, so this many frames at a time are transposed. */
const tileFrames = 16

const window = hann(frameSamples)
/** So that a cosine of height 1 has a peak of 1 in the spectrum. */
const scaledWindow = window.map((weight) => weight / (frameSamples / overlap))
const fft = new Fft(frameSamples)

const newSpectrum = (): Spectrum => ({ re: new Float64Array(bins), im: new Float64Array(bins) })
const noSpectrum = newSpectrum()

/** Frames of speech: from the first to before the last. */
export interface FrameSpan {
  from: number
  to: number
}

export class Vocoder {
  readonly #parameters: Parameters
  readonly #span: FrameSpan
  readonly #pulses: Pulses
  readonly #shaper: Shaper | null
  readonly #colourer: Colourer | null
  readonly #tile: { from: Float32Array; to: Float32Array }[]
  #tileAt = -1
  readonly #re = new Float64Array(frameSamples)
  readonly #im = new Float64Array(frameSamples)
  readonly #pair = [newSpectrum(), newSpectrum()] as const
  /** Sums of the frames so far, from two blocks before the last one on. */
  readonly #sums = new Float64Array(frameSamples)

  /** @param span what of the chunk is wanted @param shape of another voice; null: the graph's own */
  constructor(
    parameters: Parameters,
    span: FrameSpan = { from: 0, to: parameters.frames },
    shape: Shape | null = null,
  ) {
    this.#parameters = parameters
    this.#span = span
    this.#shaper = shape === null ? null : new Shaper(shape)
    this.#colourer = shape?.colour == null ? null : new Colourer(shape.colour)
    this.#pulses = new Pulses(shape === null ? parameters.f0 : shapedPitch(parameters.f0, shape))
    const { harmonicLog, harmonicTurn, restLog, restPhase } = parameters
    this.#tile = [harmonicLog, harmonicTurn, restLog, restPhase].map((from) => ({
      from,
      to: new Float32Array(tileFrames * bins),
    }))
  }

  /** @returns the samples of one frame of the span after the other, 300 each */
  *blocks(): Generator<Float64Array> {
    const { from, to } = this.#span
    let frame = Math.max(0, from - 1)
    let waiting: Spectrum | null = null
    // Two real frames go through one complex transform, there and back.
    for (const spectrum of this.#coloured()) {
      if (waiting === null) {
        waiting = spectrum
        continue
      }
      this.#transformBack(waiting, spectrum)
      waiting = null
      yield* this.#add(this.#re, frame++)
      yield* this.#add(this.#im, frame++)
    }
    if (waiting !== null) {
      this.#transformBack(waiting, noSpectrum)
      yield* this.#add(this.#re, frame++)
    }
    for (let block = frame - 2; block < to; block++) {
      if (block >= from) yield this.#block(block)
      this.#shift()
    }
  }

  /** In the colour of a clip, where the shape has one. Each is valid until the one after the next. */
  *#coloured(): Generator<Spectrum> {
    if (this.#colourer === null) return yield* this.spectra()
    for (const spectrum of this.spectra()) {
      const ready = this.#colourer.push(spectrum)
      if (ready !== null) yield ready
    }
    for (let last = this.#colourer.flush(); last !== null; last = this.#colourer.flush()) yield last
  }

  /** What the blocks are made of, before the colour of a clip: each is valid until the one after the next. */
  *spectra(): Generator<Spectrum> {
    const { from, to } = this.#span
    const { frames } = this.#parameters
    const end = Math.min(frames, to + 2)
    for (let frame = Math.max(0, from - 1); frame < end; frame += 2) {
      const hasSecond = frame + 1 < end
      this.#transformPulses(frame, frame + 1 < frames)
      this.#turnOver(frame)
      if (this.#shaper !== null) this.#colourShaped(this.#shaper, frame)
      else {
        this.#colour(frame, this.#pair[0])
        if (hasSecond) this.#colour(frame + 1, this.#pair[1])
      }
      yield this.#pair[0]
      if (hasSecond) yield this.#pair[1]
    }
  }

  /** The spectra of the pulses in two frames, into the pair. */
  #transformPulses(frame: number, hasSecond: boolean): void {
    this.#pulses.make(frame + 1 + overlap)
    const re = this.#re
    const im = this.#im
    const start = frame * hopSamples - frameSamples / 2
    for (let at = 0; at < frameSamples; at++) {
      re[at] = this.#pulseAt(start + at) * scaledWindow[at]!
      im[at] = hasSecond ? this.#pulseAt(start + hopSamples + at) * scaledWindow[at]! : 0
    }
    fft.transform(re, im)
    const [first, second] = this.#pair
    for (let bin = 0; bin < bins; bin++) {
      const mirrored = (frameSamples - bin) % frameSamples
      first.re[bin] = (re[bin]! + re[mirrored]!) / 2
      first.im[bin] = (im[bin]! - im[mirrored]!) / 2
      second.re[bin] = (im[bin]! + im[mirrored]!) / 2
      second.im[bin] = (re[mirrored]! - re[bin]!) / 2
    }
  }

  /** Mirrored at both ends, the end itself not repeated. */
  #pulseAt(at: number): number {
    const { samples } = this.#pulses
    const last = samples.length - 1
    if (at < 0) return samples[Math.min(last, -at)]!
    return at > last ? samples[Math.max(0, 2 * last - at)]! : samples[at]!
  }

  /** From the spectrum of the pulses to that of the frame, in place. */
  #colour(frame: number, { re, im }: Spectrum): void {
    const [logs, turns, restLogs, phases] = this.#tile.map(({ to }) => to) as [
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
    ]
    const row = (frame - this.#tileAt) * bins
    for (let bin = 0; bin < bins; bin++) {
      const at = row + bin
      let sumRe = 0
      let sumIm = 0
      const log = Math.min(mostLog, logs[at]!)
      if (log > silentLog) {
        const turn = Math.PI * Math.tanh(turns[at]!)
        const gain = Math.exp(log)
        const cos = gain * Math.cos(turn)
        const sin = gain * Math.sin(turn)
        sumRe = cos * re[bin]! - sin * im[bin]!
        sumIm = cos * im[bin]! + sin * re[bin]!
      }
      const restLog = Math.min(mostLog, restLogs[at]!)
      if (restLog > silentLog) {
        const gain = Math.exp(restLog)
        sumRe += gain * Math.cos(phases[at]!)
        sumIm += gain * Math.sin(phases[at]!)
      }
      re[bin] = sumRe
      im[bin] = sumIm
    }
    // A real sound has real first and last bins.
    im[0] = 0
    im[bins - 1] = 0
  }

  /** The same of a pair of frames, in the voice of a shape. */
  #colourShaped(shaper: Shaper, frame: number): void {
    const { frames, f0 } = this.#parameters
    const [logs, , rests, phases] = this.#tile.map(({ to }) => to) as [
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
    ]
    const second = Math.min(frame + 1, frames - 1)
    const rowOf = (tile: Float32Array, at: number) =>
      tile.subarray((at - this.#tileAt) * bins, (at - this.#tileAt + 1) * bins)
    const isVoiced = (at: number) => f0[at]! > leastVoicedHz
    const rows = shaper.shape(
      [rowOf(logs, frame), rowOf(logs, second)],
      [rowOf(rests, frame), rowOf(rests, second)],
      [isVoiced(frame), isVoiced(second)],
    )
    for (const at of [0, 1] as const) add(rows[at], rowOf(phases, at === 0 ? frame : second), this.#pair[at])
  }

  /** Has the tile hold the frame and the next one. */
  #turnOver(frame: number): void {
    if (this.#tileAt >= 0 && frame >= this.#tileAt && frame + 1 < this.#tileAt + tileFrames) return
    this.#tileAt = frame
    const { frames } = this.#parameters
    const many = Math.min(tileFrames, frames - frame)
    for (const { from, to } of this.#tile) {
      for (let bin = 0; bin < bins; bin++) {
        const at = bin * frames + frame
        for (let next = 0; next < many; next++) to[next * bins + bin] = from[at + next]!
      }
    }
  }

  /** To the samples of two frames: one in the real, one in the imaginary parts. */
  #transformBack(first: Spectrum, second: Spectrum): void {
    const re = this.#re
    const im = this.#im
    for (let bin = 0; bin < bins; bin++) {
      re[bin] = first.re[bin]! - second.im[bin]!
      im[bin] = first.im[bin]! + second.re[bin]!
      const mirrored = frameSamples - bin
      if (bin === 0 || mirrored === bin) continue
      re[mirrored] = first.re[bin]! + second.im[bin]!
      im[mirrored] = second.re[bin]! - first.im[bin]!
    }
    // With re and im exchanged the transform goes back; both come out `frameSamples` times too large.
    fft.transform(im, re)
  }

  /** @param samples of the frame @returns the block that is complete with it, if it is one of the span */
  *#add(samples: Float64Array, frame: number): Generator<Float64Array> {
    for (let at = 0; at < frameSamples; at++) this.#sums[at]! += (samples[at]! / frameSamples) * window[at]!
    const block = frame - 2
    if (block >= this.#span.from && block < this.#span.to) yield this.#block(block)
    this.#shift()
  }

  /** Divided by the sum of the squared windows that reach it: 1.5, and less at the ends of the chunk. */
  #block(block: number): Float64Array {
    const { frames } = this.#parameters
    const samples = new Float64Array(hopSamples)
    for (let at = 0; at < hopSamples; at++) {
      let weight = 0
      for (let lap = 0; lap < overlap; lap++) {
        const frame = block + 2 - lap
        if (frame >= 0 && frame < frames) weight += window[lap * hopSamples + at]! ** 2
      }
      samples[at] = this.#sums[at]! / Math.max(weight, 1e-11)
    }
    return samples
  }

  #shift(): void {
    this.#sums.copyWithin(0, hopSamples)
    this.#sums.fill(0, frameSamples - hopSamples)
  }
}

/** From the spectrum of the pulses to that of the frame, in place. */
function add({ harmonicLog, harmonicPhase, restLog }: FrameRows, restPhase: Float32Array, { re, im }: Spectrum): void {
  for (let bin = 0; bin < bins; bin++) {
    let sumRe = 0
    let sumIm = 0
    if (harmonicLog[bin]! > silentLog) {
      const gain = Math.exp(harmonicLog[bin]!)
      const cos = gain * Math.cos(harmonicPhase[bin]!)
      const sin = gain * Math.sin(harmonicPhase[bin]!)
      sumRe = cos * re[bin]! - sin * im[bin]!
      sumIm = cos * im[bin]! + sin * re[bin]!
    }
    if (restLog[bin]! > silentLog) {
      const gain = Math.exp(restLog[bin]!)
      sumRe += gain * Math.cos(restPhase[bin]!)
      sumIm += gain * Math.sin(restPhase[bin]!)
    }
    re[bin] = sumRe
    im[bin] = sumIm
  }
  im[0] = 0
  im[bins - 1] = 0
}
