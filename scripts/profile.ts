/**
 * What the processor's time of speech and of transcription is spent on: the ten most expensive functions that Bun's
 * profiler sees, beside what ONNX Runtime, the compiler and the collector take on other threads.
 *
 *   bun scripts/profile.ts speech|transcription
 *
 * It runs the built-in models from source, on two threads, once everything is compiled. The profiler sees one thread
 * only, so the vocoder, which has a thread of its own in an engine, runs on the main one here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { cards } from '../src/catalog/cards.ts'
import { speechArchitectures, transcriptionArchitectures } from '../src/models/registry.ts'
import { loadDetector } from '../src/models/silero/detector.ts'
import { cutSpeech } from '../src/models/silero/windows.ts'
import { printTable } from './bench/figures.ts'
import { talk } from './bench/talk.ts'
import { texts } from './bench/texts.ts'

const root = join(import.meta.dir, '..')
const never = new AbortController().signal
const options = { filesDir: null, pronunciations: null, workers: 2 }
const warmRounds = 2
const shown = 10
const tickMs = 10

/** @returns seconds of sound */
type Round = () => Promise<number>

async function speech(): Promise<Round> {
  onThisThread()
  const card = cards.find(({ id }) => id === 'hibari')!
  const model = await (await speechArchitectures.hibari!()).load({ ...options, card })
  const voice = { voiceId: 'lark', voiceState: null, speed: 1, language: null, instructions: null, seed: null }
  return async () => {
    let samples = 0
    for (const text of texts) {
      for await (const { pcm } of model.speak({ ...voice, text }, never)) samples += pcm.length
    }
    return samples / model.sampleRateHz
  }
}

async function transcription(): Promise<Round> {
  const card = cards.find(({ task, builtIn }) => task === 'automatic-speech-recognition' && builtIn)!
  const model = await (await transcriptionArchitectures[card.architecture]!()).load({ ...options, card })
  const detector = await loadDetector()
  const sound = await talk()
  const input = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: false } as const
  return async () => {
    const hearing = model.begin(input)
    const windows = cutSpeech(blocksOf(sound, model.sampleRateHz), detector, { maxWindowMs: model.maxWindowMs }, never)
    for await (const { pcm } of windows) if (pcm !== null) await hearing.hear(pcm, never)
    return sound.length / model.sampleRateHz
  }
}

/** As from a decoder. */
async function* blocksOf(sound: Float32Array, size: number): AsyncGenerator<Float32Array> {
  for (let at = 0; at < sound.length; at += size) yield sound.slice(at, at + size)
}

/** Has the vocoder's Worker run here: it is one file that hears messages and posts others. Other Workers are real. */
function onThisThread(): void {
  class Here extends EventTarget {
    onmessage: ((event: { data: unknown }) => void) | null = null
    readonly #loaded: Promise<unknown>

    constructor(address: string) {
      super()
      Object.assign(globalThis, { postMessage: (data: unknown) => queueMicrotask(() => this.onmessage?.({ data })) })
      this.#loaded = import(address)
    }

    async postMessage(data: unknown): Promise<void> {
      await this.#loaded
      const { onmessage } = globalThis as { onmessage?: (event: { data: unknown }) => void }
      onmessage?.({ data })
    }
  }
  const construct = (Usual: typeof Worker, [address, settings]: [string, WorkerOptions]) =>
    address.includes('vocoder-worker') ? new Here(address) : new Usual(address, settings)
  Object.assign(globalThis, { Worker: new Proxy(Worker, { construct }) })
}

/** Processor time in ms, by what a thread is for. */
function threadTimes(): Map<string, number> {
  const commandOf = (thread: string) => readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim()
  const own = commandOf(String(process.pid))
  const times = new Map<string, number>()
  for (const thread of readdirSync('/proc/self/task')) {
    const kind = thread === String(process.pid) ? 'main' : kindOf(commandOf(thread), own)
    const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ').pop()!.split(' ')
    times.set(kind, (times.get(kind) ?? 0) + tickMs * (Number(fields[11]) + Number(fields[12])))
  }
  return times
}

/** The Workers here lead runs. ONNX Runtime's own threads are called as the process is. */
function kindOf(name: string, own: string): string {
  if (name.startsWith('JIT')) return 'compiler'
  return name === own || name === 'Worker' ? 'onnx' : 'rest'
}

interface Frame {
  functionName: string
  url: string
}

const nameOf = ({ functionName, url }: Frame): string =>
  `${functionName || 'without a name'}${url.startsWith('file:') ? `, ${relative(root, new URL(url).pathname)}` : ''}`

/** @returns how many samples were taken in each function itself, and what the rounds took */
async function profiled(round: Round, rounds: number) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 500 })
  const before = threadTimes()
  await session.post('Profiler.start')
  let soundS = 0
  for (let count = 0; count < rounds; count++) soundS += await round()
  const { profile } = await session.post('Profiler.stop')
  const after = threadTimes()
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const samples = Map.groupBy(profile.samples ?? [], (id) => frames.get(id) ?? '')
  const cpuMs = (kind: string) => (after.get(kind) ?? 0) - (before.get(kind) ?? 0)
  return { soundS, samples, cpuMs }
}

const kinds = { speech: { open: speech, rounds: 6 }, transcription: { open: transcription, rounds: 3 } }
const [what] = process.argv.slice(2)
if (what !== 'speech' && what !== 'transcription') throw new Error('bun scripts/profile.ts speech|transcription')
const { open, rounds } = kinds[what]
const round = await open()
for (let count = 0; count < warmRounds; count++) await round()
const { soundS, samples, cpuMs } = await profiled(round, rounds)
const all = [...samples.values()].reduce((sum, { length }) => sum + length, 0)
const allMs = cpuMs('main') + cpuMs('onnx') + cpuMs('compiler') + cpuMs('rest')
const share = (ms: number) => `${((100 * ms) / allMs).toFixed(1)} %`
const functions = [...samples].map(([name, { length }]) => [name, (cpuMs('main') * length) / all] as const)
const shownFunctions = functions.toSorted((a, b) => b[1] - a[1]).slice(0, shown)
console.log(`${soundS.toFixed(0)} s of sound, ${(allMs / soundS).toFixed(1)} ms of processor time for a second`)
printTable(`${what}: shares of the processor's time`, [
  ['function', 'share'],
  ['ONNX Runtime, on other threads', share(cpuMs('onnx'))],
  ['compiler and collector', share(cpuMs('compiler') + cpuMs('rest'))],
  ['JavaScript and what it calls', share(cpuMs('main'))],
  ...shownFunctions.map(([name, ms]) => [`  ${name}`, share(ms)]),
])
process.exit(0)
