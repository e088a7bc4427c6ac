import { expect, test } from 'bun:test'
import { bars, table } from './table.ts'

test('columns are as wide as their widest cell, whatever it is made of', () => {
  const columns = [{ title: 'NAME' }, { title: 'N', right: true }, { title: 'LAST' }]
  const rows = [
    ['ada', '1', 'x'],
    ['日本', '1,000', ''],
  ]
  expect(table(columns, rows).split('\n')).toEqual(['NAME      N  LAST', 'ada       1  x', '日本  1,000'])
})

test('a name cannot smuggle control characters into the terminal', () => {
  expect(table([{ title: 'A' }], [['x\u001b[31my\n']])).toBe('A\nx?[31my?')
})

test('bars are in proportion, and what is above zero shows', () => {
  expect(bars([0, 50, 100, 1], 4)).toEqual(['', '██', '████', '▏'])
  expect(bars([1, 16], 2)).toEqual(['▏', '██'])
  expect(bars([0, 0], 4)).toEqual(['', ''])
  expect(bars([], 4)).toEqual([])
})
