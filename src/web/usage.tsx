/** What this account used and was charged: by day, by key, and operation by operation. */
import { useState } from 'preact/hooks'
import type { PageProps } from './frame.tsx'
import { useLoaded } from './loading.ts'
import { OperationsTable } from './operations-table.tsx'
import { Choice, Facts, Head, Problem } from './parts.tsx'
import { UsagePlot } from './usage-plot.tsx'
import { count, dollars, duration } from './words.ts'

interface Result {
  object: string
  num_model_requests?: number
  num_clones?: number
  characters?: number
  audio_seconds?: number
  seconds?: number
  charged_micros: number
  api_key_id: string | null
}

interface UsagePageRecord {
  data: { start_time: number; results: Result[] }[]
  totals: {
    speech: { requests: number; characters: number; audio_seconds: number }
    transcription: { requests: number; seconds: number }
    clones: { requests: number; free: number }
    charged_micros: number
  }
  balance_micros: number | null
}

const days = { week: 7, month: 30, quarter: 90 } as const

export function UsagePage(_props: PageProps) {
  const [span, setSpan] = useState<keyof typeof days>('month')
  const dayS = 86_400
  const start = (Math.floor(Date.now() / 1000 / dayS) - days[span] + 1) * dayS
  const query = `start_time=${start}&bucket_width=1d&group_by=api_key_id&limit=${days[span]}`
  const usage = useLoaded<UsagePageRecord>(`/v1/usage?${query}`)
  const keys = useLoaded<{ data: { id: string; name: string; prefix: string }[] }>('/console/api/keys')
  const totals = usage.value?.totals
  const nameOf = (id: string | null) => keys.value?.data.find((key) => key.id === id)?.name ?? id ?? 'none'
  return (
    <div class="page">
      <Head title="Usage" about="Charges are settled sums; work that failed by our fault costs nothing.">
        <Choice
          label="Span"
          value={span}
          options={[
            ['week', '7 days'],
            ['month', '30 days'],
            ['quarter', '90 days'],
          ]}
          onChange={setSpan}
        />
      </Head>
      <Problem error={usage.error ?? keys.error} />
      {totals === undefined ? null : <Facts facts={factsOf(totals, usage.value?.balance_micros ?? null)} />}
      <section class="card">
        <h2>By day</h2>
        {usage.value === null ? null : <UsagePlot days={daysOf(usage.value)} />}
      </section>
      <section class="card">
        <h2>By key</h2>
        <ByKey rows={byKey(usage.value)} nameOf={nameOf} />
      </section>
      <section class="card">
        <h2>Operations</h2>
        <OperationsTable nameOf={nameOf} />
      </section>
    </div>
  )
}

const factsOf = (totals: UsagePageRecord['totals'], balanceMicros: number | null): [string, string][] => [
  ['Charged', dollars(totals.charged_micros)],
  ['Balance', balanceMicros === null ? 'unmetered' : dollars(balanceMicros)],
  ['Characters spoken', count(totals.speech.characters)],
  ['Audio made', duration(totals.speech.audio_seconds)],
  ['Audio heard', duration(totals.transcription.seconds)],
  ['Clones', `${count(totals.clones.requests)}, ${count(totals.clones.free)} free`],
]

export interface Day {
  start: number
  chargedMicros: number
  madeSeconds: number
  heardSeconds: number
}

const sum = (results: readonly Result[], of: (result: Result) => number | undefined): number =>
  results.reduce((total, result) => total + (of(result) ?? 0), 0)

const daysOf = ({ data }: UsagePageRecord): Day[] =>
  data.map(({ start_time: start, results }) => ({
    start,
    chargedMicros: sum(results, (result) => result.charged_micros),
    madeSeconds: sum(results, (result) => result.audio_seconds),
    heardSeconds: sum(results, (result) => result.seconds),
  }))

function byKey(usage: UsagePageRecord | null): [string | null, Result[]][] {
  const results = (usage?.data ?? []).flatMap((day) => day.results)
  return [...Map.groupBy(results, (result) => result.api_key_id)]
}

interface ByKeyProps {
  rows: readonly [string | null, Result[]][]
  nameOf: (id: string | null) => string
}

const ByKey = ({ rows, nameOf }: ByKeyProps) =>
  rows.length === 0 ? (
    <p class="empty">Nothing was used in this span.</p>
  ) : (
    <div class="scroll" tabIndex={0} role="region" aria-label="Usage by key">
      <table>
        <thead>
          <tr>
            <th>Key</th>
            <th class="right">Requests</th>
            <th class="right">Characters</th>
            <th class="right">Audio made</th>
            <th class="right">Audio heard</th>
            <th class="right">Charged</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([id, results]) => (
            <tr key={id ?? ''}>
              <td>{nameOf(id)}</td>
              <td class="right">{count(sum(results, (one) => one.num_model_requests ?? one.num_clones))}</td>
              <td class="right">{count(sum(results, (one) => one.characters))}</td>
              <td class="right">{duration(sum(results, (one) => one.audio_seconds))}</td>
              <td class="right">{duration(sum(results, (one) => one.seconds))}</td>
              <td class="right">{dollars(sum(results, (one) => one.charged_micros))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
