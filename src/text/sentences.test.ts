import { expect, test } from 'bun:test'
import { countChars } from '../domain/charge.ts'
import { Seeded } from '../testing/seeded.ts'
import { randomText } from './random-text.fixture.ts'
import { parts, wholeSentences } from './sentences.ts'

const whole = (text: string) => text.slice(0, wholeSentences(text))

test('a growing text is complete up to the last sentence with something after it', () => {
  expect(whole('')).toBe('')
  expect(whole('Hello there')).toBe('')
  expect(whole('Hello there.')).toBe('')
  expect(whole('Hello there. ')).toBe('')
  expect(whole('Hello there. H')).toBe('Hello there. ')
  expect(whole('Is it? Yes! And')).toBe('Is it? Yes! ')
  expect(whole('A line\nand another')).toBe('A line\n')
  expect(whole('これは一つ。二つ')).toBe('これは一つ。')
})

test('a dot in titles, initials, numbers and decimals does not end a sentence', () => {
  for (const text of ['I saw Dr. Smith', 'By J. R. Hartley', 'It is 3.5 degrees', '1. First of all', 'Mr. X'])
    expect(whole(text)).toBe('')
})

test('a part holds as many whole sentences as fit', () => {
  expect([...parts('One. Two. Three.', 10)]).toEqual(['One. Two. ', 'Three.'])
  expect([...parts('One two three four', 8)]).toEqual(['One two ', 'three ', 'four'])
  expect([...parts('x'.repeat(10), 4)]).toEqual(['xxxx', 'xxxx', 'xx'])
  expect([...parts('', 4)]).toEqual([])
})

test('for any text, nothing is lost and no part is too long', () => {
  const seed = 20261122
  const random = new Seeded(seed)
  for (let round = 0; round < 200; round++) {
    const text = randomText(random, 40)
    const max = 1 + Math.floor(random.next() * 60)
    const found = [...parts(text, max)]
    expect([seed, round, found.join('')]).toEqual([seed, round, text])
    expect(Math.max(0, ...found.map(countChars))).toBeLessThanOrEqual(max)
  }
})
