/**
 * What small requests cost the server's own process, in processor time: a one-letter text that is spoken, and a few
 * that only read, one by one and eight at once, beside a bare route of Elysia in the same run. The engine is another
 * process and does not count. Several executables take turns round by round, so that other load affects all.
 */
import { join } from 'node:path'
import { cpuTicks, tickMs } from '../../src/testing/process.ts'
import { printTable, type Spread, spreadOf } from './figures.ts'
import { connections, speech, startSubject, type Subject } from './subject.ts'

const letter = 'a'
/** As clients of OpenAI name it, and known to every version. */
const anyVoice = 'alloy'
const speechPath = '/v1/audio/speech'
const paths = ['/health', '/v1/me', '/v1/models']
/** Requests after which the cost of speech is read once more, to see how many a new process needs. */
const steps = [25, 75, 100, 200, 400]
/** Requests that come after a pause cost several times as much: the processor has forgotten the program meanwhile. */
const pauseMs = 20

export interface RequestSizes {
  rounds: number
  /** One-letter texts of a round. */
  texts: number
  /** How long other requests of a round come. */
  seconds: number
}

interface Kind {
  name: string
  /** From 1; 0: the bare route, which is none of them. */
  program: number
  clients: number
  /** @returns requests that were answered, of one round */
  ask(): Promise<{ answers: number; failures: number; latencyMs: readonly number[] }>
  pid: number
}

export interface RequestRecord extends Pick<Kind, 'name' | 'program' | 'clients'> {
  /** Processor time of one request in each round, in microseconds. */
  cpuMicros: Spread
  ms: Spread
  perSecond: number
  failures: number
}

/** Servers of their own, so that the first requests are the first. */
export async function measureRequests(executables: readonly string[], sizes: RequestSizes): Promise<object> {
  const subjects: Subject[] = []
  const bare = await startBare()
  try {
    for (const executable of executables) subjects.push(await startSubject(executable))
    const first = await firstTexts(subjects)
    const kinds = [1, 8].flatMap((clients) => kindsOf(subjects, bare, clients, sizes))
    const seen = kinds.map(() => ({ micros: [] as number[], ms: [] as number[], perSecond: [] as number[], failed: 0 }))
    // In turn, so that other load on the machine affects all of them. The first round compiles.
    for (let round = -1; round < sizes.rounds; round++) {
      for (const [index, { ask, pid }] of kinds.entries()) {
        const [beganMs, before] = [performance.now(), cpuTicks(pid)]
        const { answers, failures, latencyMs } = await ask()
        const [cpuMs, wallMs] = [(cpuTicks(pid) - before) * tickMs, performance.now() - beganMs]
        if (round < 0) continue
        const at = seen[index]!
        at.micros.push((1000 * cpuMs) / answers)
        at.perSecond.push((1000 * answers) / wallMs)
        at.ms.push(spreadOf(latencyMs).median)
        at.failed += failures
      }
    }
    const records = kinds.map(({ name, program, clients }, index): RequestRecord => ({
      name,
      program,
      clients,
      cpuMicros: spreadOf(seen[index]!.micros),
      ms: spreadOf(seen[index]!.ms),
      perSecond: spreadOf(seen[index]!.perSecond).median,
      failures: seen[index]!.failed,
    }))
    print(first, records)
    return { first, records }
  } finally {
    bare.end()
    for (const subject of subjects) await subject.stop()
  }
}

function kindsOf(subjects: readonly Subject[], bare: Bare, clients: number, sizes: RequestSizes): Kind[] {
  const { texts, seconds } = sizes
  const speak = async (subject: Subject) => {
    const { samples, failures } = await speakLetters(subject, clients, texts)
    return { answers: samples.length, failures: failures.length, latencyMs: samples.map(({ totalMs }) => totalMs) }
  }
  const every = (name: string, ask: (subject: Subject) => ReturnType<Kind['ask']>): Kind[] =>
    subjects.map((subject, at) => {
      return { name, program: at + 1, clients, pid: subject.program.pid, ask: () => ask(subject) }
    })
  const kinds = (pause: number): Kind[] => {
    const when = pause === 0 ? '' : `, after a pause of ${pause} ms`
    const least = () => connections({ url: bare.url, key: '' }, '/', seconds, clients, pause)
    return [
      { name: `a bare route of Elysia${when}`, program: 0, clients, pid: bare.pid, ask: least },
      ...paths.flatMap((path) => every(path + when, (subject) => connections(subject, path, seconds, clients, pause))),
    ]
  }
  const letters = every(`${speechPath}, one letter`, speak)
  return [...kinds(0), ...(clients === 1 ? kinds(pauseMs) : []), ...letters]
}

const speakLetters = (subject: Subject, clients: number, requests: number) =>
  speech(subject, { clients, requests, texts: [letter], voice: anyVoice })

/** One by one, from the first that a process gets. @returns for each program, what one took */
async function firstTexts(subjects: readonly Subject[]): Promise<{ from: number; to: number; cpuMicros: number[] }[]> {
  const found = []
  let from = 1
  for (const count of steps) {
    const cpuMicros = []
    for (const subject of subjects) {
      const before = cpuTicks(subject.program.pid)
      const { samples } = await speakLetters(subject, 1, count)
      const cpuMs = (cpuTicks(subject.program.pid) - before) * tickMs
      cpuMicros.push((1000 * cpuMs) / samples.length)
    }
    found.push({ from, to: from + count - 1, cpuMicros })
    from += count
  }
  return found
}

function print(first: Awaited<ReturnType<typeof firstTexts>>, records: readonly RequestRecord[]): void {
  printTable('One letter spoken, one by one, from the first request: processor time of the server', [
    ['requests', ...first[0]!.cpuMicros.map((_, at) => `program ${at + 1}, us`)],
    ...first.map(({ from, to, cpuMicros }) => [`${from} to ${to}`, ...cpuMicros.map(Math.round)]),
  ])
  printTable('Small requests: processor time of the server for one', [
    ['request', 'program', 'clients', 'us', 'least', 'most', 'answer ms', 'per s', 'failed'],
    ...records.map(({ name, program, clients, cpuMicros, ms, perSecond, failures }) => [
      name,
      program === 0 ? '' : program,
      clients,
      ...[cpuMicros.median, cpuMicros.min, cpuMicros.max].map(Math.round),
      ms.median,
      perSecond,
      failures,
    ]),
  ])
}

interface Bare {
  url: string
  pid: number
  end(): void
}

async function startBare(): Promise<Bare> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'bare-route.ts')], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  if (value === undefined) throw new Error('the bare route did not start')
  const port = Number(new TextDecoder().decode(value))
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, end: () => child.kill() }
}
