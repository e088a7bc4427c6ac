/**
 * The discrete Fourier transform, for pictures and for the features of recognisers. The length is split into its prime
 * factors, fours first, after Cooley and Tukey ("An algorithm for the machine calculation of complex Fourier series",
 * 1965), because recognisers want lengths like 400; Stockham's order of the passes (1966) needs no reordering before.
 */

/** The transform of one length. It keeps its tables and its working space, so one is made and used for many frames. */
export class Fft {
  readonly #cos: Float64Array
  readonly #sin: Float64Array
  readonly #passes: readonly Pass[]
  readonly #spareRe: Float64Array
  readonly #spareIm: Float64Array

  /** @throws RangeError if the length is not a positive whole number */
  constructor(readonly length: number) {
    if (!Number.isSafeInteger(length) || length < 1) throw new RangeError(`no transform has the length ${length}`)
    this.#cos = Float64Array.from({ length }, (_, k) => Math.cos((2 * Math.PI * k) / length))
    this.#sin = Float64Array.from({ length }, (_, k) => -Math.sin((2 * Math.PI * k) / length))
    this.#passes = passesOf(length)
    this.#spareRe = new Float64Array(length)
    this.#spareIm = new Float64Array(length)
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
    let from: Plane = { re, im }
    let to: Plane = { re: this.#spareRe, im: this.#spareIm }
    for (const pass of this.#passes) {
      if (pass.radix === 4) this.#byFour(pass, from, to)
      else if (pass.radix === 2) this.#byTwo(pass, from, to)
      else if (pass.radix === 3) this.#byThree(pass, from, to)
      else if (pass.radix === 5) this.#byFive(pass, from, to)
      else this.#byOdd(pass, from, to)
      ;[from, to] = [to, from]
    }
    if (from.re === re) return
    re.set(from.re)
    im.set(from.im)
  }

  #byTwo({ stride, rest }: Pass, { re, im }: Plane, to: Plane): void {
    const half = stride * rest
    for (let k = 0; k < rest; k++) {
      const cos = this.#cos[stride * k]!
      const sin = this.#sin[stride * k]!
      const end = stride * (k + 1)
      for (let at = stride * k, out = 2 * at; at < end; at++, out++) {
        const difRe = re[at]! - re[at + half]!
        const difIm = im[at]! - im[at + half]!
        to.re[out] = re[at]! + re[at + half]!
        to.im[out] = im[at]! + im[at + half]!
        to.re[out + stride] = cos * difRe - sin * difIm
        to.im[out + stride] = cos * difIm + sin * difRe
      }
    }
  }

