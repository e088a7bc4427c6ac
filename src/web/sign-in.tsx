/** The door: a key goes in here once and is forgotten by the page as soon as it has been sent. */
import { useState } from 'preact/hooks'
import { Problem } from './parts/controls.tsx'
import { signIn, type Who } from './session.ts'

interface DoorProps {
  onIn: (who: Who) => void
}

export const SignIn = ({ onIn }: DoorProps) => (
  <main class="door">
    <div class="card door-card">
      <h1>
        <span class="mark" aria-hidden="true" /> Myna
      </h1>
      <p>Sign in with an API key.</p>
      <SignInForm onIn={onIn} />
      <p class="hint">
        The first start prints an administrator's key. To create another one:{' '}
        <code>myna keys create --account NAME</code>
      </p>
    </div>
  </main>
)

export function SignInForm({ onIn }: DoorProps) {
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (busy) return
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('key') as HTMLInputElement
    setBusy(true)
    setError(null)
    try {
      onIn(await signIn(field.value))
    } catch (cause) {
      setError(cause as Error)
      field.select()
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="door-form" onSubmit={(event) => void submit(event)}>
      <label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="off" placeholder="sk-myna-…" required autofocus />
      <Problem error={error} />
      <button class="primary" aria-disabled={busy}>
        {busy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}
