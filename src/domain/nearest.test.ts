import { expect, test } from 'bun:test'
import { nearest } from './nearest.ts'

const names = ['nova', 'alloy', 'af_heart', 'whisper-base', 'whisper-base.en']

test.each([
  ['nvoa', 'nova'],
  ['alloyy', 'alloy'],
  ['ALLY', 'alloy'],
  ['wisper-base', 'whisper-base'],
  ['whisper-base', 'whisper-base'],
  ['af_hart', 'af_heart'],
  ['marin', null],
  ['no', null],
  ['', null],
  ['n'.repeat(65), null],
])('%p means %p', (given, expected) => {
  expect(nearest(given, names)).toBe(expected)
})
