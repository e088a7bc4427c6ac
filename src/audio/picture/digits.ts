/**
 * A few characters as strokes, so that a picture has the same labels on a machine without any font. Each is drawn on a
 * grid 4 wide and 6 high, y downwards, as the commands of an SVG path.
 */
const strokes: Readonly<Record<string, string>> = {
  '0': 'M0 2a2 2 0 0 1 4 0v2a2 2 0 0 1 -4 0z',
  '1': 'M.6 1.3L2.4 0V6',
  '2': 'M.1 1.7A1.95 1.8 0 1 1 3.6 2.7L0 6H4',
  '3': 'M.2 0H3.8L1.9 2.4A1.85 1.8 0 1 1 .1 4.8',
  '4': 'M3 6V0L0 4.3H4',
  '5': 'M3.7 0H.7L.4 2.7A2 1.85 0 1 1 .1 4.9',
  '6': 'M3.3 0Q.2 2 .1 4.1M0 4.1a2 1.9 0 1 0 4 0a2 1.9 0 1 0 -4 0',
  '7': 'M0 0H4L1.4 6',
  '8': 'M.3 1.5a1.7 1.5 0 1 0 3.4 0a1.7 1.5 0 1 0 -3.4 0M0 4.5a2 1.5 0 1 0 4 0a2 1.5 0 1 0 -4 0',
  '9': 'M.7 6Q3.8 4 3.9 1.9M0 1.9a2 1.9 0 1 0 4 0a2 1.9 0 1 0 -4 0',
  '.': 'M1 5.8V6',
  k: 'M.3 0V6M3.3 2.2L.3 4.4M1.5 3.6L3.6 6',
  s: 'M3.3 2.9A1.6 1 0 1 0 1.8 4.1A1.6 .95 0 1 1 .2 5.1',
}
/** In units of the grid, with the gap to the next one. */
const advance: Readonly<Record<string, number>> = { '.': 3.2, '1': 4.8 }
const usualAdvance = 5.8
const gridHeight = 6

/** How wide a text of that height becomes, in pixels. */
export function textWidth(text: string, heightPx: number): number {
  const units = [...text].reduce((sum, character) => sum + (advance[character] ?? usualAdvance), 0)
  return ((units - (usualAdvance - 4)) * heightPx) / gridHeight
}

/**
 * SVG paths whose stroke the group around them sets; it is as wide as there, however large the text.
 * @param x where the text begins, in pixels @param y its upper edge
 * @throws RangeError for a character that has no strokes here
 */
export function textPaths(text: string, x: number, y: number, heightPx: number): string {
  const scale = heightPx / gridHeight
  let at = x
  return [...text]
    .map((character) => {
      const path = strokes[character]
      if (path === undefined) throw new RangeError(`no strokes for '${character}'`)
      const place = `translate(${at.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)})`
      const drawn = `<path vector-effect="non-scaling-stroke" transform="${place}" d="${path}"/>`
      at += (advance[character] ?? usualAdvance) * scale
      return drawn
    })
    .join('')
}
