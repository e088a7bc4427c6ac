import { expect, test } from 'bun:test'
import type { Emission } from './tdt.ts'
import { wordsOf } from './words.ts'

/** `piece frame frames`, and its probability; the vocabulary consists of the pieces. */
function wordsFrom(spoken: readonly (readonly [piece: string, frame: number, frames: number, probability?: number])[]) {
  const pieces = spoken.map(([piece]) => piece)
  const emissions = spoken.map(([, frame, frames, probability = 1], token): Emission => {
    return { token, frame, frames, logprob: Math.log(probability) }
  })
  return wordsOf(emissions, pieces, { frameMs: 80, endMs: 4000 })
}
const textsOf = (...pieces: string[]) =>
  wordsFrom(pieces.map((piece, index) => [piece, index, 1] as const)).map(({ text }) => text)

test('a piece with a word mark begins a word', () => {
  expect(textsOf('▁Good', '▁mor', 'n', 'ing', ',', '▁to', '▁you', '.')).toEqual(['Good', 'morning,', 'to', 'you.'])
  expect(textsOf('lo', '▁there')).toEqual(['lo', 'there'])
  expect(textsOf()).toEqual([])
})

test('a separate space belongs to the next piece', () => {
  expect(textsOf('▁It', '▁', '4', '2', '▁', '▁is')).toEqual(['It', '42', 'is'])
  expect(textsOf('▁')).toEqual([])
})

test('closing marks have no space before them; openers, quotes, hyphens and currency signs keep theirs', () => {
  expect(textsOf('▁Yes', '▁,', '▁no', '▁', '?', '▁!')).toEqual(['Yes,', 'no?!'])
  expect(textsOf('▁first', '▁(', 'a', ')', '▁$', '5', "▁'", 'Tis', '▁-', '▁5', '▁%')).toEqual([
    'first',
    '(a)',
    '$5',
    "'Tis",
    '-',
    '5%',
  ])
})

test('a mark before the first word is dropped', () => {
  expect(textsOf('▁.', '▁So')).toEqual(['So'])
  expect(textsOf('.')).toEqual([])
})

test('control tokens are not text', () => {
  expect(textsOf('▁a', '<unk>', 'b', '<|en|>', '▁<', '▁c', '<|nospeech|>')).toEqual(['ab', '<', 'c'])
})

test('in Russian, the letter that the tokenizer lacks is ё', () => {
  expect(textsOf('▁Е', '<unk>', '▁ещ', '<unk>', '▁', '<unk>', 'ж', ',', '▁в', '▁зв', '<unk>', 'зд', 'ах', '.')).toEqual(
    ['Её', 'ещё', 'ёж,', 'в', 'звёздах.'],
  )
  expect(textsOf('<unk>', 'лка', '.')).toEqual(['ёлка.'])
})

test('in other languages, the unknown token is not text', () => {
  expect(textsOf('▁na', '<unk>', 've', '▁', '<unk>', '▁зв', '<unk>', 'зды')).toEqual(['nave', 'звёзды'])
  expect(textsOf('▁Її', '▁', '<unk>', 'анок')).toEqual(['Її', 'анок'])
  expect(textsOf('▁', '<unk>', '▁<', '<unk>')).toEqual(['<'])
})

test('a word lasts from its first token to the end of its last, without marks', () => {
  const words = wordsFrom([
    ['▁Good', 2, 3, 0.5],
    ['bye', 5, 2, 0.9],
    ['.', 12, 4, 0.7],
    ['▁So', 20, 4, 1],
  ])
  expect(words).toEqual([
    { text: 'Goodbye.', startMs: 160, endMs: 560, probability: expect.closeTo(0.7), tokens: [0, 1, 2] },
    { text: 'So', startMs: 1600, endMs: 1920, probability: 1, tokens: [3] },
  ])
})

test("no word overlaps the next or passes the window's end; a word without duration has one frame", () => {
  const times = wordsFrom([
    ['▁a', 2, 4],
    ['▁b', 4, 0],
    ['▁c', 4, 0],
    ['▁d', 10, 0],
    ['▁e', 49, 4],
    ['▁f', 51, 4],
  ]).map(({ startMs, endMs }) => [startMs, endMs])
  expect(times).toEqual([
    [160, 320],
    [320, 320],
    [320, 400],
    [800, 880],
    [3920, 4000],
    [4000, 4000],
  ])
})
