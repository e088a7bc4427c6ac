/**
 * More listeners than the machine can serve, from several accounts, each of which plays sound as it arrives: how many
 * streams were complete, which ones ran dry, how long the first sound took, and how much of that the processor caused.
 * On request, beside other programs that want all of the processor.
 */
import { PlayClock } from '../../src/domain/play-clock.ts'
import { cpuTicks } from '../../src/testing/process.ts'
import { printTable, spreadOf } from './figures.ts'
import { readsMetrics, startSubject, type Subject, warmUp } from './subject.ts'
import { texts } from './texts.ts'

const accounts = 8
const rateHz = 24_000
/** Every player has such a buffer. */
const bufferMs = 250

export interface CrowdSizes {
  clients: readonly number[]
  /** Of each crowd. */
  seconds: number
  /** Programs that compute endlessly beside it. */
  besides: readonly number[]
}

interface Seen {
  whole: number
  broken: number
  refused: number
  gaps: number
  soundMs: number
  firstMs: number[]
}

export async function measureCrowd(executable: string, { clients, seconds, besides }: CrowdSizes): Promise<object[]> {
  const records: object[] = []
  const rows: (string | number)[][] = []
  for (const beside of besides) {
    const hogs = Array.from({ length: beside }, () => Bun.spawn([process.execPath, '-e', 'for (;;);']))
    const subject = await startSubject(executable, { MYNA_QUEUE_WAIT_MS: '20000', MYNA_SPEECH_QUEUE: '1000' })
    try {
      await warmUp(subject)
      const keys = await keysOf(subject)
      for (const count of clients) {
        const before = await standing(subject)
        const seen = await crowd(subject, keys, count, seconds)
        const after = await standing(subject)
        const cpuS = after.cpuS - before.cpuS
        const restarts = after.restarts - before.restarts
        const first = spreadOf(seen.firstMs)
        const minutes = seconds / 60
        const soundPerCpu = seen.soundMs / 1000 / cpuS
        records.push({ beside, clients: count, ...seen, firstMs: first, cpuS, restarts, soundPerCpu })
        const { whole, broken, refused, gaps } = seen
        rows.push([
          beside,
          count,
          whole,
          broken,
          refused,
          gaps / minutes,
          first.median,
          first.p95,
          soundPerCpu,
          restarts,
        ])
      }
    } finally {
      await subject.stop()
      for (const hog of hogs) hog.kill('SIGKILL')
    }
  }
  printTable(`Crowds of ${accounts} accounts, ${seconds} s each, pcm played as it comes`, [
    ['beside', 'clients', 'whole', 'broken', '503', 'dry a min', 'first ms', 'p95', 'sound s per CPU s', 'restarts'],
    ...rows,
  ])
  return records
}

async function crowd({ url }: Subject, keys: readonly string[], clients: number, seconds: number): Promise<Seen> {
  const seen: Seen = { whole: 0, broken: 0, refused: 0, gaps: 0, soundMs: 0, firstMs: [] }
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

/** @returns how long the server asks to wait, as an SDK does; 0: it spoke */
async function listen(url: string, key: string, input: string, seen: Seen): Promise<number> {
  const beganMs = performance.now()
  const clock = new PlayClock()
  try {
    const response = await fetch(`${url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input, voice: 'alloy', response_format: 'pcm' }),
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
    seen.broken++
  }
  seen.gaps += clock.gaps.count
  seen.soundMs += clock.givenMs
  return 0
}

async function keysOf({ dataDir }: Subject): Promise<string[]> {
  const ask = async (verb: string, argument: object): Promise<unknown> => {
    const body = JSON.stringify(argument)
    const answer = await fetch(`http://localhost/${verb}`, { unix: `${dataDir}/myna.sock`, method: 'POST', body })
    return ((await answer.json()) as { result: unknown }).result
  }
  const keys: string[] = []
  for (let at = 0; at < accounts; at++) {
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
