import { expect, test } from 'bun:test'
import { Seeded } from '../../testing/seeded.ts'
import { partsOf } from '../../web/speak/sentences.ts'

const letters = (text: string) => text.replaceAll(/\s+/g, '')

test('a text within the limit of one request stays as it is', () => {
  expect(partsOf('  One. Two.\n\nThree.  ', 4096)).toEqual(['One. Two.\n\nThree.'])
  expect(partsOf(' \n ', 10)).toEqual([])
})

test('a long text is cut between paragraphs, then between sentences, and nothing is lost', () => {
  const sentence = 'This is a sentence of some length, said again. '
  const text = `${sentence.repeat(30)}\n\n${sentence.repeat(10)}\n\n${sentence.repeat(60)}`
  const parts = partsOf(text, 1500)
  expect(letters(parts.join(''))).toBe(letters(text))
  for (const part of parts) {
    expect(part.trimEnd().length).toBeLessThanOrEqual(1500)
    expect(part.trimEnd()).toEndWith('again.')
  }
  expect(parts.length).toBe(4)
})

test('a sentence without an end is cut between words, and a word without an end anywhere', () => {
  expect(partsOf('aaa bbb ccc ddd', 7).map((part) => part.trim())).toEqual(['aaa bbb', 'ccc ddd'])
  expect(partsOf('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)])
  expect(partsOf('🐦'.repeat(5), 2)).toEqual(['🐦🐦', '🐦🐦', '🐦'])
})

test('for any text, no part is too long or empty, and every letter is in exactly one of them, in order', () => {
  const seed = 20
  const random = new Seeded(seed)
  const pieces = [
    'Hello there. ',
    'a ',
    'Ends here!\n\n',
    '日本語です。',
    '🐦',
    'verylongwordwithoutend',
    '\n',
    'Dr. No said 3.5. ',
  ]
  for (let round = 0; round < 200; round++) {
    const bytes = random.fill(new Uint8Array(60))
    const text = [...bytes].map((byte) => pieces[byte % pieces.length]).join('')
    const maxChars = 8 + (bytes[0] ?? 0)
    const parts = partsOf(text, maxChars)
    const told = `seed ${seed}, round ${round}`
    expect(letters(parts.join('')), told).toBe(letters(text))
    expect(
      parts.filter((part) => part.trim() === '' || [...part.trim()].length > maxChars),
      told,
    ).toEqual([])
  }
})
