import { expect, test } from 'bun:test'
import { colourTable, hex, levelColour, oklch, type Rgb } from './colour.ts'

/** CIE luminance of an sRGB colour, 0 to 1. The map is built with another measure. */
function luminance([red, green, blue]: Rgb): number {
  const linear = (part: number) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4)
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

test('OKLCh gives the colours that its paper lists', () => {
  expect(oklch(1, 0, 0)).toEqual([255, 255, 255])
  expect(oklch(0, 0, 0)).toEqual([0, 0, 0])
  expect(oklch(0.62796, 0.25768, 29.234)).toEqual([255, 0, 0])
  expect(oklch(0.86644, 0.29483, 142.495)).toEqual([0, 255, 0])
  expect(oklch(0.45201, 0.31321, 264.052)).toEqual([0, 0, 255])
  expect(hex([255, 0, 10])).toBe('#ff000a')
})

test('a colour outside sRGB keeps its lightness', () => {
  const shown = oklch(0.6, 0.4, 150)
  const grey = oklch(0.6, 0, 150)
  expect(Math.abs(luminance(shown) ** (1 / 3) - luminance(grey) ** (1 / 3))).toBeLessThan(0.04)
  expect(Math.max(...shown) - Math.min(...shown)).toBeGreaterThan(60)
})

test.each(['light', 'dark'] as const)('%s changes its lightness steadily in one direction from its panel', (theme) => {
  const colours = Array.from({ length: 65 }, (_, step) => levelColour(theme, step / 64))
  const sign = theme === 'dark' ? 1 : -1
  const levels = colours.map((colour) => sign * luminance(colour) ** (1 / 3))
  for (let step = 1; step < levels.length; step++) expect(levels[step]! - levels[step - 1]!).toBeGreaterThan(0)
  const quarters = [0, 16, 32, 48, 64].map((step) => levels[step]!)
  for (let at = 1; at < 5; at++) expect(quarters[at]! - quarters[at - 1]!).toBeGreaterThan(0.09)
})

test('the table contains the map, and levels out of range get its end colours', () => {
  const table = colourTable('dark')
  expect(table.length).toBe(768)
  expect([...table.subarray(0, 3)]).toEqual([...levelColour('dark', -1)])
  expect([...table.subarray(765)]).toEqual([...levelColour('dark', 2)])
})
