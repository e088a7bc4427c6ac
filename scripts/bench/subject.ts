/**
 * The server under test: the executable with a data folder of its own, a prepaid account, and limits that never apply.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, startProgram } from '../../src/testing/program.ts'
import { until } from '../../src/testing/until.ts'
import type { Connections, ConnectionsResult } from './connections.ts'
import type { SpeechLoad, SpeechResult } from './load.ts'
import { texts } from './texts.ts'

export interface Subject {
  url: string
  dataDir: string
  /** The key of a prepaid account, as most callers have: administrators are not charged. */
  key: string
  program: Program
  enginePid: number
  stop(): Promise<void>
}

export const openingMicros = 1_000_000_000

/** For requests of the metrics. */
export const readsMetrics = { authorization: 'Bearer bench' }

/** Here a fast client must never be refused. */
export const limits: Readonly<Record<string, string>> = {
  MYNA_LOG: 'quiet',
  MYNA_METRICS_TOKEN: 'bench',
  MYNA_SPEECH_PER_MINUTE: '1000000',
  MYNA_SPEECH_CONCURRENCY: '1000',
  MYNA_QUEUE_WAIT_MS: '120000',
  MYNA_REQUESTS_PER_MINUTE: '1000000',
  MYNA_CLONES_PER_MINUTE: '1000000',
  MYNA_PUBLIC_PER_MINUTE: '1000000',
  MYNA_OPERATIONS_PER_MINUTE: '1000000',
  MYNA_OPERATIONS_PER_SECOND: '1000000',
}

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'myna-bench-'))

/** Starts it and waits until the voice is in memory; it has not spoken yet. */
export async function startSubject(executable: string, env: Record<string, string> = {}): Promise<Subject> {
  const dataDir = temporaryFolder()
  const program = await startProgram(dataDir, { ...limits, ...env }, [], [executable])
  const stop = async () => {
    program.kill('SIGTERM')
    await program.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await ask(dataDir, 'createAccount', { name: 'bench', role: 'user', balanceMicros: openingMicros })
    const issued = await ask(dataDir, 'createKey', { account: 'bench', name: 'bench', scopes: null, expires: null })
    const { secret } = issued as { secret: string }
    const enginePid = await loadedEngine(program)
    return { url: program.url, dataDir, key: secret, program, enginePid, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Waits until the engine has its model. @returns its process */
export async function loadedEngine(program: Program): Promise<number> {
  let pid: number | null = null
  const isLoaded = async () => {
    const { state, models, pid: engine } = await program.engine()
    pid = engine
    return state === 'ready' && models.length > 0
  }
  await until('the engine has its voice', isLoaded, 30_000)
  if (pid === null) throw new Error('the engine has no process')
  return pid
}

async function ask(dataDir: string, verb: string, argument: object): Promise<unknown> {
  const response = await fetch(`http://localhost/${verb}`, {
    unix: join(dataDir, 'myna.sock'),
    method: 'POST',
    body: JSON.stringify(argument),
  })
  const answer = (await response.json()) as { result: unknown } | { error: { message: string } }
  if ('error' in answer) throw new Error(answer.error.message)
  return answer.result
}

/** Speaks every text with a few clients, so that nothing runs for the first time during the measurement. */
export async function warmUp(subject: Subject): Promise<void> {
  for (const format of ['pcm', 'mp3'] as const) await speech(subject, { clients: 4, requests: texts.length, format })
}

export type SpeechOrder = Partial<Omit<SpeechLoad, 'kind' | 'url' | 'key'>>

/** @throws Error of the clients' program itself; failed requests are in the result */
export function speech({ url, key }: Subject, order: SpeechOrder): Promise<SpeechResult> {
  const load: SpeechLoad = {
    kind: 'speech',
    url,
    key,
    clients: 1,
    requests: texts.length,
    limitS: 120,
    format: 'pcm',
    voice: 'lark',
    texts,
    abandonEvery: 0,
    readsMetrics: false,
    ...order,
  }
  return run(load) as Promise<SpeechResult>
}

export function connections(
  { url, key }: Pick<Subject, 'url' | 'key'>,
  path: string,
  seconds: number,
  count = 16,
  pauseMs = 0,
): Promise<ConnectionsResult> {
  const load: Connections = { kind: 'connections', url, key, path, seconds, connections: count, pauseMs }
  return run(load) as Promise<ConnectionsResult>
}

async function run(load: SpeechLoad | Connections): Promise<unknown> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(load)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    // Bun sends 256 requests at once unless it is asked for more.
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '2000' },
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the clients failed')
  return JSON.parse(text)
}

/** Resident memory of a process, in MB (Linux). */
function residentMb(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1.024e-3
}

/** Server and engine at this moment, in MB. */
export const residentNow = ({ program, enginePid }: Subject): { serverMb: number; engineMb: number } => ({
  serverMb: residentMb(program.pid),
  engineMb: residentMb(enginePid),
})
