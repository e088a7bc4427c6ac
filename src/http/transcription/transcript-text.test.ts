import { expect, test } from 'bun:test'
import { forEachSeed } from '../../testing/seeded.ts'
import { TranscriptText } from './body.ts'

function textOf(...parts: string[]): [string, string[]] {
  const text = new TranscriptText()
  const deltas = parts.map((part) => text.add(part))
  return [text.toString(), deltas]
}

test('space at the ends is removed, space inside stays', () => {
  expect(textOf(' Good', ' morning. ', ' ', '\n', ' You.', ' ')).toEqual([
    'Good morning.  \n You.',
    ['Good', ' morning.', '', '', '  \n You.', ''],
  ])
})

test('silence gives an empty text', () => {
  expect(textOf()).toEqual(['', []])
  expect(textOf(' ', '', '\n')).toEqual(['', ['', '', '']])
})

test('half a character becomes the replacement character', () => {
  expect(textOf('a\ud83d')[0]).toBe('a\ufffd')
})

test('the deltas add up to the text, wherever they are cut', async () => {
  await forEachSeed(200, (random) => {
    const parts = Array.from({ length: random.whole(0, 12) }, () =>
      random.pick([' ', 'a', ' b', 'c ', '', '\n', ' d e ']),
    )
    const [text, deltas] = textOf(...parts)
    expect(deltas.join('')).toBe(text)
    expect(text).toBe(parts.join('').trim())
  })
})
