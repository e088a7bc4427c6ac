/** An account's name, role, limits and payment: one form, and one request for each thing that changed. */
import { useRef, useState } from 'preact/hooks'
import { send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Field } from '../parts/controls.tsx'
import { Ask } from '../parts/dialog.tsx'
import { dollars } from '../parts/format.ts'
import { type AccountRecord, accountsPath, type ActionProps } from './actions.tsx'
import { microsOf } from './forms.tsx'
import { changedLimits, LimitFields } from './limits.tsx'

export function Edit({ account, onClose, onDone }: ActionProps) {
  const [isPrepaid, setIsPrepaid] = useState(account.balance_micros !== null)
  /** As the server has it: what was changed before another change was refused is not asked for again. */
  const now = useRef(account)
  const change = async (verb: string, what: object) => {
    now.current = await send<AccountRecord>('POST', `${accountsPath}/${verb}`, { name: now.current.name, ...what })
  }
  const save = async (given: FormData) => {
    const wasPrepaid = now.current.balance_micros !== null
    if (isPrepaid !== wasPrepaid) {
      await change('metering', { balance_micros: isPrepaid ? (microsOf(given.get('dollars')) ?? 0) : null })
    }
    const limits = changedLimits(given, now.current.limits)
    if (limits !== null) await change('limits', { limits })
    const isAdmin = given.has('admin')
    if (isAdmin !== now.current.is_admin) await change('role', { is_admin: isAdmin })
    const name = String(given.get('name')).trim()
    if (name !== now.current.name) await change('rename', { new_name: name })
    onClose()
    onDone()
    announce(`The account ${name} is saved.`)
  }
  return (
    <Ask title={`Edit ${account.name}`} action="Save" busy="Saving…" onYes={save} onClose={onClose}>
      <Field label="Name">
        {(id) => <input id={id} name="name" required maxLength={64} defaultValue={account.name} autofocus dir="auto" />}
      </Field>
      <label class="check">
        <input type="checkbox" name="admin" defaultChecked={account.is_admin} /> Administrator
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isPrepaid}
          onChange={({ currentTarget }) => setIsPrepaid(currentTarget.checked)}
        />{' '}
        Prepaid: it can spend its balance and no more
      </label>
      <Payment balance={account.balance_micros} isPrepaid={isPrepaid} />
      <LimitFields limits={account.limits} />
    </Ask>
  )
}

function Payment({ balance, isPrepaid }: { balance: number | null; isPrepaid: boolean }) {
  if (isPrepaid && balance === null) {
    return (
      <Field
        label="Balance in dollars"
        hint="What it used before is forgiven. Requests that are running are paid from it."
      >
        {(id) => (
          <input
            id={id}
            name="dollars"
            type="number"
            inputMode="decimal"
            min="0"
            step="0.000001"
            defaultValue="10"
            required
          />
        )}
      </Field>
    )
  }
  if (isPrepaid || balance === null) return null
  return <p class="note">Its balance of {dollars(balance)} lapses.</p>
}
