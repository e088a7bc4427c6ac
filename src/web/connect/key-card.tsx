/** The key that is filled in everywhere, and a light that turns green at the first request with it. */
import { useEffect, useState } from 'preact/hooks'
import { request, jsonType } from '../api.ts'
import type { NewKey } from '../accounts/key-form.tsx'
import { Field, Problem } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { useLoaded } from '../parts/loading.ts'
import { takeTurn } from '../parts/sound.ts'
import { Snippet } from '../parts/snippet.tsx'

interface KeyCardProps {
  /** Empty: none yet. */
  value: string
  /** null: it was not made here. */
  made: NewKey | null
  isAdmin: boolean
  onGiven: (key: string) => void
}

export const KeyCard = ({ value, made, isAdmin, onGiven }: KeyCardProps) => (
  <section class="card">
    <h2>Key</h2>
    {made === null ? (
      <>
        <Field label="Your key" hint="It is filled in below and stays in this page: a reload forgets it.">
          {(id) => (
            <input
              id={id}
              value={value}
              placeholder="sk-myna-…"
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => onGiven(currentTarget.value.trim())}
            />
          )}
        </Field>
        <p class="hint">
          {isAdmin
            ? 'Or create one: it gets an account of its own and may only speak and transcribe.'
            : 'No other key than yours? Ask the administrator of this server for one for each program.'}
        </p>
      </>
    ) : (
      <Made key={made.id} made={made} />
    )}
  </section>
)

const lookMs = 1500

interface Keys {
  data: { id: string; last_used_at: number | null }[]
}

function Made({ made }: { made: NewKey }) {
  const [isUsed, setIsUsed] = useState(false)
  const keys = useLoaded<Keys>(isUsed ? null : '/console/api/admin/keys', lookMs)
  const found = keys.value?.data.find(({ id }) => id === made.id)
  useEffect(() => {
    if ((found?.last_used_at ?? null) !== null) setIsUsed(true)
  }, [found])
  return (
    <>
      <Snippet label={`${made.name}, in the account ${made.account}`} text={made.secret} />
      <p class="hint">Copy it now: it cannot be shown again.</p>
      <p class={isUsed ? 'light on' : 'light'} role="status">
        {isUsed ? 'Connected: the first request has come.' : 'Waiting for the first request with this key…'}
      </p>
      <Try secret={made.secret} onDone={keys.reload} />
    </>
  )
}

/** One sentence, spoken with the key itself instead of the session. */
function Try({ secret, onDone }: { secret: string; onDone: () => void }) {
  const [state, setState] = useState<'idle' | 'busy'>('idle')
  const [error, setError] = useState<Error | null>(null)
  const speak = async () => {
    setState('busy')
    setError(null)
    try {
      const headers = { ...jsonType, authorization: `Bearer ${secret}` }
      const body = JSON.stringify({ model: 'tts-1', input: 'Hello. Your key works.', response_format: 'wav' })
      const answer = await request('/v1/audio/speech', { method: 'POST', headers, body })
      const url = URL.createObjectURL(await answer.blob())
      const player = new Audio(url)
      player.addEventListener('ended', () => URL.revokeObjectURL(url))
      takeTurn(player)
      await player.play()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setState('idle')
      onDone()
    }
  }
  return (
    <>
      <Problem error={error} />
      <div class="row">
        <button type="button" aria-disabled={state === 'busy'} onClick={() => state === 'idle' && void speak()}>
          <Icon name="play" /> {state === 'busy' ? 'Speaking…' : 'Try it here'}
        </button>
      </div>
    </>
  )
}
