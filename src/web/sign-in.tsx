/** The door: a key goes in here once and is forgotten by the page as soon as it has been sent. */
import { useState } from 'preact/hooks'
import { Bird } from './parts/bird.tsx'
import { Problem } from './parts/controls.tsx'
import { Snippet } from './parts/snippet.tsx'
import { signIn, type Who } from './session.ts'

interface DoorProps {
  onIn: (who: Who) => void
}

/** @param why the visitor is here although a link was to sign in; null: for no special reason */
export const SignIn = ({ onIn, why }: DoorProps & { why: Error | null }) => (
  <main class="door night">
    <div class="door-head">
      <Bird size={96} />
      <h1>Myna</h1>
      <p>Speech, cloned voices and transcripts, made on this machine.</p>
    </div>
    <DoorWave />
    <div class="card door-card">
      <Problem error={why} />
      <SignInForm onIn={onIn} />
      <details>
        <summary>No key, or lost it?</summary>
        <Snippet label="On the machine that runs Myna" text="myna keys create --account admin" />
        <p>This prints a new key of the administrator. Another name makes a key of that account.</p>
      </details>
    </div>
    <p class="hint">
      <a href="/docs">API documentation</a>
    </p>
  </main>
)

const bars = 96

/** A sentence as a picture of its sound: always the same one. */
const DoorWave = () => (
  <svg class="door-wave" viewBox={`0 0 ${bars * 6} 72`} preserveAspectRatio="none" aria-hidden="true">
    <linearGradient id="door-magma">
      <stop offset="0" stop-color="#3b0f5c" />
      <stop offset="0.3" stop-color="#a52c74" />
      <stop offset="0.65" stop-color="#fb8761" />
      <stop offset="0.85" stop-color="#ffc46b" />
      <stop offset="1" stop-color="#7a3a10" />
    </linearGradient>
    <path
      stroke="url(#door-magma)"
      stroke-width="3"
      stroke-linecap="round"
      d={Array.from({ length: bars }, (_, at) => {
        const word = Math.abs(Math.sin(at / 5.3) * Math.sin(at / 17 + 0.4))
        const half = 2 + 30 * word * (0.45 + 0.55 * Math.abs(Math.sin(at * 2.7)))
        return `M${at * 6 + 3} ${(36 - half).toFixed(1)}v${(2 * half).toFixed(1)}`
      }).join('')}
    />
  </svg>
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
      <div class="field">
        <label for="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="off" placeholder="sk-myna-…" required autofocus />
      </div>
      <Problem error={error} />
      <button class="primary" aria-disabled={busy}>
        {busy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}
