/** Speech and clones of the account, the newest first, each with what became of it and what it cost. */
import { useState } from 'preact/hooks'
import { announce } from '../parts/announce.tsx'
import { useLoaded } from '../parts/loading.ts'
import { Progressing } from '../parts/controls.tsx'
import { cancel } from '../speak/speech.ts'
import { type Column, Table } from '../parts/table.tsx'
import { ago, count, dollars } from '../parts/format.ts'

interface ListedOperation {
  id: string
  type: 'speech' | 'clone'
  state: 'pending' | 'terminal'
  outcome: string | null
  model: string
  input_chars: number
  charged_micros: number
  created_at: number
  key_id: string
}

const pageSize = 20
const lookMs = 4000

export function OperationsTable({ nameOf }: { nameOf: (keyId: string) => string }) {
  /** The cursor of each page after the first: the id of the last operation before it. */
  const [pages, setPages] = useState<readonly string[]>([])
  const before = pages.at(-1)
  const loaded = useLoaded<{ data: ListedOperation[]; has_more: boolean }>(
    `/v1/operations?limit=${pageSize}${before === undefined ? '' : `&before=${before}`}`,
    lookMs,
  )
  const { value, reload } = loaded
  const stop = async (id: string) => {
    await cancel(id)
    reload()
    announce('The operation was cancelled.')
  }
  const last = value?.data.at(-1)
  if (value === null) return <Progressing of={[loaded]} />
  if (value.data.length === 0 && before === undefined) return <p class="empty">No requests yet.</p>
  return (
    <>
      <Progressing of={[loaded]} />
      <Table
        label="Operations"
        rows={value.data}
        idOf={({ id }) => id}
        columns={columnsFor(nameOf, (id) => void stop(id))}
      />
      {before === undefined && !value.has_more ? null : (
        <div class="row">
          <button class="small" disabled={before === undefined} onClick={() => setPages(pages.slice(0, -1))}>
            Newer
          </button>
          <button
            class="small"
            disabled={!value.has_more || last === undefined}
            onClick={() => last !== undefined && setPages([...pages, last.id])}
          >
            Older
          </button>
          <span class="hint">Page {count(pages.length + 1)}</span>
        </div>
      )}
    </>
  )
}

const columnsFor = (nameOf: (keyId: string) => string, stop: (id: string) => void): Column<ListedOperation>[] => [
  { name: 'When', kind: 'brief', cell: ({ created_at: at }) => ago(at, Date.now()) },
  { name: 'What', cell: ({ type, model }) => `${type}, ${model}` },
  { name: 'Outcome', cell: (operation) => <Outcome operation={operation} onStop={stop} /> },
  { name: 'Key', kind: 'name', cell: ({ key_id: keyId }) => <bdi>{nameOf(keyId)}</bdi> },
  {
    name: 'Characters',
    isRight: true,
    cell: ({ type, input_chars: chars }) => (type === 'speech' ? count(chars) : null),
  },
  { name: 'Charge', isRight: true, cell: ({ charged_micros: charged }) => dollars(charged) },
  { name: 'Id', kind: 'brief', cell: ({ id }) => <code>{id}</code> },
]

interface OutcomeProps {
  operation: ListedOperation
  onStop: (id: string) => void
}

function Outcome({ operation: { id, outcome }, onStop }: OutcomeProps) {
  if (outcome !== null) {
    return <span class={outcome === 'completed' ? 'tag good' : 'tag bad'}>{outcome.replaceAll('_', ' ')}</span>
  }
  return (
    <div class="row">
      <span class="tag busy">pending</span>
      <button class="small" aria-label={`Cancel ${id}`} onClick={() => onStop(id)}>
        Cancel
      </button>
    </div>
  )
}
