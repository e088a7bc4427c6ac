/**
 * The log: one line per event on stderr, readable by people and machines (time, level, message, then name=value). It
 * never gets secrets: keys and texts do not leave their requests.
 */
export type Level = 'quiet' | 'info' | 'debug'

export interface Log {
  /** Something an operator should see. */
  warn(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  debug(message: string, fields?: Record<string, unknown>): void
}

/** @param write takes one line with its line break */
export function logTo(write: (line: string) => void, level: Level, nowMs: () => number): Log {
  const line = (mark: string, message: string, fields: Record<string, unknown> = {}) => {
    const values = Object.entries(fields).map(([name, value]) => ` ${name}=${shown(value)}`)
    write(`${new Date(nowMs()).toISOString()} ${mark} ${oneLine(message)}${values.join('')}\n`)
  }
  const nothing = () => {}
  return {
    warn: (message, fields) => line('WARN', message, fields),
    info: level === 'quiet' ? nothing : (message, fields) => line('INFO', message, fields),
    debug: level === 'debug' ? (message, fields) => line('DEBUG', message, fields) : nothing,
  }
}

export interface Warning {
  atMs: number
  message: string
  fields: Readonly<Record<string, unknown>>
}

/** A log that can be read without the server's terminal. */
export interface KeptLog extends Log {
  /** The last ones, the newest first, at every level. */
  warnings(): Warning[]
  /** The last lines as they were written, the oldest first. */
  lines(): string[]
}

const warningsKept = 100
const linesKept = 200

/** Like `logTo`, and keeps the last of it. */
export function keepingLog(write: (line: string) => void, level: Level, nowMs: () => number): KeptLog {
  const warnings: Warning[] = []
  const lines: string[] = []
  const keep = (line: string) => {
    lines.push(line.trimEnd())
    if (lines.length > linesKept) lines.shift()
    write(line)
  }
  const log = logTo(keep, level, nowMs)
  return {
    ...log,
    warn(message, fields = {}) {
      warnings.unshift({ atMs: nowMs(), message, fields })
      warnings.length = Math.min(warnings.length, warningsKept)
      log.warn(message, fields)
    },
    warnings: () => [...warnings],
    lines: () => [...lines],
  }
}

/** An error and its causes, with the stack of the innermost: what is needed to find it. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? (error.stack ?? error.message) : `${error.message} < ${causeOf(error.cause)}`
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ')

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}
