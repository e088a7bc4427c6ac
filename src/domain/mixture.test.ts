import { expect, test } from 'bun:test'
import { mixtureId, parseMixture } from './mixture.ts'

test('names with and without weights, spaces anywhere', () => {
  expect(parseMixture('a+b')).toEqual({
    parts: [
      { voice: 'a', weight: 1 },
      { voice: 'b', weight: 1 },
    ],
  })
  expect(parseMixture(' Bella ( 2 ) + Old Sky(0.5)')).toEqual({
    parts: [
      { voice: 'Bella', weight: 2 },
      { voice: 'Old Sky', weight: 0.5 },
    ],
  })
  expect(parseMixture('Mum (home)(2)+x')).toMatchObject({ parts: [{ voice: 'Mum (home)', weight: 2 }, { voice: 'x' }] })
})

test.each(['a', '', '+', 'a+', '+b', 'a++b', '(2)+b'])('%j is a name, not a mixture', (text) =>
  expect(parseMixture(text)).toBeNull(),
)

test.each(['a(0)+b', 'a+b(0.0)', 'a(1001)+b', 'a+'.repeat(8) + 'a'])('%j is refused', (text) =>
  expect(parseMixture(text)).toHaveProperty('fault'),
)

test.each([
  ['a:0.5+b:0.5', 'a(0.5)+b(0.5)'],
  ['a : 2 + b', 'a(2)+b'],
  ['0.3*a+0.7*b', 'a(0.3)+b(0.7)'],
  ['a*2+b(3)', 'a(2)+b(3)'],
])('%s is refused with the right spelling', (text, right) => {
  const fault = `Put the weights of a mixture in brackets. Did you mean '${right}'?`
  expect(parseMixture(text)).toEqual({ fault })
})

test.each([
  ['a+b', 'a+b'],
  ['a(2)+b(2)', 'a+b'],
  ['a(2)+b', 'a(2)+b(1)'],
  ['a+b+a', 'a(2)+b(1)'],
  ['a(0.1)+a(0.2)+b', 'a(0.3)+b(1)'],
  ['a+a', 'a'],
])('%s is written as %s', (text, id) => {
  const mixture = parseMixture(text)
  expect(mixture !== null && 'parts' in mixture && mixtureId(mixture.parts)).toBe(id)
})
