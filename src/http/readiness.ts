/**
 * Decides whether the service can work, and which part cannot: the source of `/readyz` and `myna ps`. Failing or
 * missing transcription does not affect other routes. An unusable model does not affect others, but requests for it
 * are refused, so it is reported.
 */
import type { Task } from '../domain/card.ts'
import type { ModelStanding } from '../service/model-troubles.ts'
import type { EngineState, EngineStatus } from '../service/ports/engines.ts'
import type { DatabaseState, DiskState } from '../service/ports/storage.ts'
import type { StorageFacts } from '../service/storage-watch.ts'

export interface ReadinessFacts {
  isDraining: boolean
  storage: StorageFacts
  /** Whether the database failed to answer. */
  databaseFails: boolean
  /** Whether settlements are waiting for disk space. */
  isDiskFull: boolean
  /** One per device. */
  speech: readonly EngineStatus[]
  /** null: no model for it is installed. */
  transcription: readonly EngineStatus[] | null
  models: ModelStanding
}

/** `degraded`: at least one installed model cannot be used. */
type Check = 'ok' | 'loading' | 'degraded' | 'failed'

export interface Readiness {
  status: 'ready' | 'loading' | 'degraded' | 'draining'
  /** Whether to send work here; transcription does not count. */
  isServing: boolean
  checks: {
    database: DatabaseState
    tts: Check
    transcription: Check | 'unavailable'
    disk: DiskState
    uploads: 'ok' | 'failed'
  }
}

/** A stopped engine starts on demand. */
const checkOf: Readonly<Record<EngineState, Check>> = {
  stopped: 'ok',
  ready: 'ok',
  starting: 'loading',
  failed: 'failed',
}

/** One working engine is enough. */
function checkOfAll(engines: readonly EngineStatus[]): Check {
  const checks = engines.map(({ state }) => checkOf[state])
  return (['ok', 'loading'] as const).find((check) => checks.includes(check)) ?? 'failed'
}

function checkOfTask(task: Task, engines: readonly EngineStatus[], { troubles, able }: ModelStanding): Check {
  const check = checkOfAll(engines)
  if (check === 'failed' || !able.has(task)) return 'failed'
  return check === 'ok' && troubles.some((trouble) => trouble.task === task) ? 'degraded' : check
}

export function readinessOf(facts: ReadinessFacts): Readiness {
  const { isDraining, storage, databaseFails, isDiskFull, speech, transcription, models } = facts
  const checks: Readiness['checks'] = {
    database: storage.database === 'ok' && databaseFails ? 'failed' : storage.database,
    tts: checkOfTask('text-to-speech', speech, models),
    transcription:
      transcription === null ? 'unavailable' : checkOfTask('automatic-speech-recognition', transcription, models),
    disk: storage.disk === 'ok' && isDiskFull ? 'full' : storage.disk,
    uploads: storage.uploads,
  }
  const answer = (status: Readiness['status'], isServing = false): Readiness => ({ status, isServing, checks })
  if (isDraining) return answer('draining')
  const isStored = checks.database === 'ok' && checks.disk === 'ok'
  if (!isStored || checks.tts === 'failed') return answer('degraded')
  if (checks.tts === 'loading') return answer('loading')
  const isWhole = checks.transcription !== 'failed' && models.troubles.length === 0 && checks.uploads === 'ok'
  return answer(isWhole ? 'ready' : 'degraded', true)
}