  #byFour({ stride, rest }: Pass, { re, im }: Plane, to: Plane): void {
    const quarter = stride * rest
    const { re: toRe, im: toIm } = to
    for (let k = 0; k < rest; k++) {
      const turn = stride * k
      const cos1 = this.#cos[turn]!
      const cos2 = this.#cos[2 * turn]!
      const cos3 = this.#cos[3 * turn]!
      const sin1 = this.#sin[turn]!
      const sin2 = this.#sin[2 * turn]!
      const sin3 = this.#sin[3 * turn]!
      const end = turn + stride
      for (let a = turn, out = 4 * turn; a < end; a++, out++) {
        const b = a + quarter
        const c = a + 2 * quarter
        const d = a + 3 * quarter
        const sumAcRe = re[a]! + re[c]!
        const sumAcIm = im[a]! + im[c]!
        const difAcRe = re[a]! - re[c]!
        const difAcIm = im[a]! - im[c]!
        const sumBdRe = re[b]! + re[d]!
        const sumBdIm = im[b]! + im[d]!
        const difBdRe = re[b]! - re[d]!
        const difBdIm = im[b]! - im[d]!
        const oneRe = difAcRe + difBdIm
        const oneIm = difAcIm - difBdRe
        const twoRe = sumAcRe - sumBdRe
        const twoIm = sumAcIm - sumBdIm
        const threeRe = difAcRe - difBdIm
        const threeIm = difAcIm + difBdRe
        toRe[out] = sumAcRe + sumBdRe
        toIm[out] = sumAcIm + sumBdIm
        toRe[out + stride] = cos1 * oneRe - sin1 * oneIm
        toIm[out + stride] = cos1 * oneIm + sin1 * oneRe
        toRe[out + 2 * stride] = cos2 * twoRe - sin2 * twoIm
        toIm[out + 2 * stride] = cos2 * twoIm + sin2 * twoRe
        toRe[out + 3 * stride] = cos3 * threeRe - sin3 * threeIm
        toIm[out + 3 * stride] = cos3 * threeIm + sin3 * threeRe
      }
    }
  }

  /**
   * As `#byOdd` for three and, below, for five, to the bit: written out, they take half of its time. Frames of speech
   * and most recognisers have such lengths. Pairs are not written as `[a, b] = [x, y]`: the compiler would make arrays.
   */
  #byThree({ stride, rest }: Pass, { re, im }: Plane, to: Plane): void {
    const part = stride * rest
    const { re: toRe, im: toIm } = to
    const third = this.length / 3
    const c = this.#cos[third]!
    const s = this.#sin[third]!
    for (let k = 0; k < rest; k++) {
      const turn = stride * k
      const cos1 = this.#cos[turn]!
      const sin1 = this.#sin[turn]!
      const cos2 = this.#cos[2 * turn]!
      const sin2 = this.#sin[2 * turn]!
      for (let at = turn, out = 3 * turn; at < turn + stride; at++, out++) {
        const oneRe = re[at + part]!
        const oneIm = im[at + part]!
        const twoRe = re[at + 2 * part]!
        const twoIm = im[at + 2 * part]!
        const evenRe = re[at]! + c * (oneRe + twoRe)
        const evenIm = im[at]! + c * (oneIm + twoIm)
        const oddRe = s * (oneRe - twoRe)
        const oddIm = s * (oneIm - twoIm)
        toRe[out] = re[at]! + oneRe + twoRe
        toIm[out] = im[at]! + oneIm + twoIm
        toRe[out + stride] = cos1 * (evenRe - oddIm) - sin1 * (evenIm + oddRe)
        toIm[out + stride] = cos1 * (evenIm + oddRe) + sin1 * (evenRe - oddIm)
        toRe[out + 2 * stride] = cos2 * (evenRe + oddIm) - sin2 * (evenIm - oddRe)
        toIm[out + 2 * stride] = cos2 * (evenIm - oddRe) + sin2 * (evenRe + oddIm)
      }
    }
  }

  #byFive({ stride, rest }: Pass, { re, im }: Plane, to: Plane): void {
    const part = stride * rest
    const { re: toRe, im: toIm } = to
    const fifth = this.length / 5
    const c1 = this.#cos[fifth]!
    const s1 = this.#sin[fifth]!
    const c2 = this.#cos[2 * fifth]!
    const s2 = this.#sin[2 * fifth]!
    const c4 = this.#cos[4 * fifth]!
    const s4 = this.#sin[4 * fifth]!
    for (let k = 0; k < rest; k++) {
      const turn = stride * k
      const cos1 = this.#cos[turn]!
      const sin1 = this.#sin[turn]!
      const cos2 = this.#cos[2 * turn]!
      const sin2 = this.#sin[2 * turn]!
      const cos3 = this.#cos[3 * turn]!
      const sin3 = this.#sin[3 * turn]!
      const cos4 = this.#cos[4 * turn]!
      const sin4 = this.#sin[4 * turn]!
      for (let at = turn, out = 5 * turn; at < turn + stride; at++, out++) {
        const a = at + part
        const b = at + 2 * part
        const c = at + 3 * part
        const d = at + 4 * part
        const outerRe = re[a]! + re[d]!
        const outerIm = im[a]! + im[d]!
        const innerRe = re[b]! + re[c]!
        const innerIm = im[b]! + im[c]!
        const outerDifRe = re[a]! - re[d]!
        const outerDifIm = im[a]! - im[d]!
        const innerDifRe = re[b]! - re[c]!
        const innerDifIm = im[b]! - im[c]!
        const oneRe = re[at]! + c1 * outerRe + c2 * innerRe
        const oneIm = im[at]! + c1 * outerIm + c2 * innerIm
        const twoRe = re[at]! + c2 * outerRe + c4 * innerRe
        const twoIm = im[at]! + c2 * outerIm + c4 * innerIm
        const oneOddRe = s1 * outerDifRe + s2 * innerDifRe
        const oneOddIm = s1 * outerDifIm + s2 * innerDifIm
        const twoOddRe = s2 * outerDifRe + s4 * innerDifRe
        const twoOddIm = s2 * outerDifIm + s4 * innerDifIm
        toRe[out] = re[at]! + re[a]! + re[b]! + re[c]! + re[d]!
        toIm[out] = im[at]! + im[a]! + im[b]! + im[c]! + im[d]!
        toRe[out + stride] = cos1 * (oneRe - oneOddIm) - sin1 * (oneIm + oneOddRe)
        toIm[out + stride] = cos1 * (oneIm + oneOddRe) + sin1 * (oneRe - oneOddIm)
        toRe[out + 2 * stride] = cos2 * (twoRe - twoOddIm) - sin2 * (twoIm + twoOddRe)
        toIm[out + 2 * stride] = cos2 * (twoIm + twoOddRe) + sin2 * (twoRe - twoOddIm)
        toRe[out + 3 * stride] = cos3 * (twoRe + twoOddIm) - sin3 * (twoIm - twoOddRe)
        toIm[out + 3 * stride] = cos3 * (twoIm - twoOddRe) + sin3 * (twoRe + twoOddIm)
        toRe[out + 4 * stride] = cos4 * (oneRe + oneOddIm) - sin4 * (oneIm - oneOddRe)
        toIm[out + 4 * stride] = cos4 * (oneIm - oneOddRe) + sin4 * (oneRe + oneOddIm)
      }
    }
  }

  /**
   * For `radix` numbers x, y[j] is x[0] plus the sum over l of (x[l] + x[-l]) cos - i (x[l] - x[-l]) sin of 2 pi j l /
   * radix; y[-j] is the same with the other sign, so half of the sums serve twice.
   */
  #byOdd({ radix, stride, rest }: Pass, { re, im }: Plane, to: Plane): void {
    const part = stride * rest
    const half = (radix - 1) / 2
    const step = this.length / radix
    for (let k = 0; k < rest; k++) {
      for (let q = 0; q < stride; q++) {
        const first = stride * k + q
        const out = stride * radix * k + q
        let sumRe = re[first]!
        let sumIm = im[first]!
        for (let l = 1; l < radix; l++) {
          sumRe += re[first + l * part]!
          sumIm += im[first + l * part]!
        }
        to.re[out] = sumRe
        to.im[out] = sumIm
        for (let j = 1; j <= half; j++) {
          let evenRe = re[first]!
          let evenIm = im[first]!
          let oddRe = 0
          let oddIm = 0
          for (let l = 1; l <= half; l++) {
            const near = first + l * part
            const far = first + (radix - l) * part
            const turn = ((j * l) % radix) * step
            const cos = this.#cos[turn]!
            const sin = this.#sin[turn]!
            evenRe += cos * (re[near]! + re[far]!)
            evenIm += cos * (im[near]! + im[far]!)
            oddRe += sin * (re[near]! - re[far]!)
            oddIm += sin * (im[near]! - im[far]!)
          }
          this.#turnInto(to, out + j * stride, stride * k * j, evenRe - oddIm, evenIm + oddRe)
          this.#turnInto(to, out + (radix - j) * stride, stride * k * (radix - j), evenRe + oddIm, evenIm - oddRe)
        }
      }
    }
  }

  #turnInto(to: Plane, at: number, turn: number, re: number, im: number): void {
    const cos = this.#cos[turn]!
    const sin = this.#sin[turn]!
    to.re[at] = cos * re - sin * im
    to.im[at] = cos * im + sin * re
  }
}

interface Plane {
  re: Float64Array
  im: Float64Array
}

/** Each pass splits transforms of the length radix * rest, of which there are `stride`, interleaved. */
interface Pass {
  radix: number
  stride: number
  rest: number
}

function passesOf(length: number): Pass[] {
  const passes: Pass[] = []
  let stride = 1
  const split = (radix: number) => {
    passes.push({ radix, stride, rest: length / (stride * radix) })
    stride *= radix
  }
  while ((length / stride) % 4 === 0) split(4)
  if ((length / stride) % 2 === 0) split(2)
  for (let radix = 3; stride < length; radix += 2) while ((length / stride) % radix === 0) split(radix)
  return passes
}

/** Hann's window, periodic: what frames that overlap are cut with. */
export const hann = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / length))

/** Hann's window, symmetric, both ends zero: what NeMo's features are taken with. */
export const hannSymmetric = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (length - 1)))
