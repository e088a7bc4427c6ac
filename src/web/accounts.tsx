/** Accounts and keys, for administrators. A new key is shown once: the server keeps only its hash. */
import { useState } from 'preact/hooks'
import { AccountForm, KeyForm, type NewKey } from './account-forms.tsx'
import { send } from './api.ts'
import type { PageProps } from './frame.tsx'
import { useLoaded } from './loading.ts'
import { Dialog, Head, Problem } from './parts.tsx'
import { ago, dollars, moment } from './words.ts'

interface AccountRecord {
  id: string
  name: string
  is_admin: boolean
  balance_micros: number | null
  disabled_at: number | null
}

interface KeyRecord {
  id: string
  name: string
  prefix: string
  scopes: string[] | null
  account: string
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
}

export function AccountsPage(_props: PageProps) {
  const accounts = useLoaded<{ data: AccountRecord[] }>('/console/api/admin/accounts')
  const keys = useLoaded<{ data: KeyRecord[] }>('/console/api/admin/keys')
  const [open, setOpen] = useState<'account' | 'key' | null>(null)
  const [made, setMade] = useState<NewKey | null>(null)
  const reload = () => {
    accounts.reload()
    keys.reload()
  }
  const close = () => setOpen(null)
  const known = accounts.value?.data ?? []
  return (
    <div class="page">
      <Head title="Accounts" about="Accounts own voices and are charged; keys speak for them.">
        <div class="row">
          <button onClick={() => setOpen('account')}>New account</button>
          <button class="primary" onClick={() => setOpen('key')}>
            New key
          </button>
        </div>
      </Head>
      <Problem error={accounts.error ?? keys.error} />
      <section class="card">
        <h2>Accounts</h2>
        <AccountsTable accounts={known} onChanged={reload} />
      </section>
      <section class="card">
        <h2>Keys</h2>
        <KeysTable keys={keys.value?.data ?? []} onChanged={reload} />
      </section>
      {open === 'account' ? <AccountForm onClose={close} onMade={reload} /> : null}
      {open === 'key' ? (
        <KeyForm
          accounts={known.filter(({ disabled_at: disabledAt }) => disabledAt === null).map(({ name }) => name)}
          onClose={close}
          onMade={(key) => {
            setMade(key)
            reload()
          }}
        />
      ) : null}
      {made === null ? null : <ShownOnce made={made} onClose={() => setMade(null)} />}
    </div>
  )
}

function ShownOnce({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const [copied, setCopied] = useState(false)
  const copy = () => void navigator.clipboard.writeText(made.secret).then(() => setCopied(true))
  return (
    <Dialog title={`The key of ${made.account}`} onClose={onClose}>
      <p>Copy it now: it is shown this once and cannot be shown again.</p>
      <p class="note">
        <code>{made.secret}</code>
      </p>
      <div class="row">
        <button class="primary" onClick={copy}>
          {copied ? 'Copied' : 'Copy'}
        </button>
        <button onClick={onClose}>Done</button>
      </div>
    </Dialog>
  )
}

function AccountsTable({ accounts, onChanged }: { accounts: readonly AccountRecord[]; onChanged: () => void }) {
  const [error, setError] = useState<Error | null>(null)
  const change = (verb: string, body: unknown) =>
    void send('POST', `/console/api/admin/accounts/${verb}`, body).then(onChanged, setError)
  const credit = (name: string) => {
    const given = prompt(`How many dollars does ${name} get?`, '10')
    if (given !== null) change('credit', { name, amount_micros: Math.round(Number(given) * 1e6) })
  }
  const disable = (name: string) => {
    if (confirm(`Disable ${name}? Its keys stop working at once, and it cannot be undone here.`)) {
      change('disable', { name })
    }
  }
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Accounts">
      <Problem error={error} />
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Role</th>
            <th class="right">Balance</th>
            <th>
              <span class="hint">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map(({ id, name, is_admin: isAdmin, balance_micros: balance, disabled_at: disabledAt }) => (
            <tr key={id}>
              <td>
                {name} {disabledAt === null ? null : <span class="tag bad">disabled</span>}
              </td>
              <td>{isAdmin ? 'administrator' : 'user'}</td>
              <td class="right">{balance === null ? 'unmetered' : dollars(balance)}</td>
              <td>
                <div class="row">
                  {balance === null || disabledAt !== null ? null : (
                    <button class="small" onClick={() => credit(name)}>
                      Credit
                    </button>
                  )}
                  {disabledAt === null ? (
                    <button class="small" onClick={() => disable(name)}>
                      Disable
                    </button>
                  ) : null}
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function KeysTable({ keys, onChanged }: { keys: readonly KeyRecord[]; onChanged: () => void }) {
  const [error, setError] = useState<Error | null>(null)
  const revoke = ({ id, name }: KeyRecord) => {
    if (!confirm(`Revoke ${name}? Whatever uses it stops working at once.`)) return
    void send('DELETE', `/console/api/admin/keys/${id}`).then(onChanged, setError)
  }
  const nowMs = Date.now()
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Keys">
      <Problem error={error} />
      <table>
        <thead>
          <tr>
            <th>Account</th>
            <th>Name</th>
            <th>Key</th>
            <th>Scopes</th>
            <th>Last used</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>{key.account}</td>
              <td>{key.name}</td>
              <td>
                <code>{key.prefix}…</code>
              </td>
              <td>{key.scopes === null ? 'everything' : key.scopes.join(', ')}</td>
              <td>{key.last_used_at === null ? 'never' : ago(key.last_used_at, nowMs)}</td>
              <td>
                {key.revoked_at === null ? (
                  <div class="row">
                    {key.expires_at === null ? null : <span class="hint">until {moment(key.expires_at)}</span>}
                    <button class="small" onClick={() => revoke(key)}>
                      Revoke
                    </button>
                  </div>
                ) : (
                  <span class="tag bad">revoked</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
