/**
 * How soon a listener hears something, how fast the rest follows, and how much of that is the server's share and not
 * the voice's.
 */
import { cpuTicks } from '../../src/testing/process.ts'
import { medianOf, printTable, spreadOf } from './figures.ts'
import type { SpeechSample } from './load.ts'
import { type Subject, speech, type SpeechOrder } from './subject.ts'
import { texts } from './texts.ts'

const formats = ['pcm', 'mp3'] as const
const pcmBytesPerS = 48_000

export interface SpeechSizes {
  clients: readonly number[]
  /** Requests of a round, by number of clients; the rounds of the formats alternate. */
  requests: (clients: number) => number
  rounds: number
}

interface Seen {
  samples: SpeechSample[]
  failures: string[]
  audioS: number
  wallS: number
  roundMedians: number[]
}

/** The duration of each spoken text: hibari always speaks the same text in the same way. */
async function audioSeconds(subject: Subject): Promise<number[]> {
  const { samples, failures } = await speech(subject, { format: 'pcm', requests: texts.length })
  if (failures.length > 0) throw new Error(failures[0])
  return texts.map((_, text) => samples.find((sample) => sample.text === text)!.bytes / pcmBytesPerS)
}

/** @returns one record for each number of clients and format */
export async function measureSpeech(subject: Subject, sizes: SpeechSizes): Promise<object[]> {
  const lengths = await audioSeconds(subject)
  const records: object[] = []
  const rows: (string | number)[][] = []
  for (const clients of sizes.clients) {
    const seen = formats.map((): Seen => ({ samples: [], failures: [], audioS: 0, wallS: 0, roundMedians: [] }))
    for (let round = 0; round < sizes.rounds; round++) {
      for (const [index, format] of formats.entries()) {
        await measureRound(subject, { clients, format, requests: sizes.requests(clients) }, lengths, seen[index]!)
      }
    }
    for (const [index, format] of formats.entries()) {
      const record = { clients, format, ...summary(seen[index]!, lengths) }
      records.push(record)
      const { firstMs, totalMs } = record
      rows.push([
        clients,
        format,
        firstMs.median,
        firstMs.p95,
        totalMs.median,
        totalMs.p95,
        record.realtimeFactor.median,
        record.audioSecondsPerSecond,
        record.samples,
        record.failures,
      ])
    }
    const [pcm, mp3] = seen.map(({ roundMedians }) => roundMedians)
    records.push({ clients, mp3ToPcmFirstMs: medianOf(mp3!.map((value, round) => value / pcm![round]!)) })
  }
  const head = ['clients', 'format', 'first ms', 'p95', 'total ms', 'p95', 'x real time', 'audio s/s', 'ok', 'failed']
  printTable('Speech: first audio sample and whole answer', [head, ...rows])
  return records
}

async function measureRound(subject: Subject, order: SpeechOrder, lengths: number[], seen: Seen): Promise<void> {
  const { samples, failures, wallMs } = await speech(subject, order)
  seen.samples.push(...samples)
  seen.failures.push(...failures)
  seen.audioS += samples.reduce((sum, { text }) => sum + lengths[text]!, 0)
  seen.wallS += wallMs / 1000
  seen.roundMedians.push(medianOf(samples.map(({ firstMs }) => firstMs)))
}

function summary({ samples, failures, audioS, wallS }: Seen, lengths: number[]) {
  return {
    firstMs: spreadOf(samples.map(({ firstMs }) => firstMs)),
    totalMs: spreadOf(samples.map(({ totalMs }) => totalMs)),
    realtimeFactor: spreadOf(samples.map(({ text, totalMs }) => (lengths[text]! * 1000) / totalMs)),
    audioSecondsPerSecond: audioS / wallS,
    samples: samples.length,
    failures: failures.length,
    failureTexts: [...new Set(failures)].slice(0, 5),
  }
}

/** First audio of each voice, one client, the same texts. */
export async function measureVoices(subject: Subject, requests: number): Promise<object[]> {
  const records: { voice: string; firstMs: ReturnType<typeof spreadOf> }[] = []
  for (const voice of ['lark', 'wren', 'merle', 'jay']) {
    const { samples, failures } = await speech(subject, { voice, requests })
    if (failures.length > 0) throw new Error(failures[0])
    records.push({ voice, firstMs: spreadOf(samples.map(({ firstMs }) => firstMs)) })
  }
  const rows = records.map(({ voice, firstMs }) => [voice, firstMs.median, firstMs.p95])
  printTable('First audio by voice, one client, pcm', [['voice', 'first ms', 'p95'], ...rows])
  return records
}

