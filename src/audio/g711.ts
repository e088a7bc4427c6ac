/**
 * G.711, the sound of telephones: 8 kHz, a byte a sample, on a logarithmic scale (ITU-T Recommendation G.711, 1988).
 */
export type G711Law = 'mu' | 'a'

const decoded: Readonly<Record<G711Law, Int16Array>> = {
  mu: Int16Array.from({ length: 256 }, (_, byte) => fromMu(byte)),
  a: Int16Array.from({ length: 256 }, (_, byte) => fromA(byte)),
}

/** Bits are sent inverted; then a sign, three bits of segment and four within it, on a scale of 14 bits. */
function fromMu(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84
  return bits & 0x80 ? -magnitude : magnitude
}

/** Every other bit is sent inverted; the first two segments have the same step. The scale has 13 bits. */
function fromA(byte: number): number {
  const bits = byte ^ 0x55
  const segment = (bits >> 4) & 7
  const within = ((bits & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? within : (within + 0x100) << (segment - 1)
  return bits & 0x80 ? magnitude : -magnitude
}

/** @returns 16-bit samples, 8 kHz */
export function decodeG711(bytes: Uint8Array, law: G711Law): Int16Array<ArrayBuffer> {
  const table = decoded[law]
  const pcm = new Int16Array(bytes.length)
  for (let i = 0; i < bytes.length; i++) pcm[i] = table[bytes[i]!]!
  return pcm
}
