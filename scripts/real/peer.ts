/** A program that is measured beside Myna: a process that answers each input line with one line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export class Peer {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #lines: AsyncIterator<string>

  constructor(command: string[]) {
    // Waiting threads must take no processor time: on a busy machine, spinning would be most of the measured time.
    const calm = { OMP_NUM_THREADS: '2', OMP_WAIT_POLICY: 'PASSIVE', KMP_BLOCKTIME: '0' }
    const env = { ...process.env, ...calm, HF_HUB_OFFLINE: '1' }
    this.#child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit', env })
    this.#lines = linesOf(this.#child.stdout)
  }

  /** @throws Error when it has ended */
  async ask<T>(request: object): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`)
    await this.#child.stdin.flush()
    const { done, value } = await this.#lines.next()
    if (done === true) throw new Error(`a peer ended with ${await this.#child.exited}`)
    return JSON.parse(value) as T
  }

  /** Resident bytes at its peak. */
  peakBytes(): number {
    return 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))?.[1] ?? 0)
  }

  async end(): Promise<void> {
    await this.#child.stdin.end()
    await this.#child.exited
  }
}

export const pythonPeer = (python: string, ...args: string[]): Peer =>
  new Peer([python, join(import.meta.dir, 'peers.py'), ...args])

export interface Heard {
  /** Whose voice it is: a unit vector. */
  embedding: number[]
  /** DNSMOS, overall; null: there is no graph for it. */
  ovr: number | null
}

/** Asked with `paths`, it answers `Heard` of them as one. @param dnsmos null: without */
export const soundPeer = (python: string, weights: string, dnsmos: string | null): Peer =>
  new Peer([python, join(import.meta.dir, 'sound.py'), weights, ...(dnsmos === null ? [] : [dnsmos])])

async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const block of output) {
    text += decoder.decode(block, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}
