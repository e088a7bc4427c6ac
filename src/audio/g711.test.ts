import { expect, test } from 'bun:test'
import { decodeG711 } from './g711.ts'

/** Values of the decision tables in ITU-T G.711, scaled to 16 bits as its reference code (G.191) does. */
const known = {
  mu: { 0x00: -32124, 0x80: 32124, 0x7f: 0, 0xff: 0, 0x7e: -8, 0xfe: 8, 0x0f: -16764, 0x8f: 16764, 0x70: -120 },
  a: { 0x55: -8, 0xd5: 8, 0x54: -24, 0xd4: 24, 0x2a: -32256, 0xaa: 32256, 0x00: -5504, 0x80: 5504 },
} as const

test.each(['mu', 'a'] as const)('%s-law bytes decode to the samples of the recommendation', (law) => {
  for (const [byte, sample] of Object.entries(known[law])) {
    expect([byte, decodeG711(Uint8Array.of(Number(byte)), law)[0]!]).toEqual([byte, sample])
  }
})

test.each(['mu', 'a'] as const)('%s-law is an odd function and increases in each half', (law) => {
  const pcm = decodeG711(
    Uint8Array.from({ length: 256 }, (_, i) => i),
    law,
  )
  for (let byte = 0; byte < 128; byte++) expect(pcm[byte]! + pcm[byte + 128]!).toBe(0)
  expect(new Set(pcm).size).toBe(law === 'mu' ? 255 : 256)
})
