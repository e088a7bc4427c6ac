/**
 * The discrete Fourier transform, for pictures and for the features of recognisers. Powers of two take Cooley and
 * Tukey's radix-2 scheme ("An algorithm for the machine calculation of complex Fourier series", 1965); any other length
 * splits into odd-many of those, which are then summed directly, because recognisers want lengths like 400.
 */

/** The transform of one length. It keeps its tables and its working space, so one is made and used for many frames. */
export class Fft {
  readonly #powerOfTwo: PowerOfTwo
  /** The length divided by its greatest power of two. */
  readonly #parts: number
  readonly #cos: Float64Array
  readonly #sin: Float64Array
  readonly #partRe: Float64Array[]
  readonly #partIm: Float64Array[]

  /** @throws RangeError when the length is no positive whole number */
  constructor(readonly length: number) {
    if (!Number.isSafeInteger(length) || length < 1) throw new RangeError(`no transform has the length ${length}`)
    this.#parts = length
    while (this.#parts % 2 === 0) this.#parts /= 2
    const size = length / this.#parts
    this.#powerOfTwo = new PowerOfTwo(size)
    this.#cos = Float64Array.from({ length }, (_, k) => Math.cos((2 * Math.PI * k) / length))
    this.#sin = Float64Array.from({ length }, (_, k) => -Math.sin((2 * Math.PI * k) / length))
    const space = () => Array.from({ length: this.#parts === 1 ? 0 : this.#parts }, () => new Float64Array(size))
    this.#partRe = space()
    this.#partIm = space()
  }

  /**
   * X[k] = sum over n of x[n] exp(-2 pi i k n / length), in place, unscaled.
   * @param re the real parts @param im the imaginary parts, zeros for a real signal
   * @throws RangeError when either has another length
   */
  transform(re: Float64Array, im: Float64Array): void {
    if (re.length !== this.length || im.length !== this.length) {
      throw new RangeError(`expected ${this.length} samples, got ${re.length} and ${im.length}`)
    }
    if (this.#parts === 1) return this.#powerOfTwo.transform(re, im)
    const parts = this.#parts
    for (let part = 0; part < parts; part++) {
      const partRe = this.#partRe[part]!
      const partIm = this.#partIm[part]!
      for (let n = 0; n < partRe.length; n++) {
        partRe[n] = re[n * parts + part]!
        partIm[n] = im[n * parts + part]!
      }
      this.#powerOfTwo.transform(partRe, partIm)
    }
    this.#sumParts(re, im)
  }

  /** X[k] = sum over the parts p of W^(p k) Xp[k mod size]: what every step of Cooley and Tukey's does, at once. */
  #sumParts(re: Float64Array, im: Float64Array): void {
    const { length } = this
    const size = length / this.#parts
    for (let k = 0; k < length; k++) {
      let sumRe = 0
      let sumIm = 0
      for (let part = 0, turn = 0; part < this.#parts; part++, turn = (turn + k) % length) {
        const partRe = this.#partRe[part]![k % size]!
        const partIm = this.#partIm[part]![k % size]!
        sumRe += this.#cos[turn]! * partRe - this.#sin[turn]! * partIm
        sumIm += this.#cos[turn]! * partIm + this.#sin[turn]! * partRe
      }
      re[k] = sumRe
      im[k] = sumIm
    }
  }
}

class PowerOfTwo {
  /** Where each sample goes before the butterflies: its index with the bits in reverse. */
  readonly #reversed: Uint32Array
  readonly #cos: Float64Array
  readonly #sin: Float64Array

  constructor(size: number) {
    this.#reversed = new Uint32Array(size)
    for (let i = 1; i < size; i++) this.#reversed[i] = (this.#reversed[i >> 1]! >> 1) | (i & 1 ? size >> 1 : 0)
    this.#cos = Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size))
    this.#sin = Float64Array.from({ length: size / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / size))
  }

  transform(re: Float64Array, im: Float64Array): void {
    this.#reorder(re, im)
    const size = re.length
    for (let half = 1; half < size; half *= 2) {
      const step = size / (2 * half)
      for (let block = 0; block < size; block += 2 * half) {
        for (let k = 0, turn = 0; k < half; k++, turn += step) {
          const upper = block + k
          const lower = upper + half
          const turnedRe = this.#cos[turn]! * re[lower]! - this.#sin[turn]! * im[lower]!
          const turnedIm = this.#cos[turn]! * im[lower]! + this.#sin[turn]! * re[lower]!
          re[lower] = re[upper]! - turnedRe
          im[lower] = im[upper]! - turnedIm
          re[upper]! += turnedRe
          im[upper]! += turnedIm
        }
      }
    }
  }

  #reorder(re: Float64Array, im: Float64Array): void {
    for (let i = 0; i < re.length; i++) {
      const j = this.#reversed[i]!
      if (j <= i) continue
      const [heldRe, heldIm] = [re[i]!, im[i]!]
      re[i] = re[j]!
      im[i] = im[j]!
      re[j] = heldRe
      im[j] = heldIm
    }
  }
}

/** Hann's window, periodic: what frames that overlap are cut with. */
export const hann = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / length))
