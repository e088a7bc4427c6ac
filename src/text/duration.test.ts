import { expect, test } from 'bun:test'
import { spokenSeconds } from './duration.ts'

const secondsOf = (text: string) => [...spokenSeconds(text)].at(-1)!

/**
 * Seconds from the number of symbols that our phonemes have for each text, at 0.06 s a symbol (measured on 4,096
 * characters each).
 */
const measured: [string, string, number][] = [
  [
    'prose',
    'The people of the town walked down to the river every evening, and they talked about it. '.repeat(46),
    219,
  ],
  ['one letter without a vowel', 'M'.repeat(4096), 737],
  ['digits', '7'.repeat(4096), 1703],
  ['money', '$1,249.50 '.repeat(409), 1554],
  ['a word without end', 'a'.repeat(4095), 237],
  ['capitals', 'ABCDE '.repeat(680), 242],
  ['initials', 'M '.repeat(2048), 487],
  ['a mail address without end', `${'x1y2z3.'.repeat(500)}q@${'a-b.'.repeat(100)}com`, 1018],
]

test.each(measured)('%s', (_, text, seconds) => {
  expect(secondsOf(text) / seconds).toBeGreaterThan(0.75)
  expect(secondsOf(text) / seconds).toBeLessThan(1.35)
})

test('non-Latin scripts are counted at the pace at which people read them', () => {
  expect(secondsOf('漢字'.repeat(150)) / 60).toBeCloseTo(1, 1)
  expect(secondsOf('Съешь же ещё этих мягких французских булок. '.repeat(20)) / 50).toBeCloseTo(1, 0)
})

test('a text with nothing to say takes no time', () => {
  expect(['', '...', '😀😀', '```\ncode\n```'].map(secondsOf)).toEqual([0, 0, 0, 0])
})

test('a long text is read in pieces, and each piece adds to its duration', () => {
  const found = [...spokenSeconds('One evening they talked about the weather. '.repeat(2000))]
  expect(found.length).toBeGreaterThan(20)
  expect(found).toEqual(found.toSorted((a, b) => a - b))
})

test('pauses that a text asks for count, so that a client cannot order hours of them', () => {
  const total = (input: string) => [...spokenSeconds(input)].at(-1) ?? 0
  expect(total('[pause:9s]'.repeat(100))).toBeGreaterThan(900)
  expect(total('One. <break time="4s"/> Two.') - total('One. Two.')).toBeCloseTo(4, 1)
})
