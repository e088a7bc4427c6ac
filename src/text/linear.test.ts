/**
 * Cost grows linearly with the text, for any text. The test compares the processor time of n and of 4n characters: a
 * quadratic step would show as 16. It takes the best of a few runs, which excludes other work on the machine.
 */
import { expect, test } from 'bun:test'
import { emptyLexicon } from './lexicon.ts'
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
]

function cpuMs(input: string): number {
  const before = process.cpuUsage()
  for (const word of englishWords(input, emptyLexicon)) void word
  const used = process.cpuUsage(before)
  return (used.user + used.system) / 1000
}

test.each(hostile)('%j repeated', (scrap) => {
  const text = (length: number) => scrap.repeat(Math.ceil(length / scrap.length))
  const small = text(6_000)
  const large = text(24_000)
  cpuMs(large)
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 16 && best > 8; attempt++) {
    const many = Math.min(cpuMs(large), cpuMs(large))
    // Below a millisecond the clock is too coarse.
    const few = Math.max(1, Math.min(cpuMs(small), cpuMs(small), cpuMs(small)))
    best = Math.min(best, many / few)
  }
  expect(best).toBeLessThan(8)
})
