/**
 * One engine process, from its start to its end (server side). Its last output is kept, so that a crash is reported in
 * its own words rather than as «exit code 1».
 */
import type { FromEngine, Parcel, ToEngine } from './protocol.ts'
import { atMost, type Timers } from './timers.ts'

/** Size of the child's kept output. */
const tailBytes = 8192
/** Output may be held open by something that the child left behind: its end is not waited for longer. */
const outputMs = 300

export interface ChildOptions {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  timers: Timers
  onMessage(message: FromEngine): void
  /** A line that the child printed, on either stream. */
  onLine(line: string): void
}

export interface Ending {
  /** Exit code, or null when a signal ended it. */
  code: number | null
  signal: string | null
  /** Its last output, trimmed; empty if there was none. */
  tail: string
}

export class Child {
  readonly pid: number
  /** Ends when the process is gone and its output was read. Never rejects. */
  readonly ended: Promise<Ending>
  readonly #process: ReturnType<typeof spawn>
  #tail = ''

  /** @throws Error when the command cannot be started */
  constructor(options: ChildOptions) {
    this.#process = spawn(options)
    this.pid = this.#process.pid
    const { stdout, stderr, exited } = this.#process
    const keep = (line: string) => {
      this.#tail = `${this.#tail}${line}\n`.slice(-tailBytes)
      options.onLine(line)
    }
    const read = Promise.all([readLines(stdout, keep), readLines(stderr, keep)])
    this.ended = exited.then(async () => {
      await atMost(options.timers, outputMs, read)
      const { exitCode, signalCode } = this.#process
      const signal = signalCode === null ? null : String(signalCode)
      return { code: signal === null ? exitCode : null, signal, tail: this.#tail.trim() }
    })
  }

  /** @returns false when the child can no longer be reached */
  send(message: ToEngine): boolean {
    try {
      this.#process.send(message)
      return true
    } catch {
      return false
    }
  }

  /** Immediately and surely: it has nothing to save. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }
}

function spawn({ command, env, onMessage }: ChildOptions) {
  return Bun.spawn([...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env },
    serialization: 'advanced',
    ipc: (parcel) => (parcel as Parcel).forEach((message) => onMessage(message)),
  })
}

async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(-tailBytes)
    for (const line of lines) onLine(line)
  }
  if (rest !== '') onLine(rest)
}

/** «the engine ended (signal SIGKILL)», or what it was killed for. */
export function describeEnding({ code, signal }: Ending, killedFor: string | null): string {
  return `the engine ${killedFor ?? `ended (${signal === null ? `exit code ${code}` : `signal ${signal}`})`}`
}
