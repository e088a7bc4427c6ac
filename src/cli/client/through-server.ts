/** What the commands share that are clients of a running server's API, as anybody's program could be. */
import type { Command } from 'commander'
import { clientEnv } from '../../config.ts'
import { ApiClient, type Refusal } from './client.ts'
import { Failure } from '../terminal/terminal.ts'

export interface ServerOptions {
  url?: string
  key?: string
}

/** Adds the options that say which server and whose key. */
export const throughServer = (command: Command): Command =>
  command
    .option('--url <url>', 'the server (default: $MYNA_URL, else http://127.0.0.1:8790)')
    .option('--key <key>', 'the API key (default: $MYNA_API_KEY)')

export function clientOf(options: ServerOptions): ApiClient {
  const env = clientEnv()
  const url = options.url ?? (env.url || 'http://127.0.0.1:8790')
  return new ApiClient({ url, apiKey: options.key ?? (env.apiKey || null), wait: (ms) => Bun.sleep(ms) })
}

/** A key that is missing or refused (401): in the server's words, and how a person at a terminal gets one. */
export function keyRefused({ message, code }: Refusal): Failure {
  const how = 'Get a key with: myna keys create --account NAME, and give it as MYNA_API_KEY or --key.'
  return new Failure(`${message.replace(/\.?$/, '.')} ${how}`, code)
}

/** Calls back at the first Ctrl-C; the second does what it does everywhere. @returns how to stop listening */
export function onInterrupt(callback: () => void): () => void {
  process.once('SIGINT', callback)
  return () => process.removeListener('SIGINT', callback)
}
