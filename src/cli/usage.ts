/** `myna usage`: who had how much work done, as the ledger holds it, by account and day, with a plot of the days. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../domain/time.ts'
import type { ListedUsage } from '../service/accounts.ts'
import { momentForms, momentMs } from '../domain/time.ts'
import { withAdministration } from './administration.ts'
import { count, day, dollars, duration } from './terminal/format.ts'
import { globalsOf } from './globals.ts'
import { bars, table } from './terminal/table.ts'
import { bold, dim, report, terminalColumns } from './terminal/terminal.ts'

const dayMs = 86_400_000
/** Of a plot that shows days without work too. */
const maxPlotDays = 62

export function usageCommand(): Command {
  return new Command('usage')
    .option('--account <name>', 'only this account')
    .addOption(new Option('--since <when>', `first day: ${momentForms}`).argParser(since).default(since('30d'), '30d'))
    .addHelpText(
      'after',
      `
Days are in UTC. Work that was refused or failed is free, and its characters are not
counted.

Examples:
  myna usage
  myna usage --since 7d --account alice
  myna usage --since 2026-01-01 --json`,
    )
    .action(async (options: { account?: string; since: number }, command: Command) => {
      const { json, config } = globalsOf(command)
      const startMs = Math.floor(options.since / dayMs) * dayMs
      const endMs = systemClock.nowMs() + 1
      const request = {
        account: options.account ?? null,
        startMs,
        endMs,
        bucketMs: dayMs,
        groupBy: ['account'] as const,
      }
      const rows = await withAdministration(config, false, (verbs) => verbs.usage(request))
      const result = { startMs, endMs, bucketMs: dayMs, rows, totals: sum(rows) }
      report(json, result, () => usageText(rows, startMs, endMs))
    })
}

function since(text: string): number {
  const nowMs = systemClock.nowMs()
  const timeMs = momentMs(text, nowMs, -1)
  if (timeMs === null || timeMs < 0) throw new InvalidArgumentError(`Expected ${momentForms}.`)
  if (timeMs > nowMs) throw new InvalidArgumentError('Expected a time in the past.')
  return timeMs
}

interface Sums {
  requests: number
  characters: number
  /** Of speech. */
  audioMs: number
  /** Transcribed. */
  heardMs: number
  clones: number
  chargedMicros: number
  refundedMicros: number
}

const sum = (rows: readonly ListedUsage[]): Sums => ({
  requests: total(rows, (row) => row.requests),
  characters: total(rows, (row) => row.characters),
  audioMs: total(rows, (row) => (row.type === 'speech' ? row.audioMs : 0)),
  heardMs: total(rows, (row) => (row.type === 'transcription' ? row.audioMs : 0)),
  clones: total(rows, (row) => (row.type === 'clone' ? row.requests : 0)),
  chargedMicros: total(rows, (row) => row.chargedMicros),
  refundedMicros: total(rows, (row) => row.refundedMicros),
})

const total = (rows: readonly ListedUsage[], field: (row: ListedUsage) => number): number =>
  rows.reduce((sofar, row) => sofar + field(row), 0)

function usageText(rows: readonly ListedUsage[], startMs: number, endMs: number): string {
  const span = `${day(startMs)} to ${day(endMs)}`
  if (rows.length === 0) return `No usage from ${span}.`
  const columns = [
    { title: 'DAY' },
    { title: 'ACCOUNT', least: 8 },
    { title: 'REQUESTS', right: true, leaves: 2 },
    { title: 'CHARACTERS', right: true },
    { title: 'AUDIO', right: true, leaves: 3 },
    { title: 'HEARD', right: true, leaves: 4 },
    { title: 'CLONES', right: true, leaves: 1 },
    { title: 'CHARGED', right: true },
  ]
  const groups = Map.groupBy(rows, (row) => `${day(row.bucketStartMs)} ${row.accountName}`)
  const lines = [...groups.values()].map((group) => [
    day(group[0]?.bucketStartMs ?? 0),
    group[0]?.accountName ?? '',
    ...cells(sum(group)),
  ])
  const accounts = [...Map.groupBy(rows, (row) => row.accountName ?? '').entries()]
  const totals = accounts.length < 2 ? [] : accounts.map(([name, own]) => ['total', name, ...cells(sum(own))])
  const grand = ['total', accounts.length < 2 ? '' : 'together', ...cells(sum(rows))]
  return [table(columns, [...lines, ...totals, grand]), '', plot(rows, startMs, endMs)].join('\n')
}

const cells = (sums: Sums): string[] => [
  count(sums.requests),
  count(sums.characters),
  sums.audioMs === 0 ? '-' : duration(sums.audioMs),
  sums.heardMs === 0 ? '-' : duration(sums.heardMs),
  sums.clones === 0 ? '-' : count(sums.clones),
  dollars(sums.chargedMicros),
]

/** Characters of each day as bars, from the first day with work on; requests where nothing was spoken. */
function plot(rows: readonly ListedUsage[], startMs: number, endMs: number): string {
  const spoken = rows.some((row) => row.characters > 0)
  const byDay = Map.groupBy(rows, (row) => row.bucketStartMs)
  const everyDay = Array.from({ length: Math.ceil((endMs - startMs) / dayMs) }, (_, at) => startMs + at * dayMs)
  const first = Math.min(...byDay.keys())
  const since = everyDay.filter((dayStartMs) => dayStartMs >= first)
  const days = since.length > maxPlotDays ? [...byDay.keys()] : since
  const values = days.map((dayStartMs) => {
    const sums = sum(byDay.get(dayStartMs) ?? [])
    return spoken ? sums.characters : sums.requests
  })
  const width = Math.max(10, Math.min(60, terminalColumns() - 30))
  const drawn = bars(values, width)
  const lines = days.map((dayStartMs, at) => {
    const value = values[at] ?? 0
    return value === 0 ? dim(day(dayStartMs)) : `${day(dayStartMs)}  ${drawn[at]} ${count(value)}`
  })
  return [bold(`${spoken ? 'Characters' : 'Requests'} per day`), ...lines].join('\n')
}
