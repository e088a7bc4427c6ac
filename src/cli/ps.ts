/** `myna ps`: what the running server has in memory and is working on. */
import { Command } from 'commander'
import { cards } from '../catalog/cards.ts'
import { runsPartlyOnCpu, wholeOnCard } from '../catalog/catalog.ts'
import type { ServerStatus } from '../http/admin-socket.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import type { BoxStatus } from '../service/ports/boxes.ts'
import { serverStatus } from './administration.ts'
import { bytes, count, counted, duration } from './terminal/format.ts'
import { globalsOf } from './globals.ts'
import { table } from './terminal/table.ts'
import { bold, report } from './terminal/terminal.ts'

export function psCommand(): Command {
  return new Command('ps')
    .addHelpText(
      'after',
      `
An engine is a separate process that holds models. It starts with the first request
and frees its memory when it has been idle for a while.
Exits 1 if no server runs.`,
    )
    .action(async (_options, command: Command) => {
      const { json, config } = globalsOf(command)
      const server = await serverStatus(config.dataDir)
      if (server === null) process.exitCode = 1
      report(json, { server }, () =>
        server === null
          ? `No server runs on the data folder ${config.dataDir}. Start one: myna serve`
          : statusText(server),
      )
    })
}

/** For people: engines, and each model with its device and how long it stays. */
export function statusText(server: ServerStatus): string {
  const { running, waiting, use, gaps, shed } = server.queue
  const up = `up ${duration(server.uptimeMs)}`
  return [
    [`${bold(`Myna ${server.version}`)} at ${server.url}`, server.readiness, `process ${server.pid}`, up].join(', '),
    `Speech: ${count(running)} active, ${count(waiting)} queued, ${count(server.pendingOperations)} to be settled.`,
    `Load: ${Math.round(100 * use)} % of this machine. Since the start: ` +
      `${counted(gaps.count, 'gap')} in speech, ${counted(shed, 'request')} refused because it was full.`,
    '',
    engineTable(server.engines),
    ...server.engines.flatMap(engineNotes),
    ...server.troubles.map(({ words }) => words),
    ...server.engines.flatMap(weightNotes),
    ...(server.engines.some(hasModels) ? ['', modelTable(server.engines)] : []),
    ...(server.boxes === undefined ? [] : ['', boxTable(server.boxes)]),
  ].join('\n')
}

/** The servers that share the database, as each of them last said. */
function boxTable(boxes: readonly BoxStatus[]): string {
  const columns = [
    { title: 'BOX' },
    { title: 'STATE' },
    { title: 'ADDRESS' },
    { title: 'DEVICES', leaves: 3 },
    { title: 'ACTIVE', right: true },
    { title: 'QUEUED', right: true },
    { title: 'MODELS', right: true, leaves: 2 },
    { title: 'LEASE', right: true, leaves: 1 },
  ]
  const rows = boxes.map(({ name, isThisOne, leaseLeftMs, report: said }) => [
    isThisOne ? `${name} (this one)` : name,
    leaseLeftMs > 0 ? (said?.readiness ?? 'starting') : 'gone',
    said?.url ?? '-',
    [...new Set(said?.engines.map(({ device }) => device))].join(', ') || '-',
    count(said?.queue.running ?? 0),
    count(said?.queue.waiting ?? 0),
    count(said?.models.length ?? 0),
    leaseLeftMs > 0 ? duration(leaseLeftMs) : 'ran out',
  ])
  return table(columns, rows)
}

function engineTable(engines: readonly EngineStatus[]): string {
  const columns = [
    { title: 'ENGINE' },
    { title: 'STATE' },
    { title: 'PROCESS', right: true, leaves: 2 },
    { title: 'DEVICE', leaves: 4 },
    { title: 'MEMORY', right: true },
    { title: 'CARD', right: true, leaves: 3 },
    { title: 'ACTIVE', right: true },
    { title: 'RESTARTS', right: true, leaves: 1 },
  ]
  const rows = engines.map((engine) => [
    taskWords[engine.task],
    engine.state,
    engine.pid === null ? '-' : String(engine.pid),
    engine.device === 'unknown' ? '-' : engine.device,
    engine.residentBytes === null ? '-' : bytes(engine.residentBytes),
    engine.deviceMemory === null ? '-' : fullness(engine.deviceMemory),
    count(engine.activeStreams),
    count(engine.restarts),
  ])
  return table(columns, rows)
}

/** As in `myna models list`. */
const taskWords = { 'text-to-speech': 'speech', 'automatic-speech-recognition': 'transcription' } as const

const engineNotes = (engine: EngineStatus): string[] => [
  ...(engine.deviceReason === null
    ? []
    : [`${taskWords[engine.task]} runs on ${engine.device}: ${engine.deviceReason}`]),
  ...(engine.lastError === null ? [] : [`${taskWords[engine.task]} last failed: ${engine.lastError}`]),
]

/** Memory of a graphics card, by all programs. */
const fullness = ({ usedBytes, totalBytes }: { usedBytes: number; totalBytes: number }): string =>
  `${bytes(usedBytes)} of ${bytes(totalBytes)}`

/** Models that run only partly on a graphics card, and which ones would run there completely. */
function weightNotes({ models }: EngineStatus): string[] {
  return models.flatMap(({ id, device }) => {
    const card = cards.find((known) => known.id === id)
    if (device === 'cpu' || card === undefined || !runsPartlyOnCpu(card)) return []
    const [better] = wholeOnCard(cards, card)
    const remedy = better === undefined ? '' : `; ${better.id} does not: myna models pull ${better.id}`
    return [`${id} has 8-bit weights: on ${device} parts of it run on the CPU${remedy}`]
  })
}

const hasModels = ({ models, loading }: EngineStatus): boolean => models.length + loading.length > 0

function modelTable(engines: readonly EngineStatus[]): string {
  const columns = [
    { title: 'MODEL' },
    { title: 'DEVICE', leaves: 1 },
    { title: 'MEMORY', right: true, leaves: 3 },
    { title: 'ACTIVE', right: true, leaves: 2 },
    { title: 'UNLOADED IN' },
  ]
  const rows = engines.flatMap((engine) => [
    ...engine.models.map((model) => [
      model.id,
      model.device,
      bytes(model.memoryBytes),
      count(model.activeStreams),
      model.idleMsLeft !== null ? duration(model.idleMsLeft) : model.activeStreams > 0 ? 'in use' : 'never',
    ]),
    ...engine.loading.map((id) => [id, '-', '-', '-', 'loading']),
  ])
  return table(columns, rows)
}
