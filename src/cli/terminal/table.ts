/** Tables and bars of text. Widths are those of the terminal's cells, so that wide characters stay in line. */
import { bold } from './terminal.ts'

export interface Column {
  title: string
  /** Numbers stand right, so that their places are under one another. */
  right?: boolean
}

/** @param rows as many cells each as there are columns */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, '?')))
  const widths = columns.map((column, at) =>
    Math.max(Bun.stringWidth(column.title), ...shown.map((row) => Bun.stringWidth(row[at] ?? ''))),
  )
  const line = (cells: readonly string[]) =>
    columns
      .map((column, at) => pad(cells[at] ?? '', widths[at] ?? 0, column.right === true))
      .join('  ')
      .trimEnd()
  return [bold(line(columns.map((column) => column.title))), ...shown.map(line)].join('\n')
}

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
