/** Making accounts and keys. */
import { announce } from '../parts/announce.tsx'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import { Field } from '../parts/controls.tsx'

export interface NewKey {
  account: string
  name: string
  secret: string
}

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

interface KeyFormProps {
  accounts: readonly string[]
  onClose: () => void
  onMade: (key: NewKey) => void
}

const scopes = [
  ['tts', 'speak and transcribe'],
  ['voices', 'voices'],
  ['usage', 'account and usage'],
] as const

export function KeyForm({ accounts, onClose, onMade }: KeyFormProps) {
  const make = async (given: FormData) => {
    const chosen = given.getAll('scope').map(String)
    if (chosen.length === 0) throw new Error('Choose at least one permission.')
    const expires = String(given.get('expires')).trim()
    const key = {
      account: String(given.get('account')),
      name: String(given.get('name')).trim(),
      scopes: chosen.length === scopes.length ? null : chosen,
      expires: expires === '' ? null : expires,
    }
    const made = await send<NewKey>('POST', '/console/api/admin/keys', key)
    onClose()
    onMade(made)
  }
  return (
    <Ask title="New key" action="Create key" busy="Creating…" onYes={make} onClose={onClose}>
      <div class="fields">
        <Field label="Account">
          {(id) => (
            <select id={id} name="account" autofocus>
              {accounts.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Name" hint="Name">
          {(id) => <input id={id} name="name" required maxLength={64} dir="auto" />}
        </Field>
        <Field label="Expires" hint="30d, 2027-01-31, or empty for never">
          {(id) => <input id={id} name="expires" maxLength={32} />}
        </Field>
      </div>
      <fieldset>
        <legend class="label">Permissions</legend>
        {scopes.map(([scope, about]) => (
          <label class="check" key={scope}>
            <input type="checkbox" name="scope" value={scope} defaultChecked /> {about}
          </label>
        ))}
      </fieldset>
    </Ask>
  )
}
