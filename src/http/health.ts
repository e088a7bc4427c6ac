/** Health, readiness and metrics, beside the versioned paths and without an account (docs/api.md 9). */
import { timingSafeEqual } from 'node:crypto'
import { MynaError } from '../domain/error.ts'
import { Bucket } from '../domain/throttle.ts'
import type { Clock } from '../domain/time.ts'
import { modelStanding } from '../service/model-troubles.ts'
import type { Catalog, Ledger } from '../service/ports.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import type { StorageFacts } from '../service/storage-watch.ts'
import { healthDetail, metricsDetail, readyDetail, rootDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { type Action, type Exchange, json, type Route } from './exchange.ts'
import { credentialOf } from './gate.ts'
import type { Metrics } from './metrics.ts'
import { readinessOf } from './readiness.ts'
import { healthRecord, readinessRecord, serviceRecord } from './readiness-record.ts'

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
  const { version } = parts
  const health: Action = () => {
    const uptimeS = Math.floor((parts.clock.monotonicMs() - beganMs) / 1000)
    return json(healthRecord.of({ version, uptimeS }))
  }
  const failures = new Bucket(attemptsAtOnce, attemptRefillMs)
  const metrics: Action = async (exchange) => {
    requireReader(exchange, parts, failures)
    return parts.metrics.answer()
  }
  return endpoints(route, [
    ['GET /v1', rootDetail, () => json(serviceRecord.of({ version }))],
    ['GET /health', healthDetail, health],
    ['GET /healthz', null, health],
    ['GET /livez', null, health],
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
  const ready = readinessOf({
    isDraining: parts.draining(),
    storage: parts.storage(),
    databaseFails,
    isDiskFull: parts.diskFull(),
    speech,
    transcription,
    models: standing,
  })
  const answer = { ...ready, speech, transcription, troubles: standing.troubles }
  return json(readinessRecord.of(answer), ready.isServing ? 200 : 503)
}

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
