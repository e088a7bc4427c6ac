/** A model on offer: what it is good for, its size and licence, and its way onto this machine. */
import { useState } from 'preact/hooks'
import { send } from '../api.ts'
import { Problem } from '../parts/controls.tsx'
import { bytes, duration } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { PreviewButton, previewOf } from '../parts/preview.tsx'
import type { Voice } from '../speak/options.tsx'

interface Pull {
  state: 'waiting' | 'checking' | 'receiving' | 'failed'
  done_bytes: number
  total_bytes: number | null
  ms_left: number | null
  error: string | null
}

export interface Offer {
  id: string
  name: string
  description: string
  task: string
  state: 'built_in' | 'installed' | 'broken' | 'absent'
  download_bytes: number
  license: { name: string; limits: string | null }
  recommended: boolean
  /** What it sounds like, before it is here; null: no sample of it is inside the program. */
  sample_url: string | null
  pull: Pull | null
}

export const isComing = ({ pull }: Offer): boolean => pull !== null && pull.state !== 'failed'

interface OfferProps {
  offer: Offer
  isFirst: boolean
  /** One that it speaks with, once it is here. */
  voice: Voice | null
  onChanged: () => void
}

export function ModelOffer({ offer, isFirst, voice, onChanged }: OfferProps) {
  const [error, setError] = useState<Error | null>(null)
  const { id, name, description, state, pull, license } = offer
  const heard = state === 'installed' && voice !== null ? previewOf(voice.voice_id) : offer.sample_url
  const change = (method: 'POST' | 'DELETE') => {
    setError(null)
    void send(method, `/console/api/admin/models/${id}/pull`).then(onChanged, setError)
  }
  return (
    <article class="card" aria-label={name} tabIndex={-1}>
      <div class="row apart">
        <h3>{name}</h3>
        {state === 'installed' ? (
          <span class="tag good">installed</span>
        ) : isFirst ? (
          <span class="tag busy">recommended</span>
        ) : null}
      </div>
      <p class="hint clamp">{description}</p>
      {license.limits === null ? null : (
        <details class="hint">
          <summary>Conditions of its licence</summary>
          <p>{license.limits}</p>
        </details>
      )}
      {pull?.error ? (
        <p class="error" role="alert">
          {pull.error}
        </p>
      ) : null}
      <Problem error={error} />
      {isComing(offer) && pull !== null ? <Download pull={pull} name={name} /> : null}
      <div class="row apart">
        <span class="hint numbers">
          {bytes(offer.download_bytes)}, {license.name}
        </span>
        <span class="row tight">
          {heard === null ? null : <PreviewButton key={heard} src={heard} name={name} />}
          {isComing(offer) ? (
            <button class="small" onClick={() => change('DELETE')}>
              Cancel
            </button>
          ) : state === 'installed' ? null : (
            <button class="small" onClick={() => change('POST')}>
              <Icon name="download" /> {pull?.state === 'failed' ? 'Try again' : 'Install'}{' '}
              <span class="unseen">{name}</span>
            </button>
          )}
        </span>
      </div>
    </article>
  )
}

const Download = ({ pull, name }: { pull: Pull; name: string }) => {
  const { done_bytes: done, total_bytes: total, ms_left: left } = pull
  const known = total === null || total === 0 ? {} : { value: done, max: total }
  return (
    <div class="field">
      <progress aria-label={`Download of ${name}`} {...known} />
      <span class="hint numbers">
        {bytes(done)}
        {total === null ? '' : ` of ${bytes(total)}`}
        {left === null ? '' : `, ${duration(left / 1000)} left`}
      </span>
    </div>
  )
}
