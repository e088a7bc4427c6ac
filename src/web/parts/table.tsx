/**
 * A table that a phone can show: there each row becomes a card, with the names of the columns beside their values. The
 * roles are stated explicitly, because browsers forget them once a row is not laid out as one.
 */
import type { ComponentChildren } from 'preact'

export interface Column<T> {
  name: string
  /** Numbers are aligned right, in digits of one width. */
  isRight?: boolean
  /** Left out on a phone. */
  isWide?: boolean
  /** `name`: broken anywhere; `brief`: on one line; `acts`: buttons, whose heading is not seen. */
  kind?: 'name' | 'brief' | 'acts'
  /** null: nothing, and no line of its own on a phone. */
  cell: (row: T) => ComponentChildren
}

interface TableProps<T> {
  label: string
  rows: readonly T[]
  idOf: (row: T) => string
  columns: readonly Column<T>[]
}

const classOf = <T,>({ isRight, isWide, kind }: Column<T>): string =>
  `${isRight ? 'right ' : ''}${isWide ? 'wide ' : ''}${kind ?? ''}`.trim()

export const Table = <T,>({ label, rows, idOf, columns }: TableProps<T>) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.name} role="columnheader" class={classOf(column)}>
              {column.kind === 'acts' ? <span class="unseen">{column.name}</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={idOf(row)} role="row">
            {columns.map((column) => {
              const cell = column.cell(row)
              return (
                <td key={column.name} role="cell" class={classOf(column)} data-name={column.name}>
                  {cell === null ? null : <div>{cell}</div>}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
