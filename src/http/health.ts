/** Health, readiness and metrics, beside the versioned paths and without an account (docs/api.md 9). */
import { timingSafeEqual } from 'node:crypto'
import { MynaError } from '../domain/error.ts'
import { Bucket } from '../domain/throttle.ts'
import type { Clock } from '../domain/time.ts'
import type { ModelTrouble } from '../domain/model-trouble.ts'
import { modelStanding } from '../service/model-troubles.ts'
import type { Catalog, EngineStatus, Ledger } from '../service/ports.ts'
import type { StorageFacts } from '../service/storage-watch.ts'
import { healthDetail, metricsDetail, readyDetail, rootDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { type Action, type Exchange, json, type Route } from './exchange.ts'
import { credentialOf } from './gate.ts'
import type { Metrics } from './metrics.ts'
import { readinessOf } from './readiness.ts'

export interface HealthParts {
  version: string
  clock: Clock
  ledger: Ledger
  catalog: Catalog
  metrics: Metrics
  /** Empty: metrics are only on the local socket. */
  metricsToken: string
  speechEngines: () => Promise<readonly EngineStatus[]>
  /** null: no model for it is installed. */
  transcriptionEngines: () => Promise<readonly EngineStatus[] | null>
  storage: () => StorageFacts
  /** Whether settlements are waiting for disk space. */
  diskFull: () => boolean
  draining: () => boolean
}

export function healthRoutes(route: Route, parts: HealthParts) {
  const beganMs = parts.clock.monotonicMs()
  const health = () => ({
    status: 'ok',
    version: parts.version,
    uptime_seconds: Math.floor((parts.clock.monotonicMs() - beganMs) / 1000),
  })
  const name = { name: 'myna', version: parts.version, api_version: 'v1' }
  const failures = new Bucket(attemptsAtOnce, attemptRefillMs)
  const metrics: Action = async (exchange) => {
    requireReader(exchange, parts, failures)
    return parts.metrics.answer()
  }
  return endpoints(route, [
    ['GET /v1', rootDetail, () => json(name)],
    ['GET /health', healthDetail, () => json(health())],
    ['GET /healthz', null, () => json(health())],
    ['GET /livez', null, () => json(health())],
    ['GET /readyz', readyDetail, () => readiness(parts)],
    ['GET /metrics', metricsDetail, metrics],
  ])
}

async function readiness(parts: HealthParts): Promise<Response> {
  const [speech, transcription, databaseFails] = await Promise.all([
    parts.speechEngines(),
    parts.transcriptionEngines(),
    parts.ledger.pendingCount().then(
      () => false,
      () => true,
    ),
  ])
  const engines = [...speech, ...(transcription ?? [])]
  const standing = modelStanding(parts.catalog, engines)
  const { status, isServing, checks } = readinessOf({
    isDraining: parts.draining(),
    storage: parts.storage(),
    databaseFails,
    isDiskFull: parts.diskFull(),
    speech,
    transcription,
    models: standing,
  })
  const devices = {
    tts: devicesOf(speech),
    ...(transcription !== null && { transcription: devicesOf(transcription) }),
  }
  const models = [...engines.flatMap(modelsOf), ...standing.troubles.map(troubleOf)]
  return json({ status, checks, devices, models }, isServing ? 200 : 503)
}

/** The first device is reported as if it were the only one, because it nearly always is. */
function devicesOf(engines: readonly EngineStatus[]) {
  const [first, ...others] = engines.map(({ device, deviceReason: reason, deviceMemory: memory }) => ({
    device,
    reason,
    ...(memory !== null && { memory_used_bytes: memory.usedBytes, memory_total_bytes: memory.totalBytes }),
  }))
  return others.length === 0 ? first : { ...first, others }
}

/** While it loads one model, an engine may be unable to report the others. */
const modelsOf = ({ task, loading, models }: EngineStatus) => [
  ...models.map(({ id, device, memoryBytes, activeStreams, idleMsLeft }) => ({
    id,
    task,
    state: 'loaded',
    device,
    memory_bytes: memoryBytes,
    active_streams: activeStreams,
    idle_seconds_left: idleMsLeft === null ? null : Math.ceil(idleMsLeft / 1000),
  })),
  ...loading.map((id) => ({
    id,
    task,
    state: 'loading',
    device: null,
    memory_bytes: null,
    active_streams: 0,
    idle_seconds_left: null,
  })),
]

const troubleOf = ({ id, task, words }: ModelTrouble) => ({
  id,
  task,
  state: 'failed',
  reason: words,
  device: null,
  memory_bytes: null,
  active_streams: 0,
  idle_seconds_left: null,
})

const attemptsAtOnce = 10
const attemptRefillMs = 6000

/**
 * Metrics are for the holder of the token. An address proves nothing, because every client behind a proxy on this
 * machine has its address. The socket in the data folder has the metrics too (`admin-socket.ts`).
 * @throws MynaError `invalid_api_key`, `too_many_failed_attempts`
 */
function requireReader(
  { request, address }: Exchange,
  { metricsToken: token, clock }: HealthParts,
  failures: Bucket,
): void {
  const credential = credentialOf(request.headers, false)
  if (token !== '' && credential.kind === 'secret' && sameText(credential.secret, token)) return
  if (credential.kind === 'secret') {
    const retryAfterMs = failures.take(address, clock.monotonicMs())
    if (retryAfterMs > 0) {
      const message = 'Too many failed authentication attempts. Try again later.'
      throw new MynaError('too_many_failed_attempts', message, { retryAfterMs })
    }
  }
  throw new MynaError(
    'invalid_api_key',
    'Metrics need the metrics token (MYNA_METRICS_TOKEN) as the bearer key. On this machine the socket in the data ' +
      'folder has them without: curl --unix-socket myna.sock http://localhost/metrics',
  )
}

const sameText = (a: string, b: string): boolean => {
  const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
