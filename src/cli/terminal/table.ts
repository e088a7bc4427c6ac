/** Tables and bars of text. Widths are those of the terminal's cells, so that wide characters stay in line. */
import { bold, terminalColumns } from './terminal.ts'

export interface Column {
  title: string
  /** Numbers are aligned to the right, so that their digits are under one another. */
  right?: boolean
}

/** A column is never narrower, unless its own cells are. */
const narrowest = 8
const gap = '  '

/**
 * @param rows as many cells each as there are columns
 * @param width of the terminal: the widest columns are cut until the table fits; absent: the terminal's own width, and
 * no limit if the output is not a terminal
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = process.stdout.isTTY === true ? terminalColumns() : Number.POSITIVE_INFINITY,
): string {
  const shown = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, '?')))
  const wanted = columns.map((column, at) =>
    Math.max(Bun.stringWidth(column.title), ...shown.map((row) => Bun.stringWidth(row[at] ?? ''))),
  )
  const widths = fitted(wanted, width - gap.length * (columns.length - 1))
  const line = (cells: readonly string[]) =>
    columns
      .map((column, at) => pad(cut(cells[at] ?? '', widths[at] ?? 0), widths[at] ?? 0, column.right === true))
      .join(gap)
      .trimEnd()
  return [bold(line(columns.map((column) => column.title))), ...shown.map(line)].join('\n')
}

/** Shortens the widest column, one cell at a time, until all fit or none can shrink further. */
function fitted(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted]
  let excess = widths.reduce((sum, width) => sum + width, 0) - room
  while (excess > 0) {
    const widest = Math.max(...widths)
    if (widest <= narrowest) break
    widths[widths.lastIndexOf(widest)]!--
    excess--
  }
  return widths
}

/** The beginning of a text that is too wide, and an ellipsis. */
function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let kept = ''
  for (const { segment } of letters.segment(text)) {
    if (Bun.stringWidth(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function pad(cell: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)))
  return right ? blanks + cell : cell + blanks
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** One horizontal bar for each value, the greatest of them `width` cells long. Anything above zero shows. */
export function bars(values: readonly number[], width: number): string[] {
  const greatest = Math.max(...values, 0)
  return values.map((value) => {
    if (value <= 0) return ''
    const length = Math.max(1, Math.round((value / greatest) * width * 8))
    return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '')
  })
}
