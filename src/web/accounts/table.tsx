/** The accounts, and what is done with one: credited, disabled. */
import { useState } from 'preact/hooks'
import { microsOf } from './forms.tsx'
import { announce } from '../parts/announce.tsx'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import { Field } from '../parts/controls.tsx'
import type { Who } from '../session.ts'
import { type Column, Table } from '../parts/table.tsx'
import { dollars } from '../parts/format.ts'

export interface AccountRecord {
  id: string
  name: string
  is_admin: boolean
  balance_micros: number | null
  disabled_at: number | null
}

const path = '/console/api/admin/accounts'

interface Asking {
  what: 'credit' | 'disable'
  account: AccountRecord
}

interface TableProps {
  accounts: readonly AccountRecord[]
  who: Who
  onChanged: () => void
}

export function AccountsTable({ accounts, who, onChanged }: TableProps) {
  const [asking, setAsking] = useState<Asking | null>(null)
  const close = () => setAsking(null)
  return (
    <>
      <Table label="Accounts" rows={accounts} idOf={({ id }) => id} columns={columnsFor(setAsking)} />
      {asking?.what === 'credit' ? <Credit account={asking.account} onClose={close} onDone={onChanged} /> : null}
      {asking?.what === 'disable' ? (
        <Disable account={asking.account} isOwn={asking.account.id === who.account.id} {...{ onChanged, close }} />
      ) : null}
    </>
  )
}

const columnsFor = (ask: (asking: Asking) => void): Column<AccountRecord>[] => [
  { name: 'Name', kind: 'name', cell: Name },
  { name: 'Role', cell: ({ is_admin: isAdmin }) => (isAdmin ? 'administrator' : 'user') },
  {
    name: 'Balance',
    isRight: true,
    cell: ({ balance_micros: balance }) => (balance === null ? 'unmetered' : dollars(balance)),
  },
  {
    name: 'Actions',
    kind: 'acts',
    cell: (account) => (account.disabled_at === null ? <Actions account={account} ask={ask} /> : null),
  },
]

const Name = ({ name, disabled_at: disabledAt }: AccountRecord) => (
  <>
    <bdi>{name}</bdi> {disabledAt === null ? null : <span class="tag bad">disabled</span>}
  </>
)

const Actions = ({ account, ask }: { account: AccountRecord; ask: (asking: Asking) => void }) => (
  <div class="row end">
    {account.balance_micros === null ? null : (
      <button class="small" aria-label={`Credit ${account.name}`} onClick={() => ask({ what: 'credit', account })}>
        Credit
      </button>
    )}
    <button class="small" aria-label={`Disable ${account.name}`} onClick={() => ask({ what: 'disable', account })}>
      Disable
    </button>
  </div>
)

interface CreditProps {
  account: AccountRecord
  onClose: () => void
  onDone: () => void
}

function Credit({ account: { name, balance_micros: balance }, onClose, onDone }: CreditProps) {
  const credit = async (given: FormData) => {
    const amount = { name, amount_micros: microsOf(given.get('dollars')) }
    const { balance_micros: now } = await send<AccountRecord>('POST', `${path}/credit`, amount)
    onClose()
    onDone()
    announce(`${name} now has ${dollars(now ?? 0)}.`)
  }
  return (
    <Ask title={`Credit ${name}`} action="Add credit" busy="Crediting…" onYes={credit} onClose={onClose}>
      <p>Its balance is {dollars(balance ?? 0)}. Credit cannot be taken back here.</p>
      <Field label="Amount in dollars">
        {(id) => (
          <input
            id={id}
            name="dollars"
            type="number"
            inputMode="decimal"
            min="0.000001"
            step="0.000001"
            defaultValue="10"
            required
            autofocus
          />
        )}
      </Field>
    </Ask>
  )
}

interface DisableProps {
  account: AccountRecord
  /** The signed-in user acts for this account. */
  isOwn: boolean
  close: () => void
  onChanged: () => void
}

function Disable({ account: { name }, isOwn, close, onChanged }: DisableProps) {
  const disable = async () => {
    await send('POST', `${path}/disable`, { name })
    close()
    onChanged()
    announce(`The account ${name} is disabled.`)
  }
  return (
    <Ask
      title={`Disable ${name}?`}
      action="Disable account"
      busy="Disabling…"
      refusal="Cancel"
      isDestructive
      onYes={disable}
      onClose={close}
    >
      <p>All its keys stop working immediately. It cannot be enabled again here; its voices and records stay.</p>
      {isOwn ? <p class="note">This is your own account: you will be signed out.</p> : null}
    </Ask>
  )
}
