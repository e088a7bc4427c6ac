/** Engine clients over the test engine, for tests of what the server sees of its children. */
import { testEngineCommand, type TestEngine } from '../testing/engine-child.ts'
import { EngineClient, type EngineClientOptions } from './client.ts'

export class TestClients {
  /** Logged lines. */
  readonly lines: string[] = []
  /** Warnings. */
  readonly warnings: string[] = []
  #open: EngineClient[] = []

  /** A client that is patient enough for a busy machine. It speaks, unless one of the two gets another task. */
  connect(engine: Partial<TestEngine> = {}, options: Partial<EngineClientOptions> = {}): EngineClient {
    const task = options.task ?? engine.task ?? 'text-to-speech'
    const client = new EngineClient({
      task,
      command: testEngineCommand({ ...engine, task }),
      env: {},
      readyMs: 10_000,
      stallMs: 10_000,
      loadMs: 10_000,
      log: (line) => this.lines.push(line),
      warn: (line) => this.warnings.push(line),
      ...options,
    })
    this.#open.push(client)
    return client
  }

  /** Ends all of them, and forgets what they logged. */
  async close(): Promise<void> {
    await Promise.all(this.#open.map((client) => client.close()))
    this.#open = []
    this.lines.length = 0
    this.warnings.length = 0
  }
}
