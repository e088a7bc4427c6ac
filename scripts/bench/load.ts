/**
 * The clients: a separate program, so that they share no thread with the server. Its one argument is JSON and says what
 * to do. It does that within a bounded count and time, and prints the results as JSON.
 */
import { cpuUsage } from 'node:process'
import { type Connections, hammer } from './connections.ts'
import { readsMetrics as metricsHeaders } from './subject.ts'

export interface SpeechLoad {
  kind: 'speech'
  /** Without `/v1`. */
  url: string
  key: string
  clients: number
  /** In all; each client takes the next one until none is left. */
  requests: number
  limitS: number
  format: 'pcm' | 'mp3' | 'wav'
  voice: string
  texts: readonly string[]
  /** The client disconnects after the first audio in every n-th request; 0: never. */
  abandonEvery: number
  /** Reads /metrics after each request, for the figures of the server and the engine. Only with one client. */
  readsMetrics: boolean
}

export interface SpeechSample {
  text: number
  /** From the request to the first audio sample. */
  firstMs: number
  totalMs: number
  bytes: number
  isAbandoned: boolean
  /** From admission to first audio, and the engine's share of it, by the server's own clocks; null: not requested. */
  serverMs: number | null
  engineMs: number | null
}

export interface SpeechResult {
  samples: SpeechSample[]
  /** What went wrong, in a few words each; empty if all went well. */
  failures: string[]
  wallMs: number
  /** Processor time of the clients themselves, which on a small machine the server lacks. */
  cpuMs: number
}

/** The size of the body that contains the first sample: a wav header has 44 bytes, the header of an mp3 frame 4. */
const bytesToFirstSample = { pcm: 1, wav: 45, mp3: 5 } as const

async function speakAll(load: SpeechLoad): Promise<SpeechResult> {
  const result: SpeechResult = { samples: [], failures: [], wallMs: 0, cpuMs: 0 }
  const beganMs = performance.now()
  const deadlineMs = beganMs + load.limitS * 1000
  let next = 0
  const client = async () => {
    while (next < load.requests && performance.now() < deadlineMs) {
      const number = next++
      try {
        result.samples.push(await speak(load, number))
      } catch (error) {
        result.failures.push(error instanceof Error ? error.message : String(error))
      }
    }
  }
  await Promise.all(Array.from({ length: load.clients }, client))
  const { user, system } = cpuUsage()
  return { ...result, wallMs: performance.now() - beganMs, cpuMs: (user + system) / 1000 }
}

async function speak(load: SpeechLoad, number: number): Promise<SpeechSample> {
  const text = number % load.texts.length
  const isAbandoned = load.abandonEvery > 0 && number % load.abandonEvery === load.abandonEvery - 1
  const before = load.readsMetrics ? await firstByteSums(load.url) : null
  const leave = new AbortController()
  const beganMs = performance.now()
  const response = await fetch(`${load.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${load.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: load.texts[text], voice: load.voice, response_format: load.format }),
    signal: AbortSignal.any([leave.signal, AbortSignal.timeout(1000 * load.limitS)]),
  })
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`)
  let bytes = 0
  let firstMs: number | null = null
  const reader = response.body!.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.byteLength
    if (firstMs === null && bytes >= bytesToFirstSample[load.format]) firstMs = performance.now() - beganMs
    if (firstMs !== null && isAbandoned) {
      leave.abort()
      break
    }
  }
  const totalMs = performance.now() - beganMs
  if (firstMs === null) throw new Error(`${bytes} bytes: no audio`)
  const sample = { text, firstMs, totalMs, bytes, isAbandoned, serverMs: null, engineMs: null }
  if (before === null) return sample
  const after = await firstByteSums(load.url)
  return { ...sample, serverMs: after.serverMs - before.serverMs, engineMs: after.engineMs - before.engineMs }
}

async function firstByteSums(url: string): Promise<{ serverMs: number; engineMs: number }> {
  const text = await (await fetch(`${url}/metrics`, { headers: metricsHeaders })).text()
  const sumMs = (name: string) => 1000 * Number(new RegExp(`^${name}_sum (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
  return { serverMs: sumMs('voice_speech_first_byte_seconds'), engineMs: sumMs('voice_engine_first_frame_seconds') }
}

if (import.meta.main) {
  const load = JSON.parse(process.argv[2] ?? '') as SpeechLoad | Connections
  const result = load.kind === 'speech' ? await speakAll(load) : await hammer(load)
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
}
