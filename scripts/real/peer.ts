/** A program that is measured beside Myna: a process that answers each input line with one line. */
import { join } from 'node:path'
import { threadSettings } from './machine.ts'
import { peakOf } from './tree.ts'

export class Peer {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #lines: AsyncIterator<string>

  constructor(command: string[]) {
    const env = { ...process.env, ...threadSettings, HF_HUB_OFFLINE: '1' }
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
    return peakOf(this.#child.pid)
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
  /** The same of each nine seconds. */
  windows: number[]
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
