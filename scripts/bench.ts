/**
 * The performance of the compiled executable on this machine: first audio, overhead, small requests, clones, start,
 * memory, database, transcription, models in full size. Clients in a separate process drive everything from outside,
 * over loopback. Times are medians and 95th percentiles. Machines are shared, so the load is printed beside them.
 */
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBooks } from './bench/books.ts'
import { measureBursts } from './bench/bursts.ts'
import { measureCrowd } from './bench/crowd.ts'
import { measureModest } from './bench/modest.ts'
import { measureOverload } from './bench/overload.ts'
import { measureClones } from './bench/clones.ts'
import { measureEncoders } from './bench/encoders.ts'
import { measureMemory, measureStart } from './bench/lifetime.ts'
import { measureListening } from './bench/listening.ts'
import { measureHolds } from './bench/holds.ts'
import { measureKokoro } from './bench/kokoro.ts'
import { measureLoops } from './bench/loops.ts'
import { measureParakeet } from './bench/parakeet.ts'
import { measurePocket } from './bench/pocket.ts'
import { measureRealtime } from './bench/realtime.ts'
import { measureRequests } from './bench/requests.ts'
import { measureResampling } from './bench/resampling.ts'
import { measureSteady } from './bench/steady.ts'
import { soak } from './bench/soak.ts'
import { compareSpeech, measureOverhead, measureSpeech, measureVoices, type SpeechSizes } from './bench/speech.ts'
import { measureText } from './bench/text.ts'
import { startSubject, type Subject, warmUp } from './bench/subject.ts'
import { measureWhisper } from './bench/whisper.ts'

const usage = `bun scripts/bench.ts [options]
  --quick            fewer of everything: under a minute on an idle machine
  --only LIST        of: speech, voices, overhead, requests, clones, start, memory, books, realtime,
                     crowd, modest, bursts, holds, overload, listening, loops, resampling, encoders, text,
                     parakeet, pocket, kokoro, whisper
  --models FOLDER    graphs in full size, for measures that need them
  --soak SECONDS     only that: 64 clients for that long, then the database is checked
  --steady SECONDS   only that: one request a second for that long, and memory over time
  --executable FILE  what is measured (default: build/out/myna)
  --against FILE     only that: speech, in turn with this other executable; with '--only bursts' or
                     '--only requests', those
  --json FILE        the figures, too`

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    models: { type: 'string' },
    soak: { type: 'string' },
    steady: { type: 'string' },
    executable: { type: 'string', default: join(import.meta.dir, '..', 'build', 'out', 'myna') },
    against: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const executable = resolve(flags.executable)
const { quick } = flags
const against = flags.against === undefined ? undefined : resolve(flags.against)
const inTurn = against === undefined ? [executable] : [executable, against]

/** Enough requests for a percentile at one client, a few for each of many. */
const sizes: SpeechSizes = quick
  ? { clients: [1, 64], requests: (clients) => Math.max(16, clients), rounds: 1 }
  : { clients: [1, 4, 16, 64], requests: (clients) => Math.max(32, 2 * clients), rounds: 3 }

async function withSubject<T>(program: string, use: (subject: Subject) => Promise<T>): Promise<T> {
  const subject = await startSubject(program)
  try {
    await warmUp(subject)
    return await use(subject)
  } finally {
    await subject.stop()
  }
}

/** One server for all of these, because warming it up takes seconds. */
const measures: Readonly<Record<string, (subject: Subject) => Promise<object>>> = {
  speech: (subject) => measureSpeech(subject, sizes),
  voices: (subject) => measureVoices(subject, quick ? 8 : 64),
  overhead: (subject) => measureOverhead(subject, quick ? 16 : 64),
  clones: (subject) => measureClones(subject, quick ? 3 : 20, quick ? 1 : 3),
}

