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

test('a table that is too wide for the terminal shortens its widest columns', () => {
  const columns = [{ title: 'ID' }, { title: 'N', right: true }, { title: 'DESCRIPTION' }]
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

test('however narrow the terminal is, each column keeps eight cells', () => {
  const rows = [['x'.repeat(20), 'short', 'y'.repeat(30)]]
  expect(table([{ title: 'A' }, { title: 'B' }, { title: 'C' }], rows, 5).split('\n')[1]).toBe(
    `${'x'.repeat(7)}…  short  ${'y'.repeat(7)}…`,
  )
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
