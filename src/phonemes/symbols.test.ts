import { expect, test } from 'bun:test'
import { symbolIds } from './symbols.ts'

test('there are 114 symbols of one code point each, and every number is unique', () => {
  expect(symbolIds.size).toBe(114)
  expect(new Set(symbolIds.values()).size).toBe(114)
  for (const symbol of symbolIds.keys()) expect([...symbol].length).toBe(1)
})

test("the numbers match the model's", () => {
  const some = {
    ';': 1,
    '?': 6,
    '—': 9,
    ' ': 16,
    ꭧ: 23,
    A: 24,
    O: 31,
    ᵊ: 42,
    h: 50,
    ɑ: 69,
    ə: 83,
    ɡ: 92,
    ɹ: 123,
    ᵻ: 177,
  }
  for (const [symbol, id] of Object.entries(some)) expect([symbol, symbolIds.get(symbol)]).toEqual([symbol, id])
  expect(symbolIds.has('g')).toBe(false)
})