const fullRequests = { rounds: 5, texts: 150, seconds: 1.5 }
const quickRequests = { rounds: 1, texts: 50, seconds: 0.5 }
const fullCrowd = { clients: [1, 16, 64, 256, 1000], seconds: 30, besides: [0, 16] }
const quickCrowd = { clients: [1, 16, 64], seconds: 10, besides: [0] }

const bursts = { clients: [1, 16, 64, 256], rounds: 3 }
const quickBursts = { clients: [16], rounds: 1 }

/** Each of these makes its own subject. */
const measuresAlone: Readonly<Record<string, () => Promise<object>>> = {
  requests: () => measureRequests(inTurn, quick ? quickRequests : fullRequests),
  start: () => measureStart(executable, quick ? 2 : 20),
  memory: () => measureMemory(executable, quick ? 64 : 192, quick ? 100 : 2000),
  realtime: () => measureRealtime(executable, { sessions: 200, talkers: quick ? 3 : 10, turns: quick ? 2 : 8 }),
  crowd: () => measureCrowd(executable, quick ? quickCrowd : fullCrowd),
  modest: () => measureModest(executable, quick ? 10 : 16, quick ? [0] : [0, 16]),
  bursts: () => measureBursts(inTurn, quick ? quickBursts : bursts),
  overload: () => measureOverload(executable, { seconds: quick ? 20 : 600, fullSeconds: quick ? 5 : 20, times: 4 }),
  holds: () => measureHolds(executable, quick ? 16 : 48),
  books: () => measureBooks(quick ? 1 : 3),
  listening: () => measureListening(quick ? 0.2 : 3),
  loops: () => measureLoops(quick ? 500 : 3000),
  resampling: () => measureResampling(quick ? 3 : 15),
  encoders: () => measureEncoders(quick ? 3 : 15),
  text: () => measureText(quick ? 3 : 15),
  parakeet: () => measureParakeet(flags.models, quick ? 24 : 120),
  whisper: () => measureWhisper(flags.models, quick ? 4 : 120),
  kokoro: () => measureKokoro(flags.models, quick ? 10 : 60, quick ? 20 : 1000),
  pocket: () => measurePocket(flags.models, quick ? 10 : 60, quick ? 20 : 1000),
}

async function measureAll(): Promise<Record<string, object>> {
  const { soak: soakSeconds, steady, only } = flags
  if (steady !== undefined) return { steady: await measureSteady(executable, Number(steady), 1) }
  if (soakSeconds !== undefined) return { soak: await soak(executable, Number(soakSeconds)) }
  if (against !== undefined && only !== 'bursts' && only !== 'requests') {
    return { against: await withSubject(executable, (a) => withSubject(against, (b) => compareSpeech(a, b, sizes))) }
  }
  const names = only?.split(',') ?? [...Object.keys(measures), ...Object.keys(measuresAlone)]
  const unknown = names.find((name) => !(name in measures) && !(name in measuresAlone))
  if (unknown !== undefined) throw new Error(`no measure '${unknown}'\n${usage}`)
  const results: Record<string, object> = {}
  const together = names.filter((name) => name in measures)
  const onSubject = async (subject: Subject) => {
    for (const name of together) results[name] = await measures[name]!(subject)
  }
  if (together.length > 0) await withSubject(executable, onSubject)
  for (const name of names) if (name in measuresAlone) results[name] = await measuresAlone[name]!()
  return results
}

async function main(): Promise<void> {
  if (flags.help) return console.log(usage)
  const machine = { processor: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), loadBefore: loadavg() }
  const load = () => loadavg().map((value) => value.toFixed(1))
  console.log(`${machine.cores} cores (${machine.processor}), load average ${load().join(' ')}, Bun ${Bun.version}`)
  const results = await measureAll()
  console.log(`\nload average at the end ${load().join(' ')}`)
  if (flags.json === undefined) return
  const whole = { measuredAt: new Date().toISOString(), machine, loadAfter: loadavg(), quick, ...results }
  await Bun.write(flags.json, `${JSON.stringify(whole, null, 2)}\n`)
}

// Ends the programs that are measured, too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
await main()
