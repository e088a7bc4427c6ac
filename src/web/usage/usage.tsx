/**
 * Shows what was used by day, and by whom: an account's own by key, and for administrators all accounts or one of
 * them.
 */
import { useState } from 'preact/hooks'
import { Select } from '../operations/filters.tsx'
import { Choice, Facts, Head, Progressing } from '../parts/controls.tsx'
import { Empty } from '../parts/empty.tsx'
import { count, dollars, duration } from '../parts/format.ts'
import { useLoaded } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import { type Column, Table } from '../parts/table.tsx'
import { mayAdminister, seesMoney, type Who } from '../session.ts'
import { type Day, UsagePlot } from './plot.tsx'

interface Result {
  object: string
  num_model_requests?: number
  num_clones?: number
  characters?: number
  audio_seconds?: number
  seconds?: number
  charged_micros: number
  api_key_id: string | null
  /** The account, where they were asked for. */
  user_id: string | null
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

export function UsagePage({ who }: PageProps) {
  const isAdmin = mayAdminister(who)
  const [span, setSpan] = useState<keyof typeof days>('month')
  /** Its name; empty: all of them. */
  const [account, setAccount] = useState('')
  const accounts = useLoaded<{ data: { id: string; name: string }[] }>(isAdmin ? '/console/api/admin/accounts' : null)
  const keys = useLoaded<{ data: { id: string; name: string }[] }>(
    isAdmin ? '/console/api/admin/keys' : '/console/api/keys',
  )
  const usage = useLoaded<UsagePageRecord>(pathOf({ isAdmin, account, span: days[span] }))
  const named = [...(accounts.value?.data ?? []), ...(keys.value?.data ?? [])]
  const nameOf = (id: string | null) => named.find((one) => one.id === id)?.name ?? id ?? 'none'
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
      {isAdmin ? (
        <div class="narrow">
          <Select
            label="Account"
            value={account}
            options={[['', 'All accounts'], ...(accounts.value?.data ?? []).map(({ name }) => [name, name] as const)]}
            onChange={setAccount}
          />
        </div>
      ) : null}
      <Progressing of={isAdmin ? [usage, keys, accounts] : [usage, keys]} />
      {usage.value === null ? null : <Used usage={usage.value} nameOf={nameOf} who={who} />}
    </div>
  )
}

interface Asked {
  isAdmin: boolean
  account: string
  span: number
}

function pathOf({ isAdmin, account, span }: Asked): string {
  const dayS = 86_400
  const start = (Math.floor(Date.now() / 1000 / dayS) - span + 1) * dayS
  const query = new URLSearchParams({ start_time: String(start), bucket_width: '1d', limit: String(span) })
  query.set('group_by', isAdmin && account === '' ? 'user_id' : 'api_key_id')
  if (account !== '') query.set('account', account)
  return `${isAdmin ? '/v1/admin/usage' : '/v1/usage'}?${query}`
}

interface UsedProps {
  usage: UsagePageRecord
  nameOf: (id: string | null) => string
  who: Who
}

function Used({ usage, nameOf, who }: UsedProps) {
  const results = usage.data.flatMap((day) => day.results)
  // As the answer has it: while the next one is on its way, the last one is shown.
  const by = results.some(({ user_id: id }) => id !== null) ? 'account' : 'key'
  const rows = [...Map.groupBy(results, (result) => (by === 'account' ? result.user_id : result.api_key_id))]
  if (rows.length === 0) {
    return (
      <section class="card">
        <Empty
          title="No usage in this period"
          action={
            <a class="button" href="#/speak">
              Speak something
            </a>
          }
        >
          What is spoken, transcribed and cloned is counted here, day by day.
        </Empty>
      </section>
    )
  }
  return (
    <>
      <Facts facts={factsOf(usage, who)} />
      <section class="card">
        <div class="row apart">
          <h2>By day</h2>
          <span class="hint">Days in UTC</span>
        </div>
        <UsagePlot days={daysOf(usage)} />
      </section>
      <section class="card">
        <h2>{by === 'account' ? 'By account' : 'By key'}</h2>
        <Table
          label={`Usage by ${by}`}
          rows={rows}
          idOf={([id]) => id ?? ''}
          columns={columnsFor(by, nameOf, seesMoney(who))}
        />
      </section>
    </>
  )
}

function factsOf({ totals, balance_micros: balance }: UsagePageRecord, who: Who): [string, string][] {
  const money: [string, string][] = seesMoney(who) ? [['Charged', dollars(totals.charged_micros)]] : []
  return [
    ['Characters', count(totals.speech.characters)],
    ['Audio generated', duration(totals.speech.audio_seconds)],
    ['Audio transcribed', duration(totals.transcription.seconds)],
    ['Clones', count(totals.clones.requests)],
    ...money,
    ...(balance === null ? [] : [['Balance', dollars(balance)] satisfies [string, string]]),
  ]
}

const sum = (results: readonly Result[], of: (result: Result) => number | undefined): number =>
  results.reduce((total, result) => total + (of(result) ?? 0), 0)

const daysOf = ({ data }: UsagePageRecord): Day[] =>
  data.map(({ start_time: start, results }) => ({
    start,
    madeSeconds: sum(results, (result) => result.audio_seconds),
    heardSeconds: sum(results, (result) => result.seconds),
  }))

type Row = readonly [string | null, Result[]]

const figure = (name: string, of: (results: Result[]) => string): Column<Row> => ({
  name,
  isRight: true,
  cell: ([, results]) => of(results),
})

const columnsFor = (by: 'account' | 'key', nameOf: UsedProps['nameOf'], withMoney: boolean): Column<Row>[] => [
  { name: by === 'account' ? 'Account' : 'Key', kind: 'name', cell: ([id]) => <bdi>{nameOf(id)}</bdi> },
  figure('Requests', (results) => count(sum(results, (one) => one.num_model_requests ?? one.num_clones))),
  figure('Characters', (results) => count(sum(results, (one) => one.characters))),
  figure('Audio generated', (results) => duration(sum(results, (one) => one.audio_seconds))),
  figure('Audio transcribed', (results) => duration(sum(results, (one) => one.seconds))),
  ...(withMoney ? [figure('Charged', (results) => dollars(sum(results, (one) => one.charged_micros)))] : []),
]
