import { expect, test } from 'bun:test'
import { bars, table } from './table.ts'

test('columns are as wide as their widest cell, whatever its characters', () => {
  const columns = [{ title: 'NAME' }, { title: 'N', right: true }, { title: 'LAST' }]
  const rows = [
    ['ada', '1', 'x'],
    ['日本', '1,000', ''],
  ]
  expect(table(columns, rows).split('\n')).toEqual(['NAME      N  LAST', 'ada       1  x', '日本  1,000'])
})

test('a table that is too wide for the terminal cuts its texts', () => {
  const columns = [{ title: 'ID' }, { title: 'N', right: true }, { title: 'DESCRIPTION', least: 12 }]
  const rows = [
    ['voice_01M8ZK', '1', 'A calm voice for long books'],
    ['lark', '22', '落ち着いた声'],
  ]
  const lines = table(columns, rows, 32).split('\n')
  expect(lines).toEqual([
    'ID             N  DESCRIPTION',
    'voice_01M8ZK   1  A calm voice…',
    'lark          22  落ち着いた声',
  ])
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(32)
})

test('where texts cannot be cut further, columns leave one by one, and an id stays whole', () => {
  const columns = [{ title: 'ID' }, { title: 'B', leaves: 2 }, { title: 'C', leaves: 1 }, { title: 'TEXT', least: 6 }]
  const rows = [['x'.repeat(20), 'short', 'y'.repeat(9), 'Calm and deep']]
  const shownAt = (width: number) => table(columns, rows, width).split('\n')[1]
  const id = 'x'.repeat(20)
  expect(shownAt(53)).toBe(`${id}  short  ${'y'.repeat(9)}  Calm and deep`)
  expect(shownAt(46)).toBe(`${id}  short  ${'y'.repeat(9)}  Calm…`)
  expect(shownAt(45)).toBe(`${id}  short  Calm and deep`)
  expect(shownAt(31)).toBe(`${id}  Calm and…`)
  expect(shownAt(5)).toBe(`${id}  Calm…`)
})

test('a name cannot smuggle control characters into the terminal', () => {
  expect(table([{ title: 'A' }], [['x\u001b[31my\n']])).toBe('A\nx?[31my?')
})

test('bars are proportional, and everything above zero is visible', () => {
  expect(bars([0, 50, 100, 1], 4)).toEqual(['', '██', '████', '▏'])
  expect(bars([1, 16], 2)).toEqual(['▏', '██'])
  expect(bars([0, 0], 4)).toEqual(['', ''])
  expect(bars([], 4)).toEqual([])
})
