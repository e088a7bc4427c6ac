/** Writes a model of letters in the format that `src/phonemes/letters.ts` reads. */
import { endSymbol, type LettersHeader, packing, startSymbol } from '../../src/phonemes/letters.ts'
import { end, type Model, start } from './ngrams.ts'

/** @param pairs keyed by the model's symbol: the letter and what it speaks */
export function packLetters(model: Model, pairs: ReadonlyMap<string, readonly [string, string]>): Uint8Array {
  const symbols = [...pairs.keys()]
  const numbers = new Map<string, number>([
    [start, startSymbol],
    [end, endSymbol],
  ])
  for (const [index, symbol] of symbols.entries()) numbers.set(symbol, index + 2)
  const numbered = (ngram: string) => Array.from(ngram, (symbol) => numbers.get(symbol) as number)
  const levels = Array.from({ length: model.order }, (_, depth) =>
    [...withContexts(model, depth + 1)].map((ngram) => ({ ngram, place: numbered(ngram) })).sort(byPlace),
  )
  const header: LettersHeader = {
    order: model.order,
    pairs: symbols.map((symbol) => pairs.get(symbol) as readonly [string, string]),
    levels: levels.map((level) => level.length),
  }
  const json = new TextEncoder().encode(JSON.stringify(header))
  const parts: Uint8Array[] = [bytesOf(Uint32Array.of(json.length)), json]
  for (const [depth, level] of levels.entries()) {
    const children = new Map<string, number>()
    for (const { ngram } of levels[depth + 1] ?? []) {
      children.set(ngram.slice(0, -1), (children.get(ngram.slice(0, -1)) ?? 0) + 1)
    }
    parts.push(bytesOf(Uint16Array.from(level, ({ place }) => place.at(-1) as number)))
    parts.push(bytesOf(Uint16Array.from(level, ({ ngram }) => children.get(ngram) ?? 0)))
    parts.push(Uint8Array.from(level, ({ ngram }) => quantised(packing.log, model.logs.get(ngram) ?? -16)))
    parts.push(Uint8Array.from(level, ({ ngram }) => quantised(packing.backoff, model.backoffs.get(ngram) ?? 0)))
  }
  return Buffer.concat(parts)
}

/** The n-grams of a length. The start, which is never spoken, is included as a context. */
function withContexts(model: Model, length: number): Set<string> {
  const found = new Set<string>()
  for (const ngram of model.logs.keys()) {
    if (ngram.length === length) found.add(ngram)
    if (ngram.length === length + 1) found.add(ngram.slice(0, -1))
  }
  return found
}

function byPlace(a: { place: readonly number[] }, b: { place: readonly number[] }): number {
  for (let at = 0; at < a.place.length; at++) {
    const difference = (a.place[at] as number) - (b.place[at] as number)
    if (difference !== 0) return difference
  }
  return 0
}

const quantised = (top: number, value: number): number =>
  Math.min(255, Math.max(0, Math.round((top - value) / packing.step)))

const bytesOf = (array: Uint16Array | Uint32Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
