/**
 * Many requests for one sentence at the same moment: when each client hears its first sound, when it has its last, and
 * how long that takes on average. Several executables take turns round by round, so that other load affects all.
 */
import { loadavg } from 'node:os'
import { cpuTicks } from '../../src/testing/process.ts'
import { medianOf, printTable, spreadOf } from './figures.ts'
import { readsMetrics, speech, startSubject, type Subject, warmUp } from './subject.ts'

/** By how the built-in voice cuts them: in one chunk, or in two of which the last is short. */
const sentences = {
  whole: 'The old bridge across the river was closed last week after the heavy storm.',
  'short end': 'The old bridge across the river was closed last week after the heavy storm in the mountains.',
} as const

const formats = ['pcm', 'mp3'] as const
/** Pcm, 24 kHz, 16 bits. */
const bytesPerS = 48_000

/** A burst of a thousand waits its turn, and is not refused. */
const patient = { MYNA_SPEECH_QUEUE: '10000' }

export interface BurstSizes {
  clients: readonly number[]
  rounds: number
}

interface Burst {
  load: number
  firstMs: number
  firstP95Ms: number
  meanMs: number
  mostMs: number
  soundPerS: number
  /** How often a listener had nothing to play. */
  gaps: number
  serverS: number
  engineS: number
  failures: number
}

type Sentence = keyof typeof sentences

/** @returns a record for each sentence, number of clients, format and executable */
export async function measureBursts(executables: readonly string[], sizes: BurstSizes): Promise<object[]> {
  const subjects: Subject[] = []
  try {
    for (const executable of executables) subjects.push(await startSubject(executable, patient))
    for (const subject of subjects) await warmUp(subject)
    const records: object[] = []
    for (const sentence of Object.keys(sentences) as Sentence[]) {
      for (const clients of sizes.clients) {
        for (const format of formats) {
          const rounds = await inTurn(subjects, { sentence, clients, format, rounds: sizes.rounds })
          for (const [program, bursts] of rounds.entries()) {
            records.push({ sentence, clients, format, program: program + 1, ...medians(bursts) })
          }
        }
      }
    }
    print(records as BurstRecord[], executables)
    return records
  } finally {
    for (const subject of subjects) await subject.stop()
  }
}

interface Order {
  sentence: Sentence
  clients: number
  format: (typeof formats)[number]
}

/** @returns the bursts of each subject */
async function inTurn(subjects: readonly Subject[], { rounds, ...order }: Order & { rounds: number }) {
  const seen = subjects.map((): Burst[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, subject] of subjects.entries()) seen[at]!.push(await burst(subject, order))
  }
  return seen
}

async function burst(subject: Subject, { sentence, clients, format }: Order): Promise<Burst> {
  const texts = [sentences[sentence]]
  const lengthS = (await speech(subject, { texts, requests: 1, format: 'pcm' })).samples[0]!.bytes / bytesPerS
  const load = loadavg()[0]!
  const before = await standing(subject)
  const { samples, failures, wallMs } = await speech(subject, { texts, clients, requests: clients, format })
  const after = await standing(subject)
  if (samples.length === 0) throw new Error(failures[0])
  const first = spreadOf(samples.map(({ firstMs }) => firstMs))
  const totals = samples.map(({ totalMs }) => totalMs)
  return {
    load,
    firstMs: first.median,
    firstP95Ms: first.p95,
    meanMs: totals.reduce((sum, ms) => sum + ms, 0) / totals.length,
    mostMs: Math.max(...totals),
    soundPerS: (lengthS * samples.length) / (wallMs / 1000),
    gaps: after.gaps - before.gaps,
    serverS: after.serverS - before.serverS,
    engineS: after.engineS - before.engineS,
    failures: failures.length,
  }
}

async function standing({ url, program, enginePid }: Subject) {
  const text = await (await fetch(`${url}/metrics`, { headers: readsMetrics })).text()
  const gaps = Number(/^voice_speech_gaps (\d+)$/m.exec(text)?.[1])
  return { gaps, serverS: cpuTicks(program.pid) / 100, engineS: cpuTicks(enginePid) / 100 }
}

/** Of failures and gaps, the sum. */
function medians(bursts: readonly Burst[]): Burst {
  const of = (name: keyof Burst) => medianOf(bursts.map((one) => one[name]))
  const sum = (name: 'gaps' | 'failures') => bursts.reduce((total, one) => total + one[name], 0)
  return {
    load: of('load'),
    firstMs: of('firstMs'),
    firstP95Ms: of('firstP95Ms'),
    meanMs: of('meanMs'),
    mostMs: of('mostMs'),
    soundPerS: of('soundPerS'),
    gaps: sum('gaps'),
    serverS: of('serverS'),
    engineS: of('engineS'),
    failures: sum('failures'),
  }
}

interface BurstRecord extends Burst, Order {
  program: number
}

function print(records: readonly BurstRecord[], executables: readonly string[]): void {
  const head = ['sentence', 'clients', 'format', 'program', 'first ms', 'p95', 'total mean', 'most', 'share']
  const rest = ['sound/s', 'gaps', 'server CPU s', 'engine CPU s', 'failed', 'load']
  const rows = records.map((one) => [
    one.sentence,
    one.clients,
    one.format,
    one.program,
    one.firstMs,
    one.firstP95Ms,
    one.meanMs,
    one.mostMs,
    (one.meanMs / one.mostMs).toFixed(2),
    one.soundPerS,
    one.gaps,
    one.serverS,
    one.engineS,
    one.failures,
    one.load,
  ])
  for (const [at, executable] of executables.entries()) console.log(`program ${at + 1}: ${executable}`)
  printTable('Bursts: as many requests for one sentence at once', [[...head, ...rest], ...rows])
}
