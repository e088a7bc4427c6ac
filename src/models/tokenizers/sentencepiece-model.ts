/**
 * Reads what a SentencePiece model file says: one protobuf message, field numbers as in sentencepiece_model.proto
 * (https://github.com/google/sentencepiece). Only what encoding needs is kept.
 */
export type PieceKind = 'normal' | 'unknown' | 'control' | 'user' | 'unused' | 'byte'

export interface Piece {
  text: string
  /** The logarithm of how likely it is. */
  score: number
  kind: PieceKind
}

export interface SentencePieceModel {
  /** By id. */
  pieces: readonly Piece[]
  /** Characters that no piece has are given as their UTF-8 bytes, each a piece of its own. */
  byteFallback: boolean
  /** The space that marks the start of a text is put at its end instead. */
  spaceIsSuffix: boolean
  /** Characters and what they are replaced by, as `sentencepiece-normalizer` reads it; empty: none is. */
  charsMap: Uint8Array
  addDummyPrefix: boolean
  removeExtraSpaces: boolean
  escapeSpaces: boolean
}

const kinds: readonly (PieceKind | undefined)[] = [undefined, 'normal', 'unknown', 'control', 'user', 'unused', 'byte']
const unigram = 1

/** @throws Error that says what is wrong: no such message, another algorithm than unigram, a piece of no kind */
export function readSentencePieceModel(bytes: Uint8Array): SentencePieceModel {
  const pieces: Piece[] = []
  let trainer: Fields | null = null
  let normalizer: Fields | null = null
  for (const [number, value] of fieldsOf(bytes)) {
    if (number === 1) pieces.push(readPiece(bytesOf(value)))
    if (number === 2) trainer = new Map(fieldsOf(bytesOf(value)))
    if (number === 3) normalizer = new Map(fieldsOf(bytesOf(value)))
  }
  if (pieces.length === 0) throw new Error('it has no pieces: this is not a SentencePiece model')
  if (trainer === null || normalizer === null) throw new Error('it is cut short')
  const algorithm = trainer.get(3) ?? unigram
  if (algorithm !== unigram)
    throw new Error(`its algorithm is number ${String(algorithm)}; only unigram (1) is supported`)
  return {
    pieces,
    byteFallback: (trainer.get(35) ?? 0) !== 0,
    spaceIsSuffix: (trainer.get(24) ?? 0) !== 0,
    charsMap: bytesOf(normalizer.get(2) ?? new Uint8Array(0)),
    addDummyPrefix: (normalizer.get(3) ?? 1) !== 0,
    removeExtraSpaces: (normalizer.get(4) ?? 1) !== 0,
    escapeSpaces: (normalizer.get(5) ?? 1) !== 0,
  }
}

function readPiece(bytes: Uint8Array): Piece {
  const fields: Fields = new Map(fieldsOf(bytes))
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(fields.get(1)))
  const score = bytesOf(fields.get(2) ?? new Uint8Array(4))
  const kind = kinds[Number(fields.get(3) ?? 1)]
  if (text === '' || score.length !== 4 || kind === undefined) throw new Error('one of its pieces is damaged')
  return { text, score: new DataView(score.buffer, score.byteOffset).getFloat32(0, true), kind }
}

/** By number: a varint as it is, anything else as bytes. If a field occurs twice, the last one counts. */
type Fields = ReadonlyMap<number, number | Uint8Array>

const bytesOf = (value: number | Uint8Array | undefined): Uint8Array => {
  if (value instanceof Uint8Array) return value
  throw new Error('it is damaged: a field has the wrong type')
}

/** The fields of a protobuf message in their order. Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four. */
function* fieldsOf(bytes: Uint8Array): Generator<[number, number | Uint8Array]> {
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('it is cut short')
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error('it is cut short')
    return bytes.subarray(at, (at += length))
  }
  while (at < bytes.length) {
    const tag = varint()
    const wireType = tag % 8
    const number = Math.floor(tag / 8)
    if (wireType === 0) yield [number, varint()]
    else if (wireType === 1) yield [number, take(8)]
    else if (wireType === 2) yield [number, take(varint())]
    else if (wireType === 5) yield [number, take(4)]
    else throw new Error('this is not a SentencePiece model')
  }
}
