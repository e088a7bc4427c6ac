/** The state of the service for administrators: engines and their models, queues, the machine, and the log's end. */
import { Elysia } from 'elysia'
import type { EngineStatus } from '../../service/ports/engines.ts'
import type { BoxStatus } from '../../service/ports/boxes.ts'
import { seconds } from './records.ts'
import { json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import type { ServerStatus } from '../admin-socket.ts'

interface Warning {
  atMs: number
  message: string
  fields: Readonly<Record<string, unknown>>
}

export interface MachineFacts {
  /** The address that it listens on. */
  url: string
  /** As configured, for links; null: not. */
  publicUrl: string | null
  /** At which other machines may reach it; empty: it listens to this machine alone. */
  networkUrls: readonly string[]
  wyoming: { host: string; port: number } | null
  dataDir: string
  database: 'SQLite' | 'PostgreSQL'
  /** Of the data folder; null: the system does not say. */
  disk: { freeBytes: number; totalBytes: number } | null
}

export interface ConsoleServerParts {
  gate: Gate
  status: () => Promise<ServerStatus>
  machine: () => Promise<MachineFacts>
  log: { warnings(): Warning[]; lines(): string[] }
}

const path = '/console/api/admin/server'

export function consoleServerRoutes(route: Route, { gate, status, machine, log }: ConsoleServerParts) {
  const look = route(path, async (exchange) => {
    await gate.enterAdmin(exchange)
    const { version, uptimeMs, readiness, queue, pendingOperations, engines, troubles, boxes } = await status()
    return json({
      version,
      uptime_seconds: Math.floor(uptimeMs / 1000),
      readiness,
      queue,
      pending_operations: pendingOperations,
      engines: engines.map(engineRecord),
      troubles,
      // Of the servers that share the database; absent: it is not shared.
      ...(boxes === undefined ? {} : { boxes: boxes.map(boxRecord) }),
      machine: machineRecord(await machine()),
      warnings: log.warnings().map(warningRecord),
      log: log.lines(),
    })
  })
  return new Elysia().get(path, look, { detail: { hide: true } })
}

const machineRecord = ({ url, publicUrl, networkUrls, wyoming, dataDir, database, disk }: MachineFacts) => ({
  url,
  public_url: publicUrl,
  network_urls: networkUrls,
  wyoming: wyoming === null ? null : `${wyoming.host}:${wyoming.port}`,
  data_dir: dataDir,
  database,
  disk: disk === null ? null : { free_bytes: disk.freeBytes, total_bytes: disk.totalBytes },
})

const boxRecord = ({ id, name, isThisOne, leaseLeftMs, report }: BoxStatus) => ({
  id,
  name,
  is_this_one: isThisOne,
  state: leaseLeftMs > 0 ? (report?.readiness ?? 'starting') : 'gone',
  lease_seconds_left: Math.max(0, Math.floor(leaseLeftMs / 1000)),
  devices: [...new Set(report?.engines.map(({ device }) => device))],
  models: report?.models ?? [],
  queue: report?.queue ?? { running: 0, waiting: 0 },
})

const engineRecord = (engine: EngineStatus) => ({
  task: engine.task,
  state: engine.state,
  device: engine.device,
  device_reason: engine.deviceReason,
  active_streams: engine.activeStreams,
  restarts: engine.restarts,
  stalls: engine.stalls,
  last_error: engine.lastError,
  resident_bytes: engine.residentBytes,
  models: engine.models.map((model) => ({
    id: model.id,
    memory_bytes: model.memoryBytes,
    active_streams: model.activeStreams,
    idle_ms_left: model.idleMsLeft,
  })),
})

const maxReasonChars = 2000
const maxDetailChars = 200

/** Only what it says in words: causes hold stacks below their first line, and those are for the log itself. */
const warningRecord = ({ atMs, message, fields: { cause, ...others } }: Warning) => ({
  at: seconds(atMs),
  message,
  cause: typeof cause === 'string' ? shortened(cause, maxReasonChars) : null,
  details: Object.fromEntries(
    Object.entries(others)
      .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
      .map(([name, value]) => [name, shortened(String(value), maxDetailChars)]),
  ),
})

/** The first line, and no more of it than can be read. */
function shortened(text: string, maxChars: number): string {
  const [line = ''] = text.split('\n')
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line
}