/**
 * The server's own share with one client: from admission to the first byte by its clocks, minus the engine's time; and
 * from the client's request to its first audio, minus the same.
 */
export async function measureOverhead(subject: Subject, requests: number): Promise<object[]> {
  const records = []
  for (const format of formats) {
    const { samples, failures } = await speech(subject, { format, requests, readsMetrics: true })
    if (failures.length > 0) throw new Error(failures[0])
    const differences = (wallMs: (sample: SpeechSample) => number) =>
      spreadOf(samples.map((sample) => wallMs(sample) - sample.engineMs!))
    const inServerMs = differences(({ serverMs }) => serverMs!)
    const roundTripMs = differences(({ firstMs }) => firstMs)
    records.push({ format, inServerMs, roundTripMs, engineMs: spreadOf(samples.map(({ engineMs }) => engineMs!)) })
  }
  const rows = records.map(({ format, inServerMs, roundTripMs, engineMs }) => [
    format,
    inServerMs.median,
    inServerMs.p95,
    roundTripMs.median,
    roundTripMs.p95,
    engineMs.median,
  ])
  const head = ['format', 'in server ms', 'p95', 'round trip ms', 'p95', 'engine ms']
  printTable('Overhead of the server up to the first audio, engine subtracted, one client', [head, ...rows])
  return records
}

/**
 * Two programs in alternating rounds, so that other load on the machine affects both.
 * @returns time to first audio, time of the round and processor time of server and engine, of the one as a share of the
 * other's: below 1, the first is faster. Processor time is the best measure on a machine that does other things too.
 */
export async function compareSpeech(a: Subject, b: Subject, sizes: SpeechSizes): Promise<object[]> {
  const records = []
  for (const clients of sizes.clients) {
    for (const format of formats) {
      const rounds: { a: Round; b: Round }[] = []
      for (let round = 0; round < 2 * sizes.rounds; round++) {
        const order = { clients, format, requests: sizes.requests(clients) }
        rounds.push({ a: await oneRound(a, order), b: await oneRound(b, order) })
      }
      const ratio = (of: keyof Round) => spreadOf(rounds.map((round) => round.a[of] / round.b[of]))
      const ratios = { first: ratio('firstMs'), wall: ratio('wallMs'), server: ratio('serverTicks') }
      const firstMs = medianOf(rounds.map((round) => round.a.firstMs))
      const againstMs = medianOf(rounds.map((round) => round.b.firstMs))
      records.push({ clients, format, firstMs, againstMs, ...ratios, engine: ratio('engineTicks') })
    }
  }
  const rows = records.map(({ clients, format, firstMs, againstMs, first, wall, server, engine }) => [
    clients,
    format,
    firstMs,
    againstMs,
    ...[first, wall, server, engine].map(({ median, min, max }) => {
      return `${median.toFixed(2)} (${min.toFixed(2)}-${max.toFixed(2)})`
    }),
  ])
  const head = [
    'clients',
    'format',
    'first ms',
    'against',
    'ratio of first',
    'of the round',
    'server cpu',
    'engine cpu',
  ]
  printTable('Against the other program, in turn', [head, ...rows])
  return records
}

interface Round {
  firstMs: number
  wallMs: number
  serverTicks: number
  engineTicks: number
}

/** @throws Error when a request failed, because then there is nothing to compare */
async function oneRound(subject: Subject, order: SpeechOrder): Promise<Round> {
  const { program, enginePid } = subject
  const [serverBefore, engineBefore] = [cpuTicks(program.pid), cpuTicks(enginePid)]
  const { samples, failures, wallMs } = await speech(subject, order)
  if (failures.length > 0) throw new Error(failures[0])
  const serverTicks = cpuTicks(program.pid) - serverBefore
  const engineTicks = cpuTicks(enginePid) - engineBefore
  return { firstMs: medianOf(samples.map(({ firstMs }) => firstMs)), wallMs, serverTicks, engineTicks }
}
