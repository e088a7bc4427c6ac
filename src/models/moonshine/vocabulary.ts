/**
 * The pieces that Moonshine writes with, as `tokenizer.bin` holds them: for each, in the order of their numbers, its
 * length and its bytes. A length below 128 is one byte b; others are two, b0 - 128 + 128 b1. Numbers 3 to 258 are
 * single bytes, the later ones pieces of SentencePiece.
 * Source: moonshine-ai/moonshine, core/bin-tokenizer.cpp (MIT).
 */
import type { Word } from '../sentences.ts'

export const startToken = 1
export const endToken = 2

/** Stands for a space, before what begins a word. */
const wordStart = '▁'

/** @throws Error when the file ends in the middle of a piece */
export function readPieces(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    let length = bytes[at++]!
    if (length >= 128) length = length - 128 + 128 * (bytes[at++] ?? 0)
    if (at + length > bytes.length) throw new Error('tokenizer.bin ends in the middle of a piece')
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

export interface Written {
  token: number
  /** Natural logarithm. */
  logProbability: number
}

/**
 * The words of a window. The decoder does not say when a word was said: the window is shared out among them by their
 * length, which is for subtitles alone.
 * @param windowMs of the window
 */
export function wordsOf(written: readonly Written[], pieces: readonly Uint8Array[], windowMs: number): Word[] {
  const groups: { bytes: Uint8Array[]; tokens: number[]; logProbability: number }[] = []
  for (const { token, logProbability } of written) {
    const piece = pieces[token] ?? new Uint8Array()
    if (isControl(piece)) continue
    const begins = new TextDecoder().decode(piece).startsWith(wordStart)
    if (begins || groups.length === 0) groups.push({ bytes: [], tokens: [], logProbability: 0 })
    const group = groups.at(-1)!
    group.bytes.push(piece)
    group.tokens.push(token)
    group.logProbability += logProbability
  }
  const texts = groups.map(({ bytes }) => textOf(bytes))
  const total = texts.reduce((sum, text) => sum + text.length + 1, 0)
  let before = 0
  return groups.flatMap(({ tokens, logProbability }, at) => {
    const text = texts[at]!
    const startMs = (windowMs * before) / total
    before += text.length + 1
    const probability = Math.exp(logProbability / tokens.length)
    return text === '' ? [] : [{ text, startMs, endMs: (windowMs * before) / total, probability, tokens }]
  })
}

/** `<s>`, `<<ST_7>>`: not said. */
const isControl = (piece: Uint8Array): boolean => piece.length > 2 && piece[0] === 0x3c && piece.at(-1) === 0x3e

/**
 * A character that was cut off in the middle is left out. One comma is enough: of a short compressed clip the model
 * wrote "Yes,, of course,,".
 */
function textOf(bytes: readonly Uint8Array[]): string {
  const text = new TextDecoder().decode(Buffer.concat(bytes))
  return text.replaceAll(wordStart, ' ').replaceAll('\uFFFD', '').replaceAll(/,{2,}/g, ',').trim()
}
