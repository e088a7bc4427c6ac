import { expect, test } from 'bun:test'
import { readPieces, wordsOf } from './vocabulary.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const table = (pieces: readonly (string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(
    pieces.map((piece) => {
      const bytes = typeof piece === 'string' ? bytesOf(piece) : piece
      const length = bytes.length < 128 ? [bytes.length] : [128 + (bytes.length % 128), Math.floor(bytes.length / 128)]
      return Buffer.concat([Uint8Array.from(length), bytes])
    }),
  )

const long = 'x'.repeat(300)
const pieces = readPieces(
  table(['<unk>', '<s>', '</s>', '▁Hell', 'o', '.', '', '▁', 'ö', Uint8Array.of(0xc3), long, ',']),
)
const textsOf = (tokens: readonly number[]) =>
  wordsOf(
    tokens.map((token) => ({ token, logProbability: -0.1 })),
    pieces,
    1000,
  ).map(({ text }) => text)

test('reads pieces with a length of one byte or two, and pieces without bytes', () => {
  expect(pieces.map(({ length }) => length)).toEqual([5, 3, 4, 7, 1, 1, 0, 3, 2, 1, 300, 1])
  expect(() => readPieces(Uint8Array.of(5, 65, 66))).toThrow('ends in the middle of a piece')
})

test('joins pieces to words; unspoken pieces and half characters are left out', () => {
  expect(textsOf([3, 4, 5, 3, 8, 2])).toEqual(['Hello.', 'Hellö'])
  expect(textsOf([4, 3, 9])).toEqual(['o', 'Hell'])
  expect(textsOf([1, 7, 6, 2])).toEqual([])
  expect(textsOf([99])).toEqual([])
  expect(textsOf([3, 4, 11, 11, 3, 4, 11])).toEqual(['Hello,', 'Hello,'])
})

test('the window is divided among the words by their length', () => {
  const words = wordsOf(
    [3, 4, 5, 3].map((token) => ({ token, logProbability: Math.log(0.5) })),
    pieces,
    1200,
  )
  expect(words.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
    [0, 700],
    [700, 1200],
  ])
  expect(words.map(({ probability }) => probability)).toEqual([0.5, 0.5].map((value) => expect.closeTo(value, 9)))
  expect(words[0]!.tokens).toEqual([3, 4, 5])
})
