/** Declares what `/`, `/health` and `/readyz` answer (docs/api.md 9). */
import type { Task } from '../domain/card.ts'
import type { ModelTrouble } from '../domain/model-trouble.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import * as is from './openapi/shapes.ts'
import { from, maybe } from './openapi/shapes.ts'
import type { Readiness } from './readiness.ts'

export interface ReadinessAnswer extends Readiness {
  speech: readonly EngineStatus[]
  /** null: no model for it is installed. */
  transcription: readonly EngineStatus[] | null
  troubles: readonly ModelTrouble[]
}

const loadStates = ['ok', 'loading', 'degraded', 'failed'] as const

const checks = is.answer<Readiness['checks']>('', {
  database: from(is.oneOf(['ok', 'failed', 'damaged'], 'ok'), 'database'),
  tts: from(is.oneOf(loadStates, 'ok'), 'tts'),
  transcription: from(is.oneOf([...loadStates, 'unavailable'], 'unavailable'), 'transcription'),
  disk: from(is.oneOf(['ok', 'full', 'read_only', 'failed'], 'ok'), 'disk'),
  uploads: from(is.oneOf(['ok', 'failed'], 'ok'), 'uploads'),
})

const deviceFields: Readonly<Record<string, is.Sent<EngineStatus>>> = {
  device: from(is.text(undefined, '`cpu` or `cuda:N`.'), 'device'),
  reason: from(is.textOrNull(undefined, 'Why it is the CPU, if the CPU was not asked for.'), 'deviceReason'),
  memory_used_bytes: maybe(
    is.count(undefined, 'Of the graphics card: used by all programs.'),
    ({ deviceMemory }) => deviceMemory?.usedBytes,
  ),
  memory_total_bytes: maybe(
    is.count(undefined, 'Of the graphics card: in all.'),
    ({ deviceMemory }) => deviceMemory?.totalBytes,
  ),
}
const device = is.answer('', deviceFields)

/** The first device is reported as if it were the only one, because it nearly always is. */
const devices = is.record('The first device; if there are several, the others follow.', {
  ...deviceFields,
  others: is.optional(is.list(device)),
})

function devicesOf(engines: readonly EngineStatus[]): is.Json {
  const [first = {}, ...others] = engines.map(device.of)
  return others.length === 0 ? first : { ...first, others }
}

interface ModelState {
  id: string
  task: Task
  state: 'loaded' | 'loading' | 'failed'
  reason?: string
  device: string | null
  memoryBytes: number | null
  activeStreams: number
  idleMsLeft: number | null
}

const model = is.answer<ModelState>('', {
  id: from(is.text('hibari'), 'id'),
  task: from(is.text('text-to-speech'), 'task'),
  state: from(is.oneOf(['loaded', 'loading', 'failed'], 'loaded'), 'state'),
  reason: maybe(is.text(undefined, 'Why it failed.'), 'reason'),
  device: from(is.textOrNull('cpu'), 'device'),
  memory_bytes: from(is.countOrNull(150_000_000), 'memoryBytes'),
  active_streams: from(is.count(0), 'activeStreams'),
  idle_seconds_left: from(is.countOrNull(287, '`null`: in use, or kept forever.'), ({ idleMsLeft }) =>
    idleMsLeft === null ? null : Math.ceil(idleMsLeft / 1000),
  ),
})

const unloaded = { device: null, memoryBytes: null, activeStreams: 0, idleMsLeft: null }

/** While it loads one model, an engine may be unable to report the others. */
const modelsOf = ({ task, loading, models }: EngineStatus): ModelState[] => [
  ...models.map((one) => ({ ...one, task, state: 'loaded' as const })),
  ...loading.map((id) => ({ ...unloaded, id, task, state: 'loading' as const })),
]

const troubleOf = ({ id, task, words }: ModelTrouble): ModelState => ({
  ...unloaded,
  id,
  task,
  state: 'failed',
  reason: words,
})

export const readinessRecord = is.answer<ReadinessAnswer>('', {
  status: from(is.oneOf(['ready', 'loading', 'degraded', 'draining'], 'ready'), 'status'),
  checks: { ...checks, of: (ready) => checks.of(ready.checks) },
  devices: {
    isOptional: true,
    schema: {
      type: 'object',
      description: 'Where each task runs, and why.',
      additionalProperties: devices.schema,
    },
    example: { tts: { device: 'cpu', reason: null } },
    of: ({ speech, transcription }) => ({
      tts: devicesOf(speech),
      ...(transcription !== null && { transcription: devicesOf(transcription) }),
    }),
  },
  models: maybe(
    is.list(model, 'Loaded, being loaded, or unusable. While one is being loaded, others may be missing.'),
    ({ speech, transcription, troubles }) => {
      const known = [...speech, ...(transcription ?? [])].flatMap(modelsOf)
      return [...known, ...troubles.map(troubleOf)].map(model.of)
    },
  ),
})

export const healthRecord = is.answer<{ version: string; uptimeS: number }>('', {
  status: is.constant('ok'),
  version: from(is.text('0.1.0'), 'version'),
  uptime_seconds: from(is.count(3600), 'uptimeS'),
})

export const serviceRecord = is.answer<{ version: string }>('', {
  name: from(is.text('myna'), () => 'myna'),
  version: from(is.text('0.1.0'), 'version'),
  api_version: is.constant('v1'),
})
