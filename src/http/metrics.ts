/**
 * Metrics for Prometheus. Names and labels are part of the contract (docs/api.md 9). Routes are counted by template,
 * never by raw path: attackers choose paths, and each label value costs memory.
 */
import { detectorId } from '../domain/card.ts'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { OperationType, Outcome, Settlement } from '../domain/operation.ts'
import type { AudioFormat } from '../domain/speech.ts'
import type { Meter } from '../service/ports.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import type { SpeechFacts } from '../service/speech-queue.ts'
import type { StorageFacts } from '../service/storage-watch.ts'
import type { TranscriptionMeter } from '../service/ports/transcription.ts'

export interface Gauges {
  speech: () => SpeechFacts
  /** By model: how fast it speaks here. */
  speeds: () => ReadonlyMap<string, { speed: number }>
  pendingOperations: () => Promise<number>
  engines: () => Promise<readonly EngineStatus[]>
  storage: () => StorageFacts
}

const realtimeBuckets = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export class Metrics implements Meter, TranscriptionMeter {
  readonly #registry = new Registry()
  readonly #requests = this.#counter('voice_http_requests_total', 'HTTP requests', ['method', 'route', 'status'])
  readonly #duration = this.#histogram('voice_http_request_duration_seconds', 'Time until the answer began', ['route'])
  readonly #firstByte = this.#histogram('voice_speech_first_byte_seconds', 'Time from admission to the first audio')
  readonly #engineFirst = this.#histogram('voice_engine_first_frame_seconds', 'The part of it that the engine took')
  readonly #realtime = this.#histogram(
    'voice_speech_realtime_factor',
    'Seconds of audio per second',
    [],
    realtimeBuckets,
  )
  readonly #transcriptions = this.#counter('voice_transcriptions_total', 'Transcriptions by how they ended', ['result'])
  readonly #heard = this.#counter('voice_transcription_seconds_total', 'Seconds of audio transcribed')
  readonly #hearing = this.#histogram(
    'voice_transcription_realtime_factor',
    'Seconds of audio transcribed per second',
    [],
    realtimeBuckets,
  )
  readonly #characters = this.#counter('voice_speech_characters_total', 'Characters that usage counts')
  readonly #audio = this.#counter('voice_speech_audio_seconds_total', 'Seconds of audio delivered', ['format'])
  readonly #operations = this.#counter('voice_operations_total', 'Settled operations', ['type', 'outcome'])
  readonly #clones = this.#counter('voice_clones_total', 'Clones by how they ended or were refused', ['result'])
  readonly #charged = this.#counter('voice_charged_micros_total', 'Settled charges in millionths of a dollar', ['type'])
  readonly #authFailures = this.#counter('voice_auth_failures_total', 'Refused credentials', ['reason'])
  readonly #limited = this.#counter('voice_rate_limited_total', 'Requests over a rate limit', ['route'])
  readonly #idempotency = this.#counter('voice_idempotency_hits_total', 'Refused reuses of a key', ['code'])

  /** Values that are computed when they are scraped. */
  observe(version: string, gauges: Gauges): void {
    this.#gauge('voice_build_info', 'Version of this program', ['version'], (gauge) => gauge.set({ version }, 1))
    this.#observeSpeech(gauges)
    this.#gauge('voice_operations_pending', 'Pending operations; absent if the database does not answer', [], (gauge) =>
      setInTime(gauge, gauges.pendingOperations()),
    )
    this.#gauge('voice_storage_ok', 'Whether disk, database and uploads are healthy', ['check'], (gauge) => {
      for (const [check, state] of Object.entries(gauges.storage())) gauge.set({ check }, state === 'ok' ? 1 : 0)
    })
    this.#observeEngines(gauges.engines)
    this.#observeProcess()
  }

  #observeSpeech({ speech, speeds }: Gauges): void {
    const each = (name: string, help: string, read: (facts: SpeechFacts) => number) =>
      this.#gauge(name, help, [], (gauge) => gauge.set(read(speech())))
    each('voice_queue_depth', 'Speech requests waiting for the engine', ({ waiting }) => waiting)
    each('voice_speech_streams', 'Speech streams under way', ({ running }) => running)
    each(
      'voice_speech_capacity_use',
      'Share of what this machine can do that they need; from 0.8 on others wait',
      (facts) => facts.use,
    )
    each('voice_speech_gaps', 'How often a listener had nothing to play', ({ gaps }) => gaps.count)
    each('voice_speech_gap_seconds', 'How long listeners had nothing to play', ({ gaps }) => gaps.ms / 1000)
    each('voice_speech_shed', 'Speech requests that were refused because others wait', ({ shed }) => shed)
    this.#gauge('voice_model_speed', 'Seconds of sound that this machine makes in a second', ['model'], (gauge) => {
      gauge.reset()
      for (const [model, { speed }] of speeds()) gauge.set({ model }, speed)
    })
  }

  #observeEngines(engines: Gauges['engines']): void {
    const each = (name: string, help: string, labels: string[], set: (gauge: Gauge, engine: EngineStatus) => void) =>
      this.#gauge(name, help, labels, async (gauge) => {
        gauge.reset()
        for (const engine of await engines()) set(gauge, engine)
      })
    each('voice_engine_up', 'Engines that accept work, and where they run', ['task', 'device'], (gauge, engine) =>
      gauge.inc({ task: engine.task, device: engine.device }, engine.state === 'ready' ? 1 : 0),
    )
    each(
      'voice_engine_restarts',
      'How often engines were restarted after a crash',
      ['task', 'device'],
      (gauge, engine) => gauge.inc({ task: engine.task, device: engine.device }, engine.restarts),
    )
    each(
      'voice_engine_stalls',
      'Work or engines that were ended: no sign of life, too slow for its size, not stopping, loading for too long',
      ['task', 'device', 'cause'],
      (gauge, { task, device, stalls }) => {
        for (const [cause, count] of Object.entries(stalls)) gauge.inc({ task, device, cause }, count)
      },
    )
    each(
      'voice_model_memory_bytes',
      'Models that are loaded, and what memory they were given',
      ['task', 'model', 'device'],
      (gauge, { task, models }) => {
        for (const { id, device, memoryBytes } of models) {
          gauge.inc({ task: id === detectorId ? 'voice-activity-detection' : task, model: id, device }, memoryBytes)
        }
      },
    )
    each(
      'voice_engine_fallback',
      'Engines that do not run where they would by default, and why',
      ['task', 'device', 'reason'],
      (gauge, { task, device, deviceReason: reason }) => {
        if (reason !== null) gauge.set({ task, device, reason }, 1)
      },
    )
    each(
      'voice_device_memory_bytes',
      'Memory of a graphics card: used by all programs, and in all',
      ['device', 'kind'],
      (gauge, { device, deviceMemory: memory }) => {
        if (memory === null) return
        gauge.set({ device, kind: 'used' }, memory.usedBytes)
        gauge.set({ device, kind: 'total' }, memory.totalBytes)
      },
    )
  }

  #observeProcess(): void {
    this.#gauge('process_resident_memory_bytes', 'Resident memory of the server', [], (gauge) =>
      gauge.set(process.memoryUsage.rss()),
    )
    this.#gauge('process_start_time_seconds', 'When the server started', [], (gauge) =>
      gauge.set(Math.round(Date.now() / 1000 - process.uptime())),
    )
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the server so far',
      registers: [this.#registry],
      collect() {
        const { user, system } = process.cpuUsage()
        this.reset()
        this.inc((user + system) / 1e6)
      },
    })
  }

  /** In Prometheus text format 0.0.4. */
  async answer(): Promise<Response> {
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' }
    return new Response(await this.#registry.metrics(), { headers })
  }

  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.inc({ method: knownMethod(method), route, status })
    this.#duration.observe({ route }, seconds)
  }

  authFailure(reason: string): void {
    this.#authFailures.inc({ reason })
  }

  rateLimited(route: string): void {
    this.#limited.inc({ route })
  }

  firstByte(seconds: number): void {
    this.#firstByte.observe(seconds)
  }

  engineFirstFrame(seconds: number): void {
    this.#engineFirst.observe(seconds)
  }

  realtimeFactor(value: number): void {
    this.#realtime.observe(value)
  }

  refusedKey(code: string): void {
    this.#idempotency.inc({ code })
  }

  cloned(result: string): void {
    this.#clones.inc({ result })
  }

  transcribed(result: string, audioMs: number, wallMs: number): void {
    this.#transcriptions.inc({ result })
    this.#heard.inc(audioMs / 1000)
    if (result === 'completed' && wallMs > 0) this.#hearing.observe(audioMs / wallMs)
  }

  settled(type: OperationType, outcome: Outcome, settlement: Settlement, format: AudioFormat | null): void {
    this.#operations.inc({ type, outcome })
    this.#charged.inc({ type }, settlement.chargedMicros)
    this.#characters.inc(settlement.usedChars)
    if (format !== null) this.#audio.inc({ format }, settlement.audioMs / 1000)
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string, labelNames: string[] = [], buckets = latencyBuckets): Histogram {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] })
  }

  #gauge(name: string, help: string, labelNames: string[], read: (gauge: Gauge) => void | Promise<void>): void {
    const registers = [this.#registry]
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        return read(this)
      },
    })
  }
}

/** Scrapers wait ten seconds. */
const longestReadMs = 2000

/** All other metrics must be readable where the database cannot be: they say what is wrong with it. */
async function setInTime(gauge: Gauge, reading: Promise<number>): Promise<void> {
  const late = Promise.withResolvers<null>()
  const timeout = setTimeout(() => late.resolve(null), longestReadMs)
  const value = await Promise.race([reading.catch(() => null), late.promise]).finally(() => clearTimeout(timeout))
  if (value === null) gauge.remove()
  else gauge.set(value)
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string): string => (methods.has(method) ? method : 'other')
