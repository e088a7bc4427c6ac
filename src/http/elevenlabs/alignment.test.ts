/** Characters share the time of their word; all of them, in turn, are the text. */
import { expect, test } from 'bun:test'
import { Alignment } from './alignment.ts'

const hi = { start: 0.2, end: 0.4, text_start: 0, text_end: 2 }
const you = { start: 0.5, end: 0.8, text_start: 4, text_end: 7 }

test('in pieces, as the words come', () => {
  const alignment = new Alignment('Hi, you!')
  expect(alignment.upTo([hi])).toEqual([
    { char: 'H', start: 0.2, end: 0.3 },
    { char: 'i', start: 0.3, end: 0.4 },
  ])
  expect(alignment.upTo([])).toEqual([])
  expect(alignment.upTo([you])).toEqual([
    { char: ',', start: 0.4, end: 0.45 },
    { char: ' ', start: 0.45, end: 0.5 },
    { char: 'y', start: 0.5, end: 0.6 },
    { char: 'o', start: 0.6, end: 0.7 },
    { char: 'u', start: 0.7, end: 0.8 },
  ])
  expect(alignment.rest(1)).toEqual([{ char: '!', start: 0.8, end: 1 }])
  expect(alignment.rest(1)).toEqual([])
})

test('characters are whole, also beyond the first plane', () => {
  const alignment = new Alignment('a😀')
  const chars = [...alignment.upTo([{ start: 0, end: 1, text_start: 0, text_end: 2 }]), ...alignment.rest(1)]
  expect(chars.map(({ char }) => char)).toEqual(['a', '😀'])
})

test('times never go back, whatever the words say', () => {
  const alignment = new Alignment('ab cd')
  const words = [
    { start: 0.5, end: 1, text_start: 0, text_end: 2 },
    { start: 0.4, end: 0.9, text_start: 3, text_end: 5 },
  ]
  const times = [...alignment.upTo(words), ...alignment.rest(0.7)].flatMap(({ start, end }) => [start, end])
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times).toHaveLength(10)
})
