import { expect, test } from 'bun:test'
import { copies } from './copies.ts'

const tokens = { endOfText: 1000, firstTimestamp: 2000 }
const [begin, end] = [2000, 2100]
const sentence = [1, 2, 3, 4, 5, 6, 7, 8]

test.each<[string, number[], number[], boolean]>([
  ['the sentence before', [begin, ...sentence, end], [begin, ...sentence, end], true],
  ['a sentence further back', [begin, 50, 51, end, end, ...sentence, end], [9, ...sentence, end, begin, 60, 61], true],
  ['one that was two segments there', [begin, ...sentence, end], [begin, 1, 2, 3, end, end, 4, 5, 6, 7, 8, end], true],
  ['a sentence without its last timestamp', [begin, ...sentence], sentence, true],
  ['few words', [begin, 1, 2, 3, 4, 5, 6, 7, end], sentence, false],
  ['a sentence that goes on differently', [begin, ...sentence, 99, end], sentence, false],
  ['a sentence whose end is missing before it', [begin, ...sentence, end], sentence.slice(0, 7), false],
  ['nothing', [begin, end], sentence, false],
  ['a sentence after no text', [begin, ...sentence, end], [], false],
])('%s', (_, ids, context, expected) => {
  expect(copies(ids, context, tokens)).toBe(expected)
})
