/** Accounts and keys, for administrators. A new key is shown once: the server keeps only its hash. */
import { useState } from 'preact/hooks'
import { AccountForm } from './forms.tsx'
import { KeyForm, type NewKey } from './key-form.tsx'
import type { AccountRecord } from './actions.tsx'
import { AccountsTable } from './table.tsx'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { type KeyRecord, KeysTable } from './keys.tsx'
import { useLoaded } from '../parts/loading.ts'
import { Head, Progressing } from '../parts/controls.tsx'
import type { PageProps } from '../parts/page.ts'

export function AccountsPage({ who }: PageProps) {
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
      <Head title="Accounts" about="Each account has its own keys, voices and usage.">
        <div class="row">
          <button onClick={() => setOpen('account')}>New account</button>
          <button class="primary" disabled={accounts.value === null} onClick={() => setOpen('key')}>
            New key
          </button>
        </div>
      </Head>
      <Progressing of={[accounts, keys]} />
      {accounts.value === null || keys.value === null ? null : (
        <>
          <section class="card">
            <h2>Accounts</h2>
            <AccountsTable accounts={known.toSorted(activeFirst)} who={who} onChanged={reload} />
          </section>
          <section class="card">
            <h2>Keys</h2>
            <KeysTable keys={keys.value.data} who={who} onChanged={reload} />
          </section>
        </>
      )}
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

const activeFirst = (a: AccountRecord, b: AccountRecord): number =>
  Number(a.disabled_at !== null) - Number(b.disabled_at !== null)

const ShownOnce = ({ made, onClose }: { made: NewKey; onClose: () => void }) => (
  <Dialog title={`The key ${made.name} of ${made.account}`} onClose={onClose}>
    <p>
      Copy it now: it cannot be shown again. Programs use it with the base URL {location.origin}/v1; the page{' '}
      <a href="#/connect">Connect</a> says how.
    </p>
    <p class="note">
      <code>{made.secret}</code>
    </p>
    <div class="row">
      <Copy text={made.secret} kind="primary" />
      <button onClick={onClose}>Done</button>
    </div>
  </Dialog>
)
