import { expect, test } from 'bun:test'
import { bytes, count, counted, day, dollars, duration, time } from './format.ts'
import { snakeCase } from './terminal.ts'

test('money has cents, and micro-dollars if there are any', () => {
  expect([0, 675, 15, 1_000_000, 5_000_250, 2_500_000, 1_234_567_000_000, -10_000].map(dollars)).toEqual([
    '$0.00',
    '$0.000675',
    '$0.000015',
    '$1.00',
    '$5.00025',
    '$2.50',
    '$1,234,567.00',
    '-$0.01',
  ])
})

test('one thing has no plural', () => {
  expect([0, 1, 2, 1000].map((value) => counted(value, 'key'))).toEqual(['0 keys', '1 key', '2 keys', '1,000 keys'])
})

test('sizes, spans, counts and dates are short', () => {
  expect([0, 999, 1000, 12_345, 999_499, 150_000_000, 80_800_000_000].map(bytes)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '12.3 kB',
    '999 kB',
    '150 MB',
    '80.8 GB',
  ])
  expect([0, 420, 9_949, 12_000, 65_000, 3_600_000, 90_061_000].map(duration)).toEqual([
    '0.0 s',
    '0.4 s',
    '9.9 s',
    '12 s',
    '1 min 5 s',
    '1 h 0 min',
    '1 d 1 h',
  ])
  expect(count(1234567)).toBe('1,234,567')
  const noon = Date.UTC(2026, 10, 21, 12, 5)
  expect([day(noon), time(noon)]).toEqual(['2026-11-21', '2026-11-21 12:05'])
})

test('JSON names are in snake_case; names that are data stay as they are', () => {
  expect(snakeCase({ chargedMicros: 1, rows: [{ audioMs: 2, at: null }], labels: { 'Nova-2 X': 'aB' } })).toEqual({
    charged_micros: 1,
    rows: [{ audio_ms: 2, at: null }],
    labels: { 'Nova-2 X': 'aB' },
  })
})
