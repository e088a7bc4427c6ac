/** The options of every command, accepted anywhere in the command line. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, loadConfig } from '../config.ts'

export interface Globals {
  json: boolean
  config: Config
}

export const globalOptions = (): Option[] => [
  new Option('--data <dir>', 'data folder (default: $MYNA_DATA, else ~/.local/share/myna)'),
  new Option('--json', 'print data for scripts: JSON, raw numbers'),
]

/** @throws ConfigError when a setting cannot be read */
export function globalsOf(command: Command): Globals {
  const options = command.optsWithGlobals<{ data?: string; json?: boolean }>()
  return {
    json: options.json === true,
    config: loadConfig(options.data === undefined ? {} : { dataDir: resolve(options.data) }),
  }
}

/** For commander: a whole number that is not negative. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('Expected a whole number.')
}

/** For commander. */
export function portNumber(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value <= 65_535) return value
  throw new InvalidArgumentError('Expected a port from 0 to 65535.')
}

const micros = 1_000_000

/**
 * For commander: an amount of money, as `5usd`, `$0.50` or `250000micros`. A bare number is refused, because 5 could
 * mean five dollars or five millionths of one.
 * @returns micro-dollars
 */
export function money(text: string): number {
  const dollars = /^(?:\$(\d+(?:\.\d{1,6})?)|(\d+(?:\.\d{1,6})?) ?usd)$/i.exec(text.trim())
  const raw = /^(\d+) ?micros$/i.exec(text.trim())
  const value = raw === null ? Math.round(Number(dollars?.[1] ?? dollars?.[2]) * micros) : Number(raw[1])
  if (Number.isSafeInteger(value)) return value
  if (/^\d+$/.test(text)) {
    throw new InvalidArgumentError(`Write ${text}usd for US dollars, or ${text}micros for millionths of a dollar.`)
  }
  throw new InvalidArgumentError('Expected an amount such as 5usd, 0.50usd or 250000micros.')
}

/** For commander: names separated by commas. */
export const nameList = (text: string): string[] => text.split(',').map((name) => name.trim())
