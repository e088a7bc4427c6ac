/**
 * The state of the service: where it is, its engines with their models and why they run where they do, its queue, its
 * last warnings and the end of its log.
 */
import { Fragment } from 'preact'
import { useLoaded } from './parts/loading.ts'
import { Facts, Head, Progressing } from './parts/controls.tsx'
import { ago, bytes, count, counted, duration, moment } from './parts/format.ts'
import type { PageProps } from './parts/page.ts'

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

interface Box {
  id: string
  name: string
  is_this_one: boolean
  state: string
  lease_seconds_left: number
  devices: string[]
  models: string[]
  queue: { running: number; waiting: number }
}

interface ServerRecord {
  version: string
  uptime_seconds: number
  readiness: string
  queue: { running: number; waiting: number; use: number; gaps: { count: number; ms: number }; shed: number }
  pending_operations: number
  engines: Engine[]
  /** Models that are installed but cannot be used. */
  troubles: { id: string; words: string }[]
  /** The servers on the same database; absent: it is not shared. */
  boxes?: Box[]
  machine: Machine
  warnings: Warning[]
  /** The last lines as they were written, the oldest first. */
  log: string[]
}

interface Machine {
  url: string
  public_url: string | null
  network_urls: string[]
  wyoming: string | null
  data_dir: string
  database: string
  disk: { free_bytes: number; total_bytes: number } | null
}

interface Warning {
  at: number
  message: string
  cause: string | null
  /** More details by name: `model`, `mend`. */
  details: Readonly<Record<string, string>>
}

const lookMs = 3000

export function ServerPage(_props: PageProps) {
  const loaded = useLoaded<ServerRecord>('/console/api/admin/server', lookMs)
  const { value } = loaded
  return (
    <div class="page">
      <Head title="Server" about="What it is doing, where it runs, and its last messages." />
      <Progressing of={[loaded]} />
      {value === null ? null : (
        <>
          <Facts facts={factsOf(value)} />
          {value.troubles.map(({ id, words }) => (
            <p class="error" key={id}>
              {words}
            </p>
          ))}
          <div class="pair">
            {value.engines.map((engine) => (
              <EngineCard key={engine.task} engine={engine} />
            ))}
          </div>
          <Place version={value.version} machine={value.machine} />
          {value.boxes === undefined ? null : <Boxes boxes={value.boxes} />}
          <section class="card">
            <h2>Last warnings</h2>
            <Warnings warnings={value.warnings} />
          </section>
          <LogEnd lines={value.log} />
        </>
      )}
    </div>
  )
}

const streamsOf = ({ queue: { running, waiting } }: ServerRecord): string =>
  `${count(running)}${waiting > 0 ? `, ${count(waiting)} waiting` : ''}`

const factsOf = (server: ServerRecord): [string, string][] => [
  ['State', server.readiness],
  ['Up for', duration(server.uptime_seconds)],
  ['Streams', streamsOf(server)],
  ['Load', `${Math.round(100 * server.queue.use)} %`],
  ['Gaps in speech', count(server.queue.gaps.count)],
  ['Refused when full', count(server.queue.shed)],
  ['To be settled', count(server.pending_operations)],
]

/** Below this much, downloads and records may soon find no room. */
const lowDiskBytes = 2e9

const Place = ({ version, machine }: { version: string; machine: Machine }) => (
  <section class="card">
    <h2>This server</h2>
    <dl class="pairs">
      {placeOf(version, machine).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
    {machine.disk !== null && machine.disk.free_bytes < lowDiskBytes ? (
      <p class="note">The disk is nearly full: free some space, or remove models that are not used.</p>
    ) : null}
  </section>
)

function placeOf(version: string, machine: Machine): (readonly [string, string])[] {
  const { url, public_url: shown, network_urls: network, wyoming, data_dir: folder, database, disk } = machine
  const facts: [string, string | null][] = [
    ['Version', `Myna ${version}`],
    ['Listens on', url],
    ['Reached at', [...(shown === null ? [] : [shown]), ...network].join(', ') || 'this machine only'],
    ['Home Assistant', wyoming ?? 'off: myna serve --wyoming 0.0.0.0:10300'],
    ['Data folder', folder],
    ['Database', database],
    ['Disk', disk === null ? null : `${bytes(disk.free_bytes)} free of ${bytes(disk.total_bytes)}`],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}

const LogEnd = ({ lines }: { lines: readonly string[] }) => (
  <section class="card">
    <div class="row apart">
      <h2>Log</h2>
      <span class="hint">The newest of {counted(lines.length, 'line')} first</span>
    </div>
    {lines.length === 0 ? (
      <p class="empty">Nothing was logged since the start.</p>
    ) : (
      <pre class="log" tabIndex={0} aria-label="Log">
        {lines.toReversed().join('\n')}
      </pre>
    )}
  </section>
)

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
    {engine.state === 'stopped' ? (
      <p>Starts with the first request.</p>
    ) : (
      <p>
        Runs on <strong>{engine.device === 'cpu' ? 'the CPU' : engine.device}</strong>
        {engine.device_reason === null ? '.' : `: ${engine.device_reason}`}
      </p>
    )}
    <p class="hint">
      {counted(engine.active_streams, 'stream')}, {memoryOf(engine)}, {counted(engine.restarts, 'restart')}
    </p>
    {engine.last_error === null ? null : <p class="error">Last crash: {engine.last_error}</p>}
    {engine.models.map((model) => (
      <div class="row apart" key={model.id}>
        <strong>{model.id === 'silero-vad' ? 'Voice detector (silero-vad)' : model.id}</strong>
        <span class="hint">
          {bytes(model.memory_bytes)}, {idle(model.active_streams, model.idle_ms_left)}
        </span>
      </div>
    ))}
  </section>
)

const Boxes = ({ boxes }: { boxes: Box[] }) => (
  <section class="card">
    <h2>Servers on this database</h2>
    {boxes.map((box) => (
      <div class="row apart" key={box.id}>
        <span>
          <strong>{box.name}</strong>
          {box.is_this_one ? ' (this one)' : ''} <span class={kinds[box.state] ?? 'tag'}>{box.state}</span>
        </span>
        <span class="hint">
          {box.state === 'gone'
            ? 'its lease ran out'
            : `${box.devices.join(', ') || 'no device'}, ${counted(box.models.length, 'model')}, ` +
              `${count(box.queue.running)} running, ${count(box.queue.waiting)} waiting, ` +
              `lease ${duration(box.lease_seconds_left)}`}
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
    <p class="empty">No warnings since the start.</p>
  ) : (
    <ul class="warnings" tabIndex={0} aria-label="Last warnings">
      {warnings.map((warning, index) => (
        <li key={`${warning.at} ${index}`}>
          <time class="hint" title={moment(warning.at)} dateTime={new Date(warning.at * 1000).toISOString()}>
            {ago(warning.at, Date.now())}
          </time>
          <Words warning={warning} />
        </li>
      ))}
    </ul>
  )

/** Reasons are shown in full: they are needed to fix the problem. */
const Words = ({ warning: { message, cause, details } }: { warning: Warning }) => (
  <div>
    <p>
      {message}
      {Object.entries(details).map(([name, value]) => (
        <Fragment key={name}>
          {' '}
          <span class="tag">
            {name} <code>{value}</code>
          </span>
        </Fragment>
      ))}
    </p>
    {cause === null ? null : <p class="hint">{cause}</p>}
  </div>
)
