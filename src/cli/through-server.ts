/** What the commands share that are clients of a running server's API, as anybody's program could be. */
import type { Command } from 'commander'
import { clientEnv } from '../config.ts'
import { ApiClient } from './client.ts'

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

/** Calls back at the first Ctrl-C; the second does what it does everywhere. @returns how to stop listening */
export function onInterrupt(callback: () => void): () => void {
  process.once('SIGINT', callback)
  return () => process.removeListener('SIGINT', callback)
}
