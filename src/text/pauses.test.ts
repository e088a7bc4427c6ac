import { expect, test } from 'bun:test'
import { maxPauseSeconds, stretches } from './pauses.ts'

const cases: [string, [string, number, number][]][] = [
  ['Hello.', [['Hello.', 0, 6]]],
  ['', [['', 0, 0]]],
  [
    'One. [pause:1.5s] Two.',
    [
      ['One. ', 1.5, 17],
      [' Two.', 0, 22],
    ],
  ],
  [
    'A <break time="2s"/> b <break time=\'250ms\'></break>',
    [
      ['A ', 2, 20],
      [' b ', 0.25, 51],
    ],
  ],
  ['[pause 900ms]', [['', 0.9, 13]]],
  // Code points, not UTF-16 units.
  [
    '🎉[PAUSE:1s]🎉',
    [
      ['🎉', 1, 11],
      ['🎉', 0, 12],
    ],
  ],
  ['[pause:9999s]', [['', maxPauseSeconds, 13]]],
  // Without a length this is an ordinary SSML break, which the rules for tags handle.
  ['A <break/> b', [['A <break/> b', 0, 12]]],
  ['[pause:xs]', [['[pause:xs]', 0, 10]]],
]

test.each(cases)('%j', (input, expected) => {
  expect(stretches(input).map((one) => [one.text, one.pauseSeconds, one.coveredChars])).toEqual(expected)
})

test('a million characters that begin like a tag are read in one pass', () => {
  const input = '<break time="1'.repeat(70_000)
  expect(stretches(input)).toHaveLength(1)
})
