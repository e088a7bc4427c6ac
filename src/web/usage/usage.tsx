/** What this account used and was charged: by day, by key, and per operation. */
import { useState } from 'preact/hooks'
import { useLoaded } from '../parts/loading.ts'
import { OperationsTable } from './operations.tsx'
import { Choice, Facts, Head, Progressing } from '../parts/controls.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { type Day, UsagePlot } from './plot.tsx'
import { count, dollars, duration } from '../parts/format.ts'
import type { PageProps } from '../parts/page.ts'

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
  const nameOf = (id: string | null) => keys.value?.data.find((key) => key.id === id)?.name ?? id ?? 'none'
  return (
    <div class="page">
      <Head title="Usage" about="Failed requests are free.">
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
      <Progressing of={[usage, keys]} />
      {usage.value === null ? null : <Used usage={usage.value} nameOf={nameOf} />}
      <section class="card">
        <h2>Operations</h2>
        <OperationsTable nameOf={nameOf} />
      </section>
    </div>
  )
}

function Used({ usage, nameOf }: { usage: UsagePageRecord; nameOf: (id: string | null) => string }) {
  const rows = byKey(usage)
  return (
    <>
      <Facts facts={factsOf(usage.totals, usage.balance_micros)} />
      {rows.length === 0 ? (
        <p class="empty">No usage in this period.</p>
      ) : (
        <>
          <section class="card">
            <div class="row apart">
              <h2>By day</h2>
              <span class="hint">Days in UTC</span>
            </div>
            <UsagePlot days={daysOf(usage)} />
          </section>
          <section class="card">
            <h2>By key</h2>
            <ByKey rows={rows} nameOf={nameOf} />
          </section>
        </>
      )}
    </>
  )
}

const factsOf = (totals: UsagePageRecord['totals'], balanceMicros: number | null): [string, string][] => [
  ['Charged', dollars(totals.charged_micros)],
  ['Balance', balanceMicros === null ? 'unmetered' : dollars(balanceMicros)],
  ['Characters', count(totals.speech.characters)],
  ['Audio generated', duration(totals.speech.audio_seconds)],
  ['Audio transcribed', duration(totals.transcription.seconds)],
  ['Clones', `${count(totals.clones.requests)}, ${count(totals.clones.free)} free`],
]

const sum = (results: readonly Result[], of: (result: Result) => number | undefined): number =>
  results.reduce((total, result) => total + (of(result) ?? 0), 0)

const daysOf = ({ data }: UsagePageRecord): Day[] =>
  data.map(({ start_time: start, results }) => ({
    start,
    chargedMicros: sum(results, (result) => result.charged_micros),
    madeSeconds: sum(results, (result) => result.audio_seconds),
    heardSeconds: sum(results, (result) => result.seconds),
  }))

function byKey({ data }: UsagePageRecord): Row[] {
  const results = data.flatMap((day) => day.results)
  return [...Map.groupBy(results, (result) => result.api_key_id)]
}

type Row = readonly [string | null, Result[]]

interface ByKeyProps {
  rows: readonly Row[]
  nameOf: (id: string | null) => string
}

const ByKey = ({ rows, nameOf }: ByKeyProps) => (
  <Table label="Usage by key" rows={rows} idOf={([id]) => id ?? ''} columns={columnsFor(nameOf)} />
)

const figure = (name: string, of: (results: Result[]) => string): Column<Row> => ({
  name,
  isRight: true,
  cell: ([, results]) => of(results),
})

const columnsFor = (nameOf: ByKeyProps['nameOf']): Column<Row>[] => [
  { name: 'Key', kind: 'name', cell: ([id]) => <bdi>{nameOf(id)}</bdi> },
  figure('Requests', (results) => count(sum(results, (one) => one.num_model_requests ?? one.num_clones))),
  figure('Characters', (results) => count(sum(results, (one) => one.characters))),
  figure('Audio generated', (results) => duration(sum(results, (one) => one.audio_seconds))),
  figure('Audio transcribed', (results) => duration(sum(results, (one) => one.seconds))),
  figure('Charged', (results) => dollars(sum(results, (one) => one.charged_micros))),
]
