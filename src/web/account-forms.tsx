/** Making accounts and keys. */
import { useState } from 'preact/hooks'
import { send } from './api.ts'
import { Dialog, Field, Problem } from './parts.tsx'

export interface NewKey {
  account: string
  secret: string
}

export function AccountForm({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [error, setError] = useState<Error | null>(null)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    const dollars = String(given.get('dollars'))
    const account = {
      name: String(given.get('name')),
      is_admin: given.has('admin'),
      balance_micros: dollars === '' ? null : Math.round(Number(dollars) * 1e6),
    }
    void send('POST', '/console/api/admin/accounts', account).then(() => {
      onClose()
      onMade()
    }, setError)
  }
  return (
    <Dialog title="New account" onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Name">{(id) => <input id={id} name="name" required maxLength={64} />}</Field>
        <Field label="Opening balance in dollars" hint="Empty: usage is summed and nobody is blocked">
          {(id) => <input id={id} name="dollars" type="number" min="0" step="0.000001" />}
        </Field>
        <label class="check">
          <input type="checkbox" name="admin" /> Administrator
        </label>
        <Problem error={error} />
        <div class="row">
          <button class="primary">Make it</button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
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
  const [error, setError] = useState<Error | null>(null)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    const chosen = given.getAll('scope').map(String)
    const expires = String(given.get('expires'))
    const key = {
      account: String(given.get('account')),
      name: String(given.get('name')),
      scopes: chosen.length === scopes.length ? null : chosen,
      expires: expires === '' ? null : expires,
    }
    void send<NewKey>('POST', '/console/api/admin/keys', key).then((made) => {
      onClose()
      onMade(made)
    }, setError)
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form onSubmit={submit}>
        <div class="fields">
          <Field label="Account">
            {(id) => (
              <select id={id} name="account">
                {accounts.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Name" hint="What it is for">
            {(id) => <input id={id} name="name" required maxLength={64} />}
          </Field>
          <Field label="Expires" hint="30d, 2027-01-31, or empty for never">
            {(id) => <input id={id} name="expires" maxLength={32} />}
          </Field>
        </div>
        <fieldset>
          <legend class="label">It may use</legend>
          {scopes.map(([scope, about]) => (
            <label class="check" key={scope}>
              <input type="checkbox" name="scope" value={scope} defaultChecked /> {about}
            </label>
          ))}
        </fieldset>
        <Problem error={error} />
        <div class="row">
          <button class="primary">Make it</button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
