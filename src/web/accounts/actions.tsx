/** Credits, disables, enables and removes an account. */
import { send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Field } from '../parts/controls.tsx'
import { Ask } from '../parts/dialog.tsx'
import { counted, dollars } from '../parts/format.ts'
import { microsOf } from './forms.tsx'
import type { Limits } from './limits.tsx'

export interface AccountRecord {
  id: string
  name: string
  is_admin: boolean
  balance_micros: number | null
  limits: Limits
  disabled_at: number | null
}

export const accountsPath = '/console/api/admin/accounts'

export interface ActionProps {
  account: AccountRecord
  onClose: () => void
  onDone: () => void
}

export function Credit({ account: { name, balance_micros: balance }, onClose, onDone }: ActionProps) {
  const credit = async (given: FormData) => {
    const amount = { name, amount_micros: microsOf(given.get('dollars')) }
    const { balance_micros: now } = await send<AccountRecord>('POST', `${accountsPath}/credit`, amount)
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

interface EndingProps extends ActionProps {
  /** The signed-in user acts for this account. */
  isOwn: boolean
}

const Own = () => <p class="note">This is your own account: you will be signed out.</p>

export function Disable({ account: { name }, isOwn, onClose, onDone }: EndingProps) {
  const disable = async () => {
    await send('POST', `${accountsPath}/disable`, { name })
    onClose()
    onDone()
    announce(`The account ${name} is disabled.`)
  }
  return (
    <Ask
      title={`Disable ${name}?`}
      action="Disable account"
      busy="Disabling…"
      isDestructive
      onYes={disable}
      onClose={onClose}
    >
      <p>All its keys stop working immediately, until you enable it again. Its voices and records stay.</p>
      {isOwn ? <Own /> : null}
    </Ask>
  )
}

export const enable = ({ name }: AccountRecord): Promise<unknown> => send('POST', `${accountsPath}/enable`, { name })

export function Remove({ account: { name }, isOwn, onClose, onDone }: EndingProps) {
  const remove = async () => {
    const { voices_deleted: voices } = await send<{ voices_deleted: number }>('POST', `${accountsPath}/remove`, {
      name,
    })
    onClose()
    onDone()
    announce(`The account ${name} is removed.${voices === 0 ? '' : ` ${counted(voices, 'voice')} deleted.`}`)
  }
  return (
    <Ask
      title={`Remove ${name}?`}
      action="Remove account"
      busy="Removing…"
      isDestructive
      onYes={remove}
      onClose={onClose}
    >
      <p>Its keys are revoked and its voices deleted permanently. What it was charged stays on record.</p>
      {isOwn ? <Own /> : null}
    </Ask>
  )
}
