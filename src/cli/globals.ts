/** The options that every command has, wherever they stand in the command line. */
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

/** For commander: names separated by commas. */
export const nameList = (text: string): string[] => text.split(',').map((name) => name.trim())
