import { describe, expect, test } from 'bun:test'
import type { Word } from './word-split.ts'
import { timeWords, type Unworded } from './words.ts'

/** One token a word. @param words text, start and end in hundredths of a second */
function times(words: [string, number, number][], segments?: Unworded[], spokenS = 0, windowS = 0) {
  const split: Word[] = words.map(([text]) => ({ text, tokens: [0] }))
  const startS = [...words.map(([, start]) => start / 100), words.at(-1)![2] / 100]
  const alignment = { startS, probability: words.map(() => 0.5) }
  const whole = { startS: windowS, endS: windowS + words.at(-1)![2] / 100, textTokens: words.length }
  return timeWords(segments ?? [whole], split, alignment, { windowS, spokenS })
}

const written = (words: ReturnType<typeof times>[number]['words']) =>
  words.map(({ text, startS, endS }) => [text, Math.round(100 * startS), Math.round(100 * endS)])

describe('punctuation', () => {
  test('joins the word before it, or the word after it', () => {
    const [segment] = times([
      [' (', 0, 10],
      ['one', 10, 30],
      [')', 30, 32],
      [',', 32, 36],
      [' two', 36, 60],
      ['!', 60, 70],
    ])
    expect(segment!.words.map(({ text }) => text)).toEqual([' (one),', ' two!'])
  })

  test('stays alone where there is no word', () => {
    const [segment] = times([
      [' "', 0, 10],
      [' -', 10, 20],
    ])
    expect(segment!.words.map(({ text }) => text)).toEqual([' -'].map((text) => ` "${text}`))
  })
})

test("a word's probability is the average of its tokens, and it begins where the first token does", () => {
  const alignment = { startS: [0, 0.2, 0.5], probability: [0.2, 0.6] }
  const segment = { startS: 0, endS: 0.5, textTokens: 2 }
  const [only] = timeWords([segment], [{ text: ' one', tokens: [1, 2] }], alignment, { windowS: 0, spokenS: 0 })
  expect(only!.words).toEqual([{ text: ' one', startS: 0, endS: 0.5, probability: 0.4 }])
})

describe('a pause', () => {
  test('that was counted to the end of a sentence is cut off it', () => {
    const [segment] = times([
      [' one', 0, 20],
      [' two', 20, 40],
      ['.', 40, 200],
      [' three', 200, 220],
    ])
    expect(written(segment!.words)).toEqual([
      [' one', 0, 20],
      [' two.', 20, 40],
      [' three', 200, 220],
    ])
  })

  test('that was counted to the word after it is cut off that word', () => {
    const [segment] = times([
      [' one', 0, 20],
      ['.', 20, 30],
      [' two', 30, 250],
      [' three', 250, 270],
    ])
    // Twice the median of 20, 10, 220 and 20.
    expect(written(segment!.words)[1]).toEqual([' two', 210, 250])
  })

  test('before the first word is not part of that word', () => {
    const [segment] = times([
      [' one', 0, 300],
      [' two', 300, 320],
      [' three', 320, 340],
    ])
    expect(written(segment!.words)[0]).toEqual([' one', 260, 300])
    expect(segment!.startS).toBeCloseTo(2.6, 9)
  })
})

test('a segment takes the times of its words, unless they differ by half a second', () => {
  const near: Unworded = { startS: 0.3, endS: 1.2, textTokens: 2 }
  const words: [string, number, number][] = [
    [' one', 40, 60],
    [' two', 60, 100],
  ]
  const drawn = times(words, [near])[0]!
  expect([drawn.startS, drawn.endS]).toEqual([0.4, 1])
  const early: Unworded = { startS: 0, endS: 0.05, textTokens: 2 }
  const late = times(words, [{ ...early, endS: 0.7 }], 0.4)[0]!
  expect(late.endS).toBe(1)
  const cut = times([...words, [' three', 100, 190]], [{ startS: 0.4, endS: 1.3, textTokens: 3 }], 0.4)[0]!
  expect(cut.endS).toBe(1.3)
  expect(written(cut.words).at(-1)).toEqual([' three', 100, 140])
})

test('without text there are no words, and the segments stay as they are', () => {
  const segment = { startS: 1, endS: 2, textTokens: 0 }
  expect(timeWords([segment], [], null, { windowS: 0, spokenS: 0 })).toEqual([{ startS: 1, endS: 2, words: [] }])
})
