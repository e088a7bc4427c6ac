/** Recent speech and clones of the account, each with what became of it and what it cost. */
import { useState } from 'preact/hooks'
import { useLoaded } from './loading.ts'
import { Problem } from './parts.tsx'
import { cancel } from './speech.ts'
import { ago, count, dollars } from './words.ts'

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
  const [limit, setLimit] = useState(pageSize)
  const { value, error, reload } = useLoaded<{ data: ListedOperation[]; has_more: boolean }>(
    `/console/api/operations?limit=${limit}`,
    lookMs,
  )
  const stop = (id: string) => void cancel(id).then(reload)
  if (value === null) return <Problem error={error} />
  if (value.data.length === 0) return <p class="empty">No operation is on record.</p>
  return (
    <>
      <Problem error={error} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Recent operations">
        <table>
          <thead>
            <tr>
              <th>When</th>
              <th>What</th>
              <th>Outcome</th>
              <th>Key</th>
              <th class="right">Characters</th>
              <th class="right">Charge</th>
              <th>
                <span class="hint">Id</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.data.map((operation) => (
              <Row key={operation.id} operation={operation} keyName={nameOf(operation.key_id)} onStop={stop} />
            ))}
          </tbody>
        </table>
      </div>
      {value.has_more && limit < 200 ? (
        <button class="small" onClick={() => setLimit(Math.min(200, limit + pageSize))}>
          Show more
        </button>
      ) : null}
    </>
  )
}

interface RowProps {
  operation: ListedOperation
  keyName: string
  onStop: (id: string) => void
}

function Row({ operation, keyName, onStop }: RowProps) {
  const { id, type, model, outcome } = operation
  const kind = outcome === null ? 'tag busy' : outcome === 'completed' ? 'tag good' : 'tag bad'
  return (
    <tr>
      <td>{ago(operation.created_at, Date.now())}</td>
      <td>
        {type}, {model}
      </td>
      <td>
        <span class={kind}>{(outcome ?? 'pending').replaceAll('_', ' ')}</span>{' '}
        {outcome === null ? (
          <button class="small" onClick={() => onStop(id)}>
            Cancel
          </button>
        ) : null}
      </td>
      <td>{keyName}</td>
      <td class="right">{type === 'speech' ? count(operation.input_chars) : ''}</td>
      <td class="right">{dollars(operation.charged_micros)}</td>
      <td>
        <code>{id}</code>
      </td>
    </tr>
  )
}
