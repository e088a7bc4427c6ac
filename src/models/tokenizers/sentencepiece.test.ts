import { expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { SentencePiece } from './sentencepiece.ts'

interface Golden {
  strings: string[]
  models: { name: string; size: number; model: string; crc32: number[] }[]
}

// Written by scripts/golden/pocket-tokenizer.py with the SentencePiece library itself.
const golden: Golden = JSON.parse(
  gunzipSync(await Bun.file(`${import.meta.dir}/sentencepiece.golden.json.gz`).bytes()).toString(),
)
const bytesOf = (model: string) => new Uint8Array(Buffer.from(model, 'base64'))

for (const { name, size, model, crc32 } of golden.models) {
  test(`gives the library's ids for each of 2,400 strings: ${name}`, () => {
    const tokenizer = new SentencePiece(bytesOf(model))
    expect(tokenizer.size).toBe(size)
    const wrong = golden.strings.filter((text, at) => Bun.hash.crc32(tokenizer.encode(text).join(',')) !== crc32[at])
    expect(wrong.map((text) => [text, tokenizer.encode(text)])).toEqual([])
    expect(golden.strings.length).toBe(2400)
  })
}

const plain = golden.models[0]!.model

test('half a surrogate pair becomes the replacement character, as in a text file', () => {
  const tokenizer = new SentencePiece(bytesOf(plain))
  expect(tokenizer.encode('a \ud800 b\udc00')).toEqual(tokenizer.encode('a \ufffd b\ufffd'))
})

test('a long text takes time in proportion to its length', () => {
  const tokenizer = new SentencePiece(bytesOf(plain))
  const ids = tokenizer.encode('word '.repeat(20_000))
  expect(ids.length).toBe(20_000 * tokenizer.encode('word').length)
})

test('explains why a file is not such a model', () => {
  const whole = bytesOf(plain)
  for (const cut of [1, 100, 5000, whole.length - 1]) {
    expect(() => new SentencePiece(whole.subarray(0, cut))).toThrow(
      /cut short|damaged|no pieces|unknown piece|every byte/,
    )
  }
  expect(() => new SentencePiece(new Uint8Array(0))).toThrow('not a SentencePiece model')
  expect(() => new SentencePiece(new TextEncoder().encode('{"version":"1.0"}'))).toThrow()
})

test('refuses every algorithm except unigram', () => {
  // A piece "a", a trainer specification (field 2) with model_type (field 3) 2, byte pair encoding, and an empty rest.
  const bytes = Uint8Array.of(0x0a, 3, 0x0a, 1, 0x61, 0x12, 2, 0x18, 2, 0x1a, 0)
  expect(() => new SentencePiece(bytes)).toThrow('only unigram (1) is supported')
})
