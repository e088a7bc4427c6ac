/** The texts of the tokenizer's golden numbers, for scripts/golden/whisper-features.ts and for its test. */
import { Seeded } from '../../testing/seeded.ts'

export const tokenizerSeed = 1
export const textCount = 5000

/** Rows of tokens, half of them single bytes, so that characters begin and end in the wrong places. */
export function brokenIds(size: number): number[][] {
  const random = new Seeded(tokenizerSeed + 1)
  const id = () => random.whole(0, random.chance(0.5) ? 255 : size - 1)
  return Array.from({ length: 2000 }, () => Array.from({ length: random.whole(1, 12) }, id))
}

/** 24 bits of each row are enough to find the row that differs. */
export const hashLength = 6
export const hashOfText = (text: string): string =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, hashLength)
export const hashOfIds = (ids: readonly number[]): string => hashOfText(ids.join(' '))
