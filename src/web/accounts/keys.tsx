/** The keys of all accounts, and revoking one. */
import { useState } from 'preact/hooks'
import { announce } from '../parts/announce.tsx'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import type { Who } from '../session.ts'
import { type Column, Table } from '../parts/table.tsx'
import { scopes as known } from './key-form.tsx'
import { ago, moment } from '../parts/format.ts'

export interface KeyRecord {
  id: string
  name: string
  prefix: string
  scopes: string[] | null
  account: string
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
}

interface TableProps {
  keys: readonly KeyRecord[]
  who: Who
  onChanged: () => void
}

export function KeysTable({ keys, who, onChanged }: TableProps) {
  const [asking, setAsking] = useState<KeyRecord | null>(null)
  const revoke = async () => {
    if (asking === null) return
    await send('DELETE', `/console/api/admin/keys/${asking.id}`)
    setAsking(null)
    onChanged()
    announce(`The key ${asking.name} is revoked.`)
  }
  return (
    <>
      <Table label="Keys" rows={keys.toSorted(workingFirst)} idOf={({ id }) => id} columns={columnsFor(setAsking)} />
      {asking === null ? null : (
        <Ask
          title={`Revoke the key ${asking.name}?`}
          action="Revoke key"
          busy="Revoking…"
          refusal="Cancel"
          isDestructive
          onYes={revoke}
          onClose={() => setAsking(null)}
        >
          <p>
            Everything that uses <code>{asking.prefix}…</code> stops working immediately. A revoked key never works
            again.
          </p>
          {asking.id === who.key.id ? (
            <p class="note">You are signed in with this very key: you will be signed out.</p>
          ) : null}
        </Ask>
      )}
    </>
  )
}

const workingFirst = (a: KeyRecord, b: KeyRecord): number =>
  Number(a.revoked_at !== null) - Number(b.revoked_at !== null)

const columnsFor = (revoke: (key: KeyRecord) => void): Column<KeyRecord>[] => [
  { name: 'Account', kind: 'name', cell: ({ account }) => <bdi>{account}</bdi> },
  { name: 'Name', kind: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { name: 'Key', kind: 'brief', cell: ({ prefix }) => <code>{prefix}…</code> },
  { name: 'Permissions', cell: ({ scopes }) => mayOf(scopes) },
  {
    name: 'Last used',
    kind: 'brief',
    cell: ({ last_used_at: usedAt }) => (usedAt === null ? 'never' : ago(usedAt, Date.now())),
  },
  { name: 'Expires', kind: 'brief', cell: Expiry },
  {
    name: 'Actions',
    kind: 'acts',
    cell: (key) =>
      key.revoked_at === null ? (
        <button class="small" aria-label={`Revoke ${key.name} of ${key.account}`} onClick={() => revoke(key)}>
          Revoke
        </button>
      ) : (
        <span class="tag bad">revoked</span>
      ),
  },
]

/** In the words of the form that makes a key, in brief. */
const mayOf = (scopes: readonly string[] | null): string =>
  scopes === null
    ? 'full access'
    : known.flatMap(([scope, , brief]) => (scopes.includes(scope) ? [brief] : [])).join(', ')

function Expiry({ expires_at: expiresAt }: KeyRecord) {
  if (expiresAt === null) return 'never'
  return expiresAt * 1000 > Date.now() ? moment(expiresAt) : <span class="tag bad">expired</span>
}
