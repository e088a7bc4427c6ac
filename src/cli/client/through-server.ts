/** Holds what commands share that are clients of a running server's API, as any other program could be. */
import { type Command, Option } from 'commander'
import { type Config, clientEnv } from '../../config.ts'
import { clientAccess } from '../administration.ts'
import { ApiClient, type Refusal } from './client.ts'
import { Failure } from '../terminal/terminal.ts'

export interface ServerOptions {
  url?: string
  key?: string
}

/** Adds the options that say which server and whose key. */
export const throughServer = (command: Command): Command =>
  command
    .addOption(
      serverOption('--url <url>', 'address of the server (default: $MYNA_URL, else the one of this data folder)'),
    )
    .addOption(
      serverOption('--key <key>', 'API key (default: $MYNA_API_KEY; the server of this data folder needs none)'),
    )

/** Help lists it after what the command itself takes. */
const serverOption = (flags: string, about: string): Option => new Option(flags, about).helpGroup('Server Options:')

/**
 * A client of the server that is named by option or variable; else of the one that runs on this data folder, which
 * needs no key here; else of the address that the settings name.
 * @throws Failure when the server of the data folder does not answer
 */
export async function clientOf(options: ServerOptions, config: Config): Promise<ApiClient> {
  const env = clientEnv()
  const named = options.url ?? (env.url || null)
  const apiKey = options.key ?? (env.apiKey || null)
  const wait = (ms: number) => Bun.sleep(ms)
  if (named !== null) return new ApiClient({ url: named, apiKey, wait })
  const own = await clientAccess(config.dataDir)
  if (own !== null) return new ApiClient({ url: own.url, apiKey: apiKey ?? own.apiKey, wait })
  return new ApiClient({ url: `http://127.0.0.1:${config.port || 8790}`, apiKey, wait })
}

/** A key that is missing or refused (401): in the server's words, and how a person at a terminal gets one. */
export function keyRefused({ message, code, server }: Refusal): Failure {
  const how = 'Create a key with: myna keys create --account NAME, and pass it as MYNA_API_KEY or --key.'
  return new Failure(`The server at ${server} answered: ${message.replace(/\.?$/, '.')} ${how}`, code)
}
