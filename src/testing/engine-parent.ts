/**
 * A server that will be killed while its engine is in the middle of a call: prints the engine's process id and waits.
 */
import { EngineClient } from '../engine/client.ts'
import { testEngineCommand } from './engine-child.ts'
import { order } from './talk.ts'

/** @param text the engine's text, faults and all */
export const engineParentCommand = (text: string): string[] => [process.execPath, import.meta.path, text]

async function main(text: string): Promise<void> {
  const client = new EngineClient({
    task: 'text-to-speech',
    command: testEngineCommand(),
    env: {},
    readyMs: 10_000,
    stallMs: 600_000,
    loadMs: 600_000,
    log: () => {},
  })
  await client.start()
  console.log((await client.status()).pid)
  for await (const _ of client.speak(order(text), new AbortController().signal)) {
    // Reads on; the text decides how this ends.
  }
}

if (import.meta.main) await main(Bun.argv[2] ?? '')
