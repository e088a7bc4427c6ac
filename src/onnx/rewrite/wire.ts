/**
 * Protobuf messages as lists of fields, read without copying and written back unchanged except where wanted
 * (https://protobuf.dev/programming-guides/encoding/). A library would need the whole schema, and drop what it does not
 * know: a rewritten model must keep everything else.
 */

/** A finished part of a message; lists of them are joined once, at the end. */
export type Pieces = readonly Uint8Array[]

export interface Field {
  number: number
  /** As it stands in the file, with its number. */
  raw: Uint8Array
  /** Of strings, bytes, messages and packed lists; else empty. */
  content: Uint8Array
  /** Of whole numbers, which are small wherever this is read; else 0. */
  value: number
}

const nothing = new Uint8Array(0)

/** @throws RangeError where the bytes are no message */
export function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = []
  const reader = new Reader(message)
  while (!reader.isAtEnd) fields.push(reader.field())
  return fields
}

/** A packed list of whole numbers. */
export function wholeNumbers(content: Uint8Array): bigint[] {
  const numbers: bigint[] = []
  const reader = new Reader(content)
  while (!reader.isAtEnd) numbers.push(reader.wholeVarint())
  return numbers
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  field(): Field {
    const from = this.#at
    const tag = this.varint()
    const [number, type] = [tag >>> 3, tag & 7]
    let content: Uint8Array = nothing
    let value = 0
    if (type === 0) value = this.varint()
    else if (type === 1) this.#skip(8)
    else if (type === 5) this.#skip(4)
    else if (type === 2) content = this.#skip(this.varint())
    else throw new RangeError(`a field of type ${type} at byte ${from}`)
    return { number, raw: this.#bytes.subarray(from, this.#at), content, value }
  }

  /** -1 takes all 64 bits. */
  wholeVarint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('a number that has no end')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  /** For lengths and the like: numbers past 2^53 lose digits. */
  varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('a number that has no end')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  #skip(length: number): Uint8Array {
    const from = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new RangeError(`a field of ${length} bytes at byte ${from}`)
    return this.#bytes.subarray(from, this.#at)
  }
}

const text = new TextEncoder()

/** A string, bytes or message. */
export function lengthField(number: number, content: string | Uint8Array | Pieces): Uint8Array[] {
  const given = typeof content === 'string' ? text.encode(content) : content
  const pieces = given instanceof Uint8Array ? [given] : given
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return [Uint8Array.from([...varint(number * 8 + 2), ...varint(length)]), ...pieces]
}

export const numberField = (number: number, value: number): Uint8Array[] => [
  Uint8Array.from([...varint(number * 8), ...varint(value)]),
]

/** 32 bits. */
export const floatField = (number: number, value: number): Uint8Array[] => [
  Uint8Array.from(varint(number * 8 + 5)),
  new Uint8Array(Float32Array.of(value).buffer),
]

export function joined(pieces: Pieces): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

function varint(value: number): number[] {
  const bytes: number[] = []
  if (value < 0) return negativeVarint(value)
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return [...bytes, rest]
}

/** Takes all 64 bits. */
function negativeVarint(value: number): number[] {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return [...bytes, Number(rest)]
}
