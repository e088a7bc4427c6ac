/** A server that is about to be killed while its engine is deep in a call: prints the engine's process id and waits. */
import { EngineClient } from '../engine/client.ts'
import { testEngineCommand } from './engine-child.ts'
import { order } from './talk.ts'

const client = new EngineClient({
  task: 'text-to-speech',
  command: testEngineCommand(),
  env: {},
  readyMs: 10_000,
  stallMs: 600_000,
  log: () => {},
})
await client.start()
console.log((await client.status()).pid)
for await (const _ of client.speak(order(Bun.argv[2] ?? ''), new AbortController().signal)) {
  // Read on: the text decides how this goes.
}
