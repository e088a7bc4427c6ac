/** Speech requests and clones while their records are kept: an account's own, and for administrators those of all. */
import { useState } from 'preact/hooks'
import { Head, Progressing } from '../parts/controls.tsx'
import { Empty } from '../parts/empty.tsx'
import { ago, count, dollars } from '../parts/format.ts'
import { useLoaded } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import { type Column, Table } from '../parts/table.tsx'
import { mayAdminister, seesMoney, type Who } from '../session.ts'
import { Detail } from './detail.tsx'
import { everything, Filters, queryOf, type Wanted } from './filters.tsx'
import { Outcome } from './outcome.tsx'
import { type OperationRecord, operationsPath } from './record.ts'

const pageSize = 20
const lookMs = 4000

export function OperationsPage({ who }: PageProps) {
  const isAdmin = mayAdminister(who)
  const [{ wanted, pages, beganS }, setPlace] = useState(() => placeFor(everything))
  const choose = (next: Wanted) => setPlace(placeFor(next))
  const about = isAdmin
    ? 'Speech and clones of all accounts. Records are kept for an hour, or a day with an idempotency key.'
    : 'Your speech and clones. Records are kept for an hour, or a day with an idempotency key.'
  return (
    <div class="page">
      <Head title="Operations" about={about} />
      <section class="card" aria-label="Filters">
        <Filters wanted={wanted} isAdmin={isAdmin} onChange={choose} />
      </section>
      <List
        who={who}
        place={{ wanted, pages, beganS }}
        onTurn={(next) => setPlace({ wanted, beganS, pages: next })}
        onClear={() => choose(everything)}
      />
    </div>
  )
}

interface Place {
  wanted: Wanted
  /** The cursor of each page after the first: the id of the last operation before it. */
  pages: readonly string[]
  /** Unix time from which ages are counted. */
  beganS: number
}

const placeFor = (wanted: Wanted): Place => ({ wanted, pages: [], beganS: Math.floor(Date.now() / 1000) })

interface ListProps {
  who: Who
  place: Place
  onTurn: (pages: readonly string[]) => void
  onClear: () => void
}

/** What was shown stays until the next answer is here, so that nothing jumps. */
function List({ who, place: { wanted, pages, beganS }, onTurn, onClear }: ListProps) {
  const isAdmin = mayAdminister(who)
  const [open, setOpen] = useState<string | null>(null)
  const before = pages.at(-1)
  const query = queryOf(wanted, beganS)
  query.set('limit', String(pageSize))
  if (before !== undefined) query.set('before', before)
  const loaded = useLoaded<{ data: OperationRecord[]; has_more: boolean }>(
    `${operationsPath(isAdmin)}?${query}`,
    lookMs,
  )
  const { value, reload } = loaded
  if (value === null) return <Progressing of={[loaded]} />
  if (value.data.length === 0 && before === undefined) {
    return (
      <>
        <Progressing of={[loaded]} />
        <section class="card">
          <Nothing isFiltered={JSON.stringify(wanted) !== JSON.stringify(everything)} onClear={onClear} />
        </section>
      </>
    )
  }
  const last = value.data.at(-1)
  const shown = value.data.find(({ id }) => id === open)
  return (
    <section class="card">
      <Progressing of={[loaded]} />
      <Table label="Operations" rows={value.data} idOf={({ id }) => id} columns={columnsFor(who, setOpen)} />
      {before === undefined && !value.has_more ? null : (
        <div class="row">
          <button class="small" disabled={before === undefined} onClick={() => onTurn(pages.slice(0, -1))}>
            Newer
          </button>
          <button
            class="small"
            disabled={!value.has_more || last === undefined}
            onClick={() => last !== undefined && onTurn([...pages, last.id])}
          >
            Older
          </button>
          <span class="hint">Page {count(pages.length + 1)}</span>
        </div>
      )}
      {shown === undefined ? null : (
        <Detail operation={shown} who={who} onClose={() => setOpen(null)} onChanged={reload} />
      )}
    </section>
  )
}

const Nothing = ({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) =>
  isFiltered ? (
    <Empty title="No operation fits these filters" action={<button onClick={onClear}>Clear filters</button>}>
      Records are removed an hour after their end.
    </Empty>
  ) : (
    <Empty
      title="No requests yet"
      action={
        <a class="button" href="#/speak">
          Speak something
        </a>
      }
    >
      Each speech request and each clone shows up here, with what became of it.
    </Empty>
  )

function columnsFor(who: Who, open: (id: string) => void): Column<OperationRecord>[] {
  const charge: Column<OperationRecord> = {
    name: 'Charge',
    isRight: true,
    isWide: true,
    cell: ({ charged_micros: charged }) => dollars(charged),
  }
  const account: Column<OperationRecord> = {
    name: 'Account',
    kind: 'name',
    cell: ({ account, key }) => (
      <>
        <bdi>{account}</bdi> <span class="hint">{key}</span>
      </>
    ),
  }
  return [
    { name: 'When', kind: 'brief', cell: ({ created_at: at }) => ago(at, Date.now()) },
    ...(mayAdminister(who) ? [account] : []),
    { name: 'What', cell: ({ type, model }) => `${type}, ${model}` },
    { name: 'Outcome', kind: 'brief', cell: ({ outcome }) => <Outcome outcome={outcome} /> },
    {
      name: 'Characters',
      isRight: true,
      isWide: true,
      cell: ({ type, input_chars: chars }) => (type === 'speech' ? count(chars) : null),
    },
    ...(seesMoney(who) ? [charge] : []),
    { name: 'Id', kind: 'brief', isWide: true, cell: ({ id }) => <code title={id}>…{id.slice(-8)}</code> },
    {
      name: 'Actions',
      kind: 'acts',
      cell: ({ id }) => (
        <button class="small" aria-label={`Details of ${id}`} onClick={() => open(id)}>
          Details
        </button>
      ),
    },
  ]
}
