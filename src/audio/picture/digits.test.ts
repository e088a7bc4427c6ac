import { expect, test } from 'bun:test'
import sharp from 'sharp'
import { textPaths, textWidth } from './digits.ts'

/** The rows and columns that hold ink, when the text is drawn at (10, 10), 40 pixels high. */
async function inked(text: string): Promise<{ left: number; right: number; top: number; bottom: number }> {
  const paths = textPaths(text, 10, 10, 40)
  const group = `<g fill="none" stroke="#fff" stroke-width="2">${paths}</g>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60">${group}</svg>`
  const { data, info } = await sharp(Buffer.from(svg)).flatten({ background: '#000' }).greyscale().raw().toBuffer({
    resolveWithObject: true,
  })
  const at = [...data.keys()].filter((index) => data[index]! > 128)
  const columns = at.map((index) => index % info.width)
  const rows = at.map((index) => Math.floor(index / info.width))
  return { left: Math.min(...columns), right: Math.max(...columns), top: Math.min(...rows), bottom: Math.max(...rows) }
}

test('every digit fills its height and stays in its width', async () => {
  for (const digit of '0123456789') {
    const { left, right, top, bottom } = await inked(digit)
    expect([digit, left >= 8, right <= 10 + textWidth(digit, 40) + 2]).toEqual([digit, true, true])
    expect([digit, Math.abs(top - 9) <= 2, Math.abs(bottom - 50) <= 2]).toEqual([digit, true, true])
  }
})

test('a text ends where its width says', async () => {
  for (const text of ['500', '4k', '12.5s']) {
    const { right } = await inked(text)
    expect(Math.abs(right - (10 + textWidth(text, 40)))).toBeLessThan(6)
  }
})

test('the digits all look different', async () => {
  const drawn = new Set([...'0123456789.ks'].map((character) => textPaths(character, 0, 0, 6)))
  expect(drawn.size).toBe(13)
  expect(() => textPaths('a', 0, 0, 6)).toThrow("no strokes for 'a'")
})
