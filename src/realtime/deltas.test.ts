import { expect, test } from 'bun:test'
import { TranscriptDeltas } from './deltas.ts'

test('a word is sent once two guesses agree on it and on every word before it', () => {
  const deltas = new TranscriptDeltas()
  expect(deltas.guess('It was')).toBe('')
  expect(deltas.guess('It was the best')).toBe('It was')
  expect(deltas.guess('It was the best of time')).toBe(' the best')
  expect(deltas.guess('It was the best of times, it')).toBe(' of')
  expect(deltas.settle('It was the best of times.')).toBe(' times.')
})

test('marks and capitals do not make another word', () => {
  const deltas = new TranscriptDeltas()
  deltas.guess('hello there')
  expect(deltas.guess('Hello, there you')).toBe('Hello, there')
  expect(deltas.settle('Hello there, you.')).toBe(' you.')
})

test('sent words cannot be taken back: a text that differs adds nothing', () => {
  const deltas = new TranscriptDeltas()
  deltas.guess('wreck a nice')
  expect(deltas.guess('wreck a nice beach')).toBe('wreck a nice')
  expect(deltas.settle('recognise speech now and then')).toBe('')
  expect(deltas.settle('wreck a nice beach today')).toBe(' beach today')
})

test('without guesses the whole text is one delta', () => {
  const deltas = new TranscriptDeltas()
  expect(deltas.settle(' One part.')).toBe('One part.')
  expect(deltas.settle(' One part. And another.')).toBe(' And another.')
  expect(deltas.settle('')).toBe('')
})
