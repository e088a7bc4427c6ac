/** The keys of all accounts, and revoking one. */
import { useState } from 'preact/hooks'
import { announce } from './announce.tsx'
import { send } from './api.ts'
import { Ask } from './dialog.tsx'
import type { Who } from './session.ts'
import { ago, moment } from './words.ts'

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
      <div class="scroll" tabIndex={0} role="region" aria-label="Keys">
        <table>
          <thead>
            <tr>
              <th>Account</th>
              <th>Name</th>
              <th>Key</th>
              <th>May use</th>
              <th>Last used</th>
              <th>State</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <Row key={key.id} record={key} onRevoke={() => setAsking(key)} />
            ))}
          </tbody>
        </table>
      </div>
      {asking === null ? null : (
        <Ask
          title={`Revoke ${asking.name}?`}
          action="Revoke the key"
          busy="Revoking…"
          refusal="Keep it"
          isDestructive
          onYes={revoke}
          onClose={() => setAsking(null)}
        >
          <p>
            Whatever uses <code>{asking.prefix}…</code> stops working at once. A revoked key never works again.
          </p>
          {asking.id === who.key.id ? (
            <p class="note">You are signed in with this very key: you will be signed out.</p>
          ) : null}
        </Ask>
      )}
    </>
  )
}

function Row({ record, onRevoke }: { record: KeyRecord; onRevoke: () => void }) {
  const { name, account, prefix, scopes, last_used_at: usedAt } = record
  return (
    <tr>
      <td class="name">
        <bdi>{account}</bdi>
      </td>
      <td class="name">
        <bdi>{name}</bdi>
      </td>
      <td>
        <code>{prefix}…</code>
      </td>
      <td>{scopes === null ? 'everything' : scopes.join(', ')}</td>
      <td class="brief">{usedAt === null ? 'never' : ago(usedAt, Date.now())}</td>
      <td>
        <State record={record} onRevoke={onRevoke} />
      </td>
    </tr>
  )
}

function State({ record, onRevoke }: { record: KeyRecord; onRevoke: () => void }) {
  const { name, expires_at: expiresAt, revoked_at: revokedAt } = record
  if (revokedAt !== null) return <span class="tag bad">revoked</span>
  const isExpired = expiresAt !== null && expiresAt * 1000 <= Date.now()
  return (
    <div class="row end">
      {isExpired ? <span class="tag bad">expired</span> : null}
      {expiresAt === null || isExpired ? null : <span class="hint">until {moment(expiresAt)}</span>}
      <button class="small" aria-label={`Revoke ${name}`} onClick={onRevoke}>
        Revoke
      </button>
    </div>
  )
}
