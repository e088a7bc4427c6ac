/** Making accounts. */
import { announce } from '../parts/announce.tsx'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import { Field } from '../parts/controls.tsx'

/** @param given as people type it; empty: nothing was said */
export const microsOf = (given: FormDataEntryValue | null): number | null =>
  given === null || given === '' ? null : Math.round(Number(given) * 1e6)

export function AccountForm({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const make = async (given: FormData) => {
    const name = String(given.get('name')).trim()
    const account = { name, is_admin: given.has('admin'), balance_micros: microsOf(given.get('dollars')) }
    await send('POST', '/console/api/admin/accounts', account)
    onClose()
    onMade()
    announce(`The account ${name} was created. Create a key to use it.`)
  }
  return (
    <Ask title="New account" action="Create account" busy="Creating…" onYes={make} onClose={onClose}>
      <Field label="Name">{(id) => <input id={id} name="name" required maxLength={64} autofocus dir="auto" />}</Field>
      <Field label="Opening balance in dollars" hint="Leave empty for unlimited use">
        {(id) => <input id={id} name="dollars" type="number" inputMode="decimal" min="0" step="0.000001" />}
      </Field>
      <label class="check">
        <input type="checkbox" name="admin" /> Administrator
      </label>
    </Ask>
  )
}
