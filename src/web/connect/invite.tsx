/** A key for a friend, in an account of his or her own, and a message to send with it. */
import { useState } from 'preact/hooks'
import { Expiry, makeKey, type NewKey } from '../accounts/key-form.tsx'
import { Field } from '../parts/controls.tsx'
import { Copy } from '../parts/copy.tsx'
import { Ask, Dialog } from '../parts/dialog.tsx'
import type { Addresses } from './addresses.ts'

interface InviteProps {
  addresses: Addresses
  onClose: () => void
}

export function Invite({ addresses, onClose }: InviteProps) {
  const [made, setMade] = useState<NewKey | null>(null)
  const invite = async (given: FormData) => {
    const friend = String(given.get('friend')).trim()
    const scopes = given.has('voices') ? ['tts', 'voices'] : ['tts']
    setMade(await makeKey({ account: friend, name: 'invitation', scopes, expires: String(given.get('expires')) }))
  }
  if (made !== null) return <Message made={made} addresses={addresses} onClose={onClose} />
  return (
    <Ask title="Invite a friend" action="Create invitation" busy="Creating…" onYes={invite} onClose={onClose}>
      <p>Your friend gets an account and a key that can speak and transcribe, and nothing of yours.</p>
      <div class="fields">
        <Field label="Name">
          {(id) => <input id={id} name="friend" required maxLength={64} autofocus autocomplete="off" dir="auto" />}
        </Field>
        <Expiry usual="30d" />
      </div>
      <label class="check">
        <input type="checkbox" name="voices" /> May also clone voices
      </label>
    </Ask>
  )
}

function Message({ made, addresses, onClose }: { made: NewKey } & InviteProps) {
  const text = messageOf(made, addresses.elsewhere ?? addresses.origin)
  return (
    <Dialog title={`Send this to ${made.account}`} onClose={onClose}>
      {addresses.elsewhere === null ? (
        <p class="note">
          This address works on the server’s own machine only. For other machines, start it with{' '}
          <code>myna serve --host 0.0.0.0</code>
        </p>
      ) : null}
      <div class="snippet">
        <pre aria-label="Message">{text}</pre>
      </div>
      <p class="hint">The key cannot be shown again. Revoke it under Accounts.</p>
      <div class="row">
        <Copy text={text} kind="primary" />
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}

function messageOf({ account, secret, expires_at: expiresAt }: NewKey, origin: string): string {
  const end =
    expiresAt === null
      ? []
      : [`It works until ${new Date(expiresAt * 1000).toLocaleDateString(undefined, { dateStyle: 'long' })}.`, '']
  return [
    `Hi ${account},`,
    '',
    'you can use my voice server: it reads texts aloud and turns recordings into text.',
    '',
    `Open ${origin}/console and sign in with this key:`,
    secret,
    '',
    'In programs that speak OpenAI’s API, set',
    `  base URL: ${origin}/v1`,
    '  API key:  the same key',
    '',
    ...end,
    'Please keep the key to yourself.',
  ].join('\n')
}
