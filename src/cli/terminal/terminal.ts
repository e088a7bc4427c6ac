/**
 * Decides what commands say and where: results on stdout, everything else on stderr, so that output can be piped. With
 * `--json` a result is one JSON value with names in snake_case and raw numbers, and an error is one too (on stderr).
 */
import { MynaError } from '../../domain/error.ts'

/** Colours only for a person who did not refuse them (NO_COLOR) at a terminal that has them. */
const colours = process.stdout.isTTY === true && process.stdout.hasColors()

const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
export const bold = paint(1)
export const dim = paint(2)
export const red = paint(31)
export const green = paint(32)
export const yellow = paint(33)
export const cyan = paint(36)

/** Width of the terminal; a usual one where that is unknown. */
export const terminalColumns = (): number => process.stdout.columns || 80

/** @param value the result as data @param text the same for a person, one or more lines without the last line break */
export function report(json: boolean, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(snakeCase(value), null, 2) : text()}\n`)
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** What went wrong, said once, at the end of a command. */
export function complain(json: boolean, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof MynaError || error instanceof Failure ? error.code : 'failed'
  note(json ? JSON.stringify({ error: { code, message } }) : `myna: ${message}`)
}

/** A command that could not do what it was asked; the message says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: string

  constructor(message: string, code = 'failed') {
    super(message)
    this.code = code
  }
}

/** The same data with its names as JSON has them. */
export function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [snakeName(name), snakeCase(field)]))
}

const snakeName = (name: string): string =>
  /^[a-z][A-Za-z0-9]*$/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name
