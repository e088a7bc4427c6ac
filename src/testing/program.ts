/** A running `myna serve`: the real program in a process of its own, from source or as the executable. */
import { join } from 'node:path'
import type { EngineStatus } from '../service/ports/engines.ts'
import { ownProgram } from './own-program.ts'

/** A test that polls on a slow machine asks more often than the 600 times a minute that a server allows. */
const limits = { MYNA_REQUESTS_PER_MINUTE: '1000000' }

export interface Program {
  url: string
  /** The first administrator's key, or the key from an earlier run in the same data folder. */
  key: string
  pid: number
  exited: Promise<number>
  stderr(): string
  fetch(path: string, key?: string, init?: RequestInit): Promise<Response>
  speak(key: string, body: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>
  /** What Prometheus would read from the local socket. */
  metrics(): Promise<string>
  /** As the local socket reports it. */
  engine(): Promise<EngineStatus>
  engines(): Promise<readonly EngineStatus[]>
  kill(signal: NodeJS.Signals): void
  end(): Promise<void>
}

/** Programs that would outlive a script that fails or is interrupted. */
const running = new Set<Bun.Subprocess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Starts it and waits until it listens or has ended. @param command what runs, if it is not the program alone */
export async function startProgram(
  dataDir: string,
  env: Record<string, string> = {},
  flags: string[] = [],
  command: readonly string[] = ownProgram,
): Promise<Program> {
  const child = Bun.spawn([...command, 'serve', '--port', '0', '--json', '--data', dataDir, ...flags], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...limits, ...env },
  })
  running.add(child)
  let errors = ''
  const errorsRead = drain(child.stderr, (text) => (errors += text))
  const exited = child.exited.then(async (code) => {
    running.delete(child)
    await errorsRead
    return code
  })
  const line = await firstLine(child.stdout)
  const { url = 'http://127.0.0.1:1/v1', first_key: key = '' } = (line === '' ? {} : JSON.parse(line)) as {
    url?: string
    first_key?: string
  }
  const base = url.replace(/\/v1$/, '')
  const call: Program['fetch'] = (path, by, init = {}) => {
    const headers = new Headers(init.headers)
    if (by !== undefined) headers.set('authorization', `Bearer ${by}`)
    return fetch(base + path, { ...init, headers })
  }
  const engines = async () => {
    const answer = await fetch('http://localhost/status', {
      unix: join(dataDir, 'myna.sock'),
      method: 'POST',
      body: '{}',
    })
    return ((await answer.json()) as { result: { engines: EngineStatus[] } }).result.engines
  }
  return {
    url: base,
    key,
    pid: child.pid,
    exited,
    stderr: () => errors,
    fetch: call,
    speak: (by, body, headers = {}) =>
      call('/v1/audio/speech', by, { method: 'POST', headers, body: JSON.stringify(body) }),
    metrics: async () => (await fetch('http://localhost/metrics', { unix: join(dataDir, 'myna.sock') })).text(),
    engines,
    async engine() {
      const [status] = await engines()
      if (status === undefined) throw new Error('the server has no engine')
      return status
    },
    kill: (signal) => child.kill(signal),
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function drain(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }))
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf('\n')
    if (end >= 0) return text.slice(0, end)
  }
  return ''
}
