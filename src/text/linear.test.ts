/**
 * Cost grows linearly with the text, for any text. The test compares the processor time of n and of 4n characters: a
 * quadratic step would show as 16. It takes the best of a few runs, which excludes other work on the machine.
 */
import { expect, test } from 'bun:test'
import { emptyLexicon } from './lexicon.ts'
import { parts } from './sentences.ts'
import { englishWords } from './spoken.ts'

// prettier-ignore
const hostile = [
  'a', 'é', '日', '👋', '\ud800', ' ', '\n', '*', '_', '~', '`', '[', ']', '(', ')', '<', '>', '&', '#', '@', '|',
  '\\', '.', '!', '?', '-', '"', "'", '$', '1', '**a', 'a*', '`` `', '[a](', '](', '[a][', '[^', '<a ', '<!--',
  '<x y=', '&#', '&a', '1.', '1,', '1-', '1/', '1:', '$1', '(1', '1 000 ', '12:30 ', 'a.', 'I.', 'a@', 'a.b@', "a'",
  'aB', 'a-', 'http://', 'www.', 'a.com/', '^2', 'X ', 'Dr. ', '| a\n', '> ', '- \n', '1. \n', '```\n', 'α',
  '\u{1d400}', '$a^', '$$a', '$a_{', '\\(a', '\\frac{', '\\frac{a}{b}', '1-1', '12:30-', 'A-', 'Mon-', '5" ',
  '1_000', "1'000", '1 000', '5%-', '5 km-', 'AA:', '0x', '∑', '1 - 2 ', '1,5', '1° ',
  '+1 ', 'M', 'ii ', '5! ', 'as/', '03/',
  '10W-', '£5 10s ', '1s 2d', 'http://[::1]:', 'A. ai', 'Ps. ', '1 (0)', 'Step 1 - ', 'art. 1 ',
]

type Stage = (input: string) => Iterable<unknown>
const words: Stage = (input) => englishWords(input, emptyLexicon)

function cpuMs(input: string, stage: Stage): number {
  const before = process.cpuUsage()
  for (const piece of stage(input)) void piece
  const used = process.cpuUsage(before)
  return (used.user + used.system) / 1000
}

/** How many times as long four times the text takes. */
function growth(scrap: string, chars: number, stage: Stage): number {
  const text = (length: number) => scrap.repeat(Math.ceil(length / scrap.length))
  const small = text(chars)
  const large = text(4 * chars)
  cpuMs(large, stage)
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 16 && best > 8; attempt++) {
    const many = Math.min(cpuMs(large, stage), cpuMs(large, stage))
    // Below a millisecond the clock is too coarse.
    const few = Math.max(1, Math.min(cpuMs(small, stage), cpuMs(small, stage), cpuMs(small, stage)))
    best = Math.min(best, many / few)
  }
  return best
}

test.each(hostile)('%j repeated', (scrap) => {
  expect(growth(scrap, 6_000, words)).toBeLessThan(8)
})

test.each(['a', 'so it ', '👋', '\n', 'a. '])('%j repeated is cut into parts', (scrap) => {
  expect(growth(scrap, 100_000, (input) => parts(input, 4096))).toBeLessThan(8)
})
