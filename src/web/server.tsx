/** How the service is: its engines with what they hold and why they run where they do, its queue, its last warnings. */
import type { PageProps } from './frame.tsx'
import { useLoaded } from './loading.ts'
import { Facts, Head, Problem } from './parts.tsx'
import { ago, bytes, count, duration } from './words.ts'

interface Engine {
  task: string
  state: string
  device: string
  device_reason: string | null
  active_streams: number
  restarts: number
  last_error: string | null
  resident_bytes: number | null
  models: { id: string; memory_bytes: number; active_streams: number; idle_ms_left: number | null }[]
}

interface ServerRecord {
  version: string
  uptime_seconds: number
  readiness: string
  queue: { running: number; waiting: number }
  pending_operations: number
  engines: Engine[]
  warnings: { at: number; message: string; cause: string | null }[]
}

const lookMs = 3000

export function ServerPage(_props: PageProps) {
  const { value, error } = useLoaded<ServerRecord>('/console/api/admin/server', lookMs)
  return (
    <div class="page">
      <Head title="Server" about={value === null ? '' : `Myna ${value.version}`} />
      <Problem error={error} />
      {value === null ? null : (
        <>
          <Facts facts={factsOf(value)} />
          <div class="grid">
            {value.engines.map((engine) => (
              <EngineCard key={engine.task} engine={engine} />
            ))}
          </div>
          <section class="card">
            <h2>Last warnings</h2>
            <Warnings warnings={value.warnings} />
          </section>
        </>
      )}
    </div>
  )
}

const factsOf = (server: ServerRecord): [string, string][] => [
  ['State', server.readiness],
  ['Up for', duration(server.uptime_seconds)],
  ['Streams', `${count(server.queue.running)} running, ${count(server.queue.waiting)} waiting`],
  ['Pending operations', count(server.pending_operations)],
]

const kinds: Readonly<Record<string, string>> = { ready: 'tag good', failed: 'tag bad', starting: 'tag busy' }
const titles: Readonly<Record<string, string>> = {
  'text-to-speech': 'Speech',
  'automatic-speech-recognition': 'Transcription',
}

const EngineCard = ({ engine }: { engine: Engine }) => (
  <section class="card">
    <div class="row apart">
      <h2>{titles[engine.task] ?? engine.task}</h2>
      <span class={kinds[engine.state] ?? 'tag'}>{engine.state}</span>
    </div>
    <p>
      Runs on <strong>{engine.device}</strong>
      {engine.device_reason === null ? '.' : `: ${engine.device_reason}`}
    </p>
    <p class="hint">
      {count(engine.active_streams)} streams, {memoryOf(engine)}, {count(engine.restarts)} restarts
    </p>
    {engine.last_error === null ? null : <p class="error">Last crash: {engine.last_error}</p>}
    {engine.models.map((model) => (
      <div class="row apart" key={model.id}>
        <strong>{model.id}</strong>
        <span class="hint">
          {bytes(model.memory_bytes)}, {idle(model.active_streams, model.idle_ms_left)}
        </span>
      </div>
    ))}
  </section>
)

const memoryOf = ({ resident_bytes: held }: Engine): string => (held === null ? 'not started' : `${bytes(held)} memory`)

function idle(streams: number, leftMs: number | null): string {
  if (streams > 0) return `${count(streams)} in use`
  return leftMs === null ? 'kept' : `unloaded in ${duration(leftMs / 1000)}`
}

const Warnings = ({ warnings }: Pick<ServerRecord, 'warnings'>) =>
  warnings.length === 0 ? (
    <p class="empty">None since the start.</p>
  ) : (
    <div class="scroll" tabIndex={0} role="region" aria-label="Last warnings">
      <table>
        <tbody>
          {warnings.map(({ at, message, cause }, index) => (
            <tr key={index}>
              <td>{ago(at, Date.now())}</td>
              <td>
                {message}
                {cause === null ? null : <div class="hint">{cause}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
