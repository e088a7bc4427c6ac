/** The model's source of randomness: normally distributed numbers, the same ones for the same seed. */

/** @returns this many numbers of mean 0 and deviation 1, following those that were given before */
export type Noise = (count: number) => Float32Array

/**
 * xoshiro128** (D. Blackman, S. Vigna, https://prng.di.unimi.it), started by SplitMix64 as its authors advise, and the
 * Box-Muller transform. @param seed a whole number
 */
export function seededNoise(seed: number): Noise {
  const next = xoshiro(seed)
  // In (0, 1]: its logarithm is taken.
  const uniform = () => (next() + 1) / 2 ** 32
  return (count) => {
    const numbers = new Float32Array(count)
    for (let at = 0; at < count; at += 2) {
      const radius = Math.sqrt(-2 * Math.log(uniform()))
      const angle = 2 * Math.PI * uniform()
      numbers[at] = radius * Math.cos(angle)
      if (at + 1 < count) numbers[at + 1] = radius * Math.sin(angle)
    }
    return numbers
  }
}

/** Another one each time. */
export const randomSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]!

function xoshiro(seed: number): () => number {
  let mixed = BigInt.asUintN(64, BigInt(Math.trunc(seed)))
  const state = new Uint32Array(4)
  for (let at = 0; at < 4; at += 2) {
    mixed = BigInt.asUintN(64, mixed + 0x9e3779b97f4a7c15n)
    let bits = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n)
    bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d049bb133111ebn)
    bits ^= bits >> 31n
    state[at] = Number(bits & 0xffffffffn)
    state[at + 1] = Number(bits >> 32n)
  }
  const rotated = (value: number, by: number) => (value << by) | (value >>> (32 - by))
  return () => {
    const result = Math.imul(rotated(Math.imul(state[1]!, 5), 7), 9) >>> 0
    const shifted = state[1]! << 9
    state[2]! ^= state[0]!
    state[3]! ^= state[1]!
    state[1]! ^= state[2]!
    state[0]! ^= state[3]!
    state[2]! ^= shifted
    state[3] = rotated(state[3]!, 11)
    return result
  }
}
