/** The accounts, with what can be done with each. */
import { useState } from 'preact/hooks'
import { type AccountRecord, Credit, Disable, enable, Remove } from './actions.tsx'
import { Edit } from './edit.tsx'
import { announce } from '../parts/announce.tsx'
import type { Who } from '../session.ts'
import { type Column, Table } from '../parts/table.tsx'
import { dollars } from '../parts/format.ts'

interface Asking {
  what: 'credit' | 'edit' | 'disable' | 'remove'
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
  const accept = (account: AccountRecord) =>
    void enable(account).then(
      () => {
        onChanged()
        announce(`The account ${account.name} is enabled.`)
      },
      (error: Error) => announce(error.message),
    )
  const { what, account } = asking ?? { what: null, account: null }
  const given = { onClose: close, onDone: onChanged }
  return (
    <>
      <Table label="Accounts" rows={accounts} idOf={({ id }) => id} columns={columnsFor(setAsking, accept)} />
      {what === 'credit' ? <Credit account={account} {...given} /> : null}
      {what === 'edit' ? <Edit account={account} {...given} /> : null}
      {what === 'disable' ? <Disable account={account} isOwn={account.id === who.account.id} {...given} /> : null}
      {what === 'remove' ? <Remove account={account} isOwn={account.id === who.account.id} {...given} /> : null}
    </>
  )
}

const columnsFor = (
  ask: (asking: Asking) => void,
  accept: (account: AccountRecord) => void,
): Column<AccountRecord>[] => [
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
    cell: (account) => <Actions account={account} ask={ask} accept={accept} />,
  },
]

const Name = ({ name, disabled_at: disabledAt }: AccountRecord) => (
  <>
    <bdi>{name}</bdi> {disabledAt === null ? null : <span class="tag bad">disabled</span>}
  </>
)

interface ActionsProps {
  account: AccountRecord
  ask: (asking: Asking) => void
  accept: (account: AccountRecord) => void
}

function Actions({ account, ask, accept }: ActionsProps) {
  const { name, balance_micros: balance, disabled_at: disabledAt } = account
  // A key each: the button that disabled is gone, so that a second Enter does not enable again.
  const button = (words: string, act: () => void) => (
    <button key={words} class="small" aria-label={`${words} ${name}`} onClick={act}>
      {words}
    </button>
  )
  return (
    <div class="row end">
      {balance === null ? null : button('Credit', () => ask({ what: 'credit', account }))}
      {button('Edit', () => ask({ what: 'edit', account }))}
      {disabledAt === null
        ? button('Disable', () => ask({ what: 'disable', account }))
        : button('Enable', () => accept(account))}
      {button('Remove', () => ask({ what: 'remove', account }))}
    </div>
  )
}
