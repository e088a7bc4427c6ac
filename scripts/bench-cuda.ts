/**
 * Everything about a graphics card, in one command, compared with the CPU of the same machine: whether it computes
 * correctly, how soon and how fast models speak and transcribe on it, how many streams at once, in how much memory by
 * the driver's own figures, and whether a killed engine comes back. Prints tables for the README.
 *
 * Models may have random weights (`scripts/fullsize-*.py`): time and memory do not depend on the values of weights.
 */
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { loadConfig } from '../src/config.ts'
import { measureCrashes, measureHearing, measureMemory, measureSpeech } from './bench/device.ts'
import { type Bench, benchOf, cardFacts, cpu, cudaDevice, type Device, engineOn } from './bench/engines.ts'
import { round } from './bench/figures.ts'

const usage = `bun scripts/bench-cuda.ts --model CARD=FOLDER ... [options]
  --model CARD=FOLDER  files of that card, such as kokoro-82m=/models/kokoro; may be repeated
  --device LIST        cpu, cuda:N (default: cpu,cuda:0)
  --data FOLDER        data folder in which myna runtime pull cuda was run (default: the usual one)
  --executable FILE    the program (default: from source)
  --no-tf32            products of float32 in full
  --quick              fewer of everything`

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string', multiple: true, default: [] },
    device: { type: 'string', default: 'cpu,cuda:0' },
    data: { type: 'string' },
    executable: { type: 'string' },
    'no-tf32': { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const rounds = flags.quick ? 2 : 10
const streams = flags.quick ? [4] : [4, 16, 64]
const crashes = flags.quick ? 1 : 5

function deviceOf(name: string): Device {
  if (name === 'cpu') return cpu
  const id = /^cuda:(\d+)$/.exec(name)?.[1]
  if (id === undefined) throw new Error(`--device ${name}\n${usage}`)
  return cudaDevice(Number(id), flags.data ?? loadConfig().dataDir, !flags['no-tf32'])
}

/** A Markdown table. */
function print(title: string, head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): void {
  if (rows.length === 0) return
  const text = (cell: string | number | null) => (cell === null ? '-' : typeof cell === 'number' ? round(cell) : cell)
  const line = (cells: readonly (string | number | null)[]) => `| ${cells.map(text).join(' | ')} |`
  console.log(['', `**${title}**`, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n'))
}

/** @throws Error when a device computes wrongly: then no other measurement of it would be worth anything */
async function selfTests(devices: readonly Device[], bench: Bench): Promise<void> {
  const rows = []
  for (const device of devices) {
    const engine = engineOn(device, bench, 'text-to-speech')
    try {
      const beganMs = performance.now()
      await engine.start()
      const startMs = performance.now() - beganMs
      const { onnxRuntime, isExact } = await engine.probe()
      if (!isExact) throw new Error(`${device.name} computes wrong results`)
      rows.push([device.name, (await engine.status()).device, onnxRuntime, 'exact', startMs])
    } finally {
      await engine.close()
    }
  }
  print('Self-test', ['device', 'runs on', 'ONNX Runtime', 'numbers', 'start ms'], rows)
}

async function speeds(devices: readonly Device[], bench: Bench): Promise<void> {
  const [spoken, heard]: (string | number)[][][] = [[], []]
  for (const card of bench.cards) {
    for (const device of devices) {
      const engine = engineOn(device, bench, card.task)
      try {
        if (card.task === 'text-to-speech') {
          const { loadS, firstMs, realtime, together } = await measureSpeech(engine, card, rounds, streams)
          const many = together.flatMap(({ audioSPerS, firstMs: first }) => [audioSPerS, first])
          spoken!.push([card.id, device.name, loadS, firstMs, realtime, ...many])
        } else {
          const { realtime, together } = await measureHearing(engine, card, rounds, streams)
          heard!.push([card.id, device.name, realtime, ...together.map(({ audioSPerS }) => audioSPerS)])
        }
      } finally {
        await engine.close()
      }
    }
  }
  const ofMany = streams.flatMap((count) => [`${count} streams: s of audio per s`, 'first audio ms'])
  const head = ['model', 'device', 'load s', 'first audio ms', 'x real time', ...ofMany]
  print('Speech', head, spoken!)
  const ofManyHeard = streams.map((count) => `${count} at once`)
  print('Transcription: seconds of audio in a second', ['model', 'device', 'alone', ...ofManyHeard], heard!)
}

async function memories(devices: readonly Device[], bench: Bench): Promise<void> {
  const rows = []
  for (const card of bench.cards) {
    for (const device of devices) {
      const figures = await measureMemory(device, bench, card)
      for (const { when, engine, card: onCard } of figures) rows.push([card.id, device.name, when, engine, onCard])
    }
  }
  print('Memory in MB', ['model', 'device', 'when', 'engine process', 'whole card, by its driver'], rows)
}

async function endings(devices: readonly Device[], bench: Bench): Promise<void> {
  const rows = []
  for (const card of bench.cards.filter(({ task }) => task === 'text-to-speech')) {
    for (const device of devices) {
      for (const { failed, of, backMs } of await measureCrashes(device, bench, card, crashes))
        rows.push([card.id, device.name, `${failed} of ${of}`, backMs])
    }
  }
  const head = ['model', 'device', 'streams that failed as they must', 'next first audio after ms']
  print('Killed under load', head, rows)
}

async function main(): Promise<void> {
  if (flags.help || flags.model.length === 0) return console.log(usage)
  const devices = flags.device.split(',').map(deviceOf)
  const bench = await benchOf(flags.model, flags.executable ?? null)
  const cardIds = devices.flatMap(({ device }) => (device.kind === 'cuda' ? [device.id] : []))
  const facts = await Promise.all(cardIds.map(cardFacts))
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`
  const drivers = facts.map((one) => (one === null ? 'a card without nvidia-smi' : `${one.name}, driver ${one.driver}`))
  console.log([new Date().toISOString().slice(0, 10), machine, ...drivers, `Bun ${Bun.version}`].join('; '))
  try {
    await selfTests(devices, bench)
    await speeds(devices, bench)
    await memories(devices, bench)
    await endings(devices, bench)
  } finally {
    bench.remove()
  }
}

await main()
