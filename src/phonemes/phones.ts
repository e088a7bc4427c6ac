/**
 * The phones of the CMU Pronouncing Dictionary (ARPAbet with a digit for stress on each vowel): what the dictionary and
 * the letter-to-sound rules speak. `american.ts` makes the symbols of a voice of them.
 */

/** 0: none, 1: primary, 2: secondary. */
export type Stress = 0 | 1 | 2

export interface Phone {
  base: string
  /** null: a consonant. */
  stress: Stress | null
}

export const vowels = [
  'AA',
  'AE',
  'AH',
  'AO',
  'AW',
  'AY',
  'EH',
  'ER',
  'EY',
  'IH',
  'IY',
  'OW',
  'OY',
  'UH',
  'UW',
] as const
const consonants = 'B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH'.split(' ')

const stresses: readonly Stress[] = [0, 1, 2]

/** All of them; a phone's place in this list is its code in the packed files, so that the order must not change. */
export const phones: readonly Phone[] = [
  ...consonants.map((base) => ({ base, stress: null })),
  ...vowels.flatMap((base) => stresses.map((stress) => ({ base, stress }))),
]

const codes = new Map(phones.map((phone, code) => [name(phone), code]))

/** In the dictionary's notation: "AH0", "K". */
export function name({ base, stress }: Phone): string {
  return stress === null ? base : `${base}${stress}`
}

/** @param text phones with single spaces between, "K AE1 T" @throws RangeError when one is not known */
export function parsePhones(text: string): Phone[] {
  return text.split(' ').map((one) => phones[codeOf(one)] as Phone)
}

/** @throws RangeError when it is not known */
export function codeOf(written: string): number {
  const code = codes.get(written)
  if (code === undefined) throw new RangeError(`no phone is called ${JSON.stringify(written)}`)
  return code
}

export const isVowel = (phone: Phone | undefined): boolean => phone !== undefined && phone.stress !== null
