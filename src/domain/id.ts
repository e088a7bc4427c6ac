/**
 * Identifiers: a prefix for the kind and a ULID (48 bits of time, 80 random bits, Crockford base 32), so that ids sort
 * by age. https://github.com/ulid/spec
 */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export type IdPrefix = 'box' | 'credit' | 'acct' | 'key' | 'op' | 'req' | 'voice' | 'cons' | 'sess' | 'item' | 'event'

/** @param random fills the given bytes; cryptographically strong outside tests */
export function newId(prefix: IdPrefix, nowMs: number, random: (bytes: Uint8Array) => Uint8Array): string {
  const bytes = random(new Uint8Array(16))
  let time = ''
  for (let rest = Math.max(0, Math.floor(nowMs)), digit = 0; digit < 10; digit++) {
    time = alphabet[rest % 32] + time
    rest = Math.floor(rest / 32)
  }
  let noise = ''
  for (const byte of bytes) noise += alphabet[byte & 31]
  return `${prefix}_${time}${noise}`
}

/** Whether a text could be such an id. */
export const isIdOf = (prefix: IdPrefix, text: string): boolean => text.startsWith(`${prefix}_`)

export const systemRandom = (bytes: Uint8Array): Uint8Array => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>)
