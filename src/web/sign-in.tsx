/** The door: a key goes in here once and is forgotten by the page as soon as it has been sent. */
import { useState } from 'preact/hooks'
import { signIn, type Who } from './session.ts'

export function SignIn({ onIn }: { onIn: (who: Who) => void }) {
  const [error, setError] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('key') as HTMLInputElement
    setBusy(true)
    setError(null)
    try {
      onIn(await signIn(field.value))
    } catch (cause) {
      setError((cause as Error).message)
      field.select()
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="door">
      <form class="card door-card" onSubmit={submit}>
        <h1>
          <span class="mark" aria-hidden="true" /> Myna
        </h1>
        <p>Sign in with an API key. It stays on the server; this page only gets a session.</p>
        <label for="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="off" placeholder="sk-myna-…" required autofocus />
        {error === null ? null : (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <button class="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p class="hint">
          The first start prints an administrator's key. Another one: <code>myna keys create --account NAME</code>
        </p>
      </form>
    </main>
  )
}
