/**
 * Making a key. It is for a new account and for speaking and transcribing, unless the form says otherwise: the key of a
 * program or a friend should not be an administrator's.
 */
import { useId } from 'preact/hooks'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import { Field } from '../parts/controls.tsx'

/** A new key as the server answers it; its secret is not given a second time. */
export interface NewKey {
  id: string
  account: string
  name: string
  secret: string
  expires_at: number | null
}

interface KeyFormProps {
  /** Names of accounts that can have keys. */
  accounts: readonly string[]
  /** What the fields begin with. */
  account?: string
  name?: string
  onClose: () => void
  onMade: (key: NewKey) => void
}

/** What a key may do: the name that the API has for it, and what it is called, in full and in brief. */
export const scopes = [
  ['tts', 'Speak and transcribe', 'speech'],
  ['voices', 'Clone, change and delete voices', 'voices'],
  ['usage', 'See the account and its usage', 'usage'],
] as const

export const spans = [
  ['', 'Never'],
  ['7d', 'In 7 days'],
  ['30d', 'In 30 days'],
  ['90d', 'In 90 days'],
  ['365d', 'In a year'],
] as const

export function KeyForm({ accounts, account = '', name = '', onClose, onMade }: KeyFormProps) {
  const list = useId()
  const make = async (given: FormData) => {
    const chosen = given.getAll('scope').map(String)
    if (chosen.length === 0) throw new Error('Choose at least one permission.')
    const made = await makeKey({
      account: String(given.get('account')).trim(),
      name: String(given.get('name')).trim(),
      scopes: chosen.length === scopes.length ? null : chosen,
      expires: String(given.get('expires')),
    })
    onClose()
    onMade(made)
  }
  return (
    <Ask title="New key" action="Create key" busy="Creating…" onYes={make} onClose={onClose}>
      <div class="fields">
        <Field label="Account" hint="A new name makes a new account">
          {(id) => (
            <input
              id={id}
              name="account"
              list={list}
              defaultValue={account}
              required
              maxLength={64}
              autofocus
              autocomplete="off"
              dir="auto"
            />
          )}
        </Field>
        <datalist id={list}>
          {accounts.map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        <Field label="Name" hint="What uses the key: laptop, Open WebUI">
          {(id) => <input id={id} name="name" defaultValue={name} required maxLength={64} dir="auto" />}
        </Field>
        <Expiry />
      </div>
      <fieldset>
        <legend class="label">Permissions</legend>
        {scopes.map(([scope, about]) => (
          <label class="check" key={scope}>
            <input type="checkbox" name="scope" value={scope} defaultChecked={scope === 'tts'} /> {about}
          </label>
        ))}
      </fieldset>
    </Ask>
  )
}

export const Expiry = ({ usual = '' }: { usual?: string }) => (
  <Field label="Expires">
    {(id) => (
      <select id={id} name="expires" defaultValue={usual}>
        {spans.map(([span, words]) => (
          <option key={span} value={span} selected={span === usual}>
            {words}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface KeyWish {
  account: string
  name: string
  /** null: everything. */
  scopes: readonly string[] | null
  /** Empty: never. */
  expires: string
}

/** @throws ApiError */
export const makeKey = ({ expires, ...wish }: KeyWish): Promise<NewKey> =>
  send<NewKey>('POST', '/console/api/admin/keys', { ...wish, expires: expires === '' ? null : expires })
