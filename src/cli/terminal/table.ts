/** Tables and bars of text. Widths are those of the terminal's cells, so that wide characters stay in line. */
import { bold, terminalColumns } from './terminal.ts'

export interface Column {
  title: string
  /** Numbers are aligned to the right, so that their digits are under one another. */
  right?: boolean
  /** Its texts may be cut to this width. Other columns are whole or absent: half an id is none. */
  least?: number
  /** Where columns must go because the terminal is narrow, they go in this order. */
  leaves?: number
}

const gap = '  '

/**
 * @param rows as many cells each as there are columns
 * @param width of the terminal; absent: the terminal's own width, and no limit if the output is not a terminal
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = process.stdout.isTTY === true ? terminalColumns() : Number.POSITIVE_INFINITY,
): string {
  const shown = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, '?')))
  const fields = columns.map((column, at): Field => {
    const cells = shown.map((row) => row[at] ?? '')
    return { ...column, cells, width: Math.max(...[column.title, ...cells].map((cell) => Bun.stringWidth(cell))) }
  })
  const fitting = fitted(fields, width)
  const line = (cellOf: (field: Field) => string) =>
    fitting
      .map((field) => pad(cut(cellOf(field), field.width), field.width, field.right === true))
      .join(gap)
      .trimEnd()
  return [bold(line(({ title }) => title)), ...shown.map((_, at) => line(({ cells }) => cells[at] ?? ''))].join('\n')
}

interface Field extends Column {
  cells: readonly string[]
  width: number
}

/** Cuts texts, the widest first, then leaves out columns, until the rest fits or nothing more may go. */
function fitted(fields: readonly Field[], width: number): readonly Field[] {
  const narrowed = fields.map((field) => ({ ...field }))
  let excess = fields.reduce((sum, field) => sum + field.width, 0) + gap.length * (fields.length - 1) - width
  while (excess > 0) {
    const [widest] = narrowed
      .filter((field) => field.width > Math.max(field.least ?? field.width, Bun.stringWidth(field.title)))
      .sort((a, b) => b.width - a.width)
    if (widest === undefined) break
    widest.width--
    excess--
  }
  const [first] = fields.filter(({ leaves }) => leaves !== undefined).sort((a, b) => a.leaves! - b.leaves!)
  if (excess <= 0 || first === undefined) return narrowed
  return fitted(
    fields.filter((field) => field !== first),
    width,
  )
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
