/**
 * Statements as PostgreSQL takes them: `$name` becomes `$1`. A name used twice is one value. Whole numbers go as 64
 * bits, which is what the schema has; a fraction is refused, because the server would silently round it.
 */
import type { Parameters } from '../database.ts'

type Value = string | bigint | null

interface Numbered {
  text: string
  /** @throws Error when a value is missing or a fraction */
  valuesOf(parameters: Parameters): Value[]
}

/** The texts are all in our source, so this is bounded. */
const known = new Map<string, Numbered>()

export function numbered(sql: string): Numbered {
  const found = known.get(sql)
  if (found !== undefined) return found
  const names: string[] = []
  const text = sql.replace(/\$([a-z]\w*)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const made = { text, valuesOf: (parameters: Parameters) => names.map((name) => valueOf(name, parameters[name])) }
  known.set(sql, made)
  return made
}

function valueOf(name: string, value: string | number | null | undefined): Value {
  if (value === undefined) throw new Error(`The statement needs a value for $${name}`)
  // The server refuses NUL. No stored text has one, so a search for it finds nothing.
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  if (value === null) return null
  if (!Number.isSafeInteger(value)) throw new Error(`$${name} must be a whole number, not ${value}`)
  return BigInt(value)
}

/** Rows with numbers in place of 64-bit integers. @throws Error when one is beyond what a number holds exactly */
export function withNumbers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'bigint') continue
    const number = Number(value)
    if (!Number.isSafeInteger(number)) throw new Error(`${name} is ${value}, which no number holds exactly`)
    row[name] = number
  }
  return row
}
