/**
 * More listeners than the machine can serve, from several accounts, each of which plays sound as it arrives: how many
 * streams were complete, which ones ran dry, how long the first sound took, and how much of that the processor caused.
 * On request, beside other programs that want all of the processor.
 */
import { loadavg } from 'node:os'
import { PlayClock } from '../../src/domain/play-clock.ts'
import { cpuTicks } from '../../src/testing/process.ts'
import { printTable, type Spread, spreadOf } from './figures.ts'
import { readsMetrics, startSubject, type Subject, warmUp } from './subject.ts'
import { texts } from './texts.ts'

export const accounts = 8
const rateHz = 24_000
/** One stream after another, so that the server notices how busy the machine is. */
const settleSeconds = 5
/** Every player has such a buffer. */
const bufferMs = 250

export interface CrowdSizes {
  clients: readonly number[]
  /** Of each crowd. */
  seconds: number
  /** Programs that compute endlessly beside it. */
  besides: readonly number[]
}

export interface Seen {
  whole: number
  broken: number
  refused: number
  gaps: number
  soundMs: number
  firstMs: number[]
}

export async function measureCrowd(executable: string, { clients, seconds, besides }: CrowdSizes): Promise<object[]> {
  const records: CrowdRecord[] = []
  for (const beside of besides) {
    const subject = await startSubject(executable, { MYNA_QUEUE_WAIT_MS: '20000', MYNA_SPEECH_QUEUE: '1000' })
    try {
      await warmUp(subject)
      const keys = await keysOf(subject, accounts)
      for (const count of clients) records.push(await measureOne(subject, keys, { beside, clients: count, seconds }))
    } finally {
      await subject.stop()
    }
  }
  printTable(`Crowds of ${accounts} accounts, ${seconds} s each, pcm played as it comes`, [
    ['beside', 'clients', ...figuresHead],
    ...records.map((one) => [one.beside, one.clients, ...rowOf(one)]),
  ])
  return records
}

export const figuresHead = [
  'load',
  'whole',
  'broken',
  '503',
  'dry a min',
  'first ms',
  'p99',
  'x',
  'sound/CPU',
  'restarts',
] as const

export const rowOf = (one: CrowdFigures): number[] => [
  one.load,
  one.whole,
  one.broken,
  one.refused,
  one.dryPerMinute,
  one.firstMs.median,
  one.p99Ms,
  one.soundPerSecond,
  one.soundPerCpu,
  one.restarts,
]

interface CrowdRecord extends CrowdFigures {
  beside: number
  clients: number
}

export interface CrowdFigures extends Omit<Seen, 'firstMs'> {
  /** The machine's value, averaged over a minute, at the end. */
  load: number
  firstMs: Spread
  p99Ms: number
  dryPerMinute: number
  /** Seconds of sound for each second, and for each second of processor time of server and engine. */
  soundPerSecond: number
  soundPerCpu: number
  cpuS: number
  restarts: number
}

async function measureOne(
  subject: Subject,
  keys: readonly string[],
  { beside, clients, seconds }: { beside: number; clients: number; seconds: number },
): Promise<CrowdRecord> {
  const stop = startLoops(beside)
  try {
    // The server measured its own speed before the others came.
    if (beside > 0) await crowd(subject, keys, 1, settleSeconds)
    return { beside, clients, ...(await figuresOf(subject, () => crowd(subject, keys, clients, seconds))) }
  } finally {
    stop()
  }
}

/** Programs that want all of the processor. @returns ends them */
export function startLoops(count: number): () => void {
  const loops = Array.from({ length: count }, () => Bun.spawn([process.execPath, '-e', 'for (;;);']))
  return () => {
    for (const loop of loops) loop.kill('SIGKILL')
  }
}

/** What listeners saw during some work, and what it cost the server and its engine. */
export async function figuresOf(subject: Subject, work: () => Promise<Seen>): Promise<CrowdFigures> {
  const before = await standing(subject)
  const beganMs = performance.now()
  const seen = await work()
  const wallS = (performance.now() - beganMs) / 1000
  const after = await standing(subject)
  const cpuS = after.cpuS - before.cpuS
  const sorted = seen.firstMs.toSorted((a, b) => a - b)
  return {
    ...seen,
    load: Math.round(loadavg()[0]!),
    firstMs: spreadOf(sorted.length > 0 ? sorted : [NaN]),
    p99Ms: sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] ?? NaN,
    dryPerMinute: seen.gaps / (wallS / 60),
    soundPerSecond: seen.soundMs / 1000 / wallS,
    soundPerCpu: seen.soundMs / 1000 / cpuS,
    cpuS,
    restarts: after.restarts - before.restarts,
  }
}

export const unseen = (): Seen => ({ whole: 0, broken: 0, refused: 0, gaps: 0, soundMs: 0, firstMs: [] })

export async function crowd(
  { url }: Subject,
  keys: readonly string[],
  clients: number,
  seconds: number,
): Promise<Seen> {
  const seen = unseen()
  const endMs = performance.now() + 1000 * seconds
  const client = async (number: number) => {
    for (let turn = number; performance.now() < endMs; turn++) {
      const retryMs = await listen(url, keys[number % keys.length]!, texts[turn % texts.length]!, seen)
      if (retryMs > 0) await Bun.sleep(Math.min(retryMs, Math.max(0, endMs - performance.now())))
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return seen
}

/** @param leaving disconnects, which counts as nothing @returns how long the server asks to wait; 0: it spoke */
export async function listen(
  url: string,
  key: string,
  input: string,
  seen: Seen,
  leaving: AbortSignal | null = null,
): Promise<number> {
  const beganMs = performance.now()
  const clock = new PlayClock()
  try {
    const response = await fetch(`${url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input, voice: 'alloy', response_format: 'pcm' }),
      signal: leaving,
    })
    if (response.status === 503) {
      seen.refused++
      return Number(response.headers.get('retry-after-ms') ?? 1000)
    }
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    for await (const bytes of response.body!) {
      if (clock.dueMs === null) seen.firstMs.push(performance.now() - beganMs)
      clock.give((1000 * bytes.length) / 2 / rateHz, performance.now(), bufferMs)
    }
    seen.whole++
  } catch {
    if (leaving?.aborted !== true) seen.broken++
  }
  seen.gaps += clock.gaps.count
  seen.soundMs += clock.givenMs
  return 0
}

export async function keysOf({ dataDir }: Subject, count: number): Promise<string[]> {
  const ask = async (verb: string, argument: object): Promise<unknown> => {
    const body = JSON.stringify(argument)
    const answer = await fetch(`http://localhost/${verb}`, { unix: `${dataDir}/myna.sock`, method: 'POST', body })
    return ((await answer.json()) as { result: unknown }).result
  }
  const keys: string[] = []
  for (let at = 0; at < count; at++) {
    const issued = await ask('createKey', { account: `crowd ${at}`, name: 'bench', scopes: null, expires: null })
    keys.push((issued as { secret: string }).secret)
  }
  return keys
}

async function standing({ url, program }: Subject): Promise<{ cpuS: number; restarts: number }> {
  const text = await (await fetch(`${url}/metrics`, { headers: readsMetrics })).text()
  const restarts = Number(/^voice_engine_restarts\{[^}]*speech[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0)
  const engine = (await program.engine()).pid
  const ticks = cpuTicks(program.pid) + (engine === null ? 0 : cpuTicks(engine))
  return { cpuS: ticks / 100, restarts }
}
