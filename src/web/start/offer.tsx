/** A model on offer: what it is good for, its size and license, and its way onto this machine. */
import { useState } from 'preact/hooks'
import { send } from '../api.ts'
import { PullProgress } from '../models/card.tsx'
import { isPulling, type Model, modelsPath } from '../models/record.ts'
import { Problem } from '../parts/controls.tsx'
import { bytes } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { PreviewButton, previewOf } from '../parts/preview.tsx'
import type { Voice } from '../speak/options.tsx'

interface OfferProps {
  offer: Model
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
    void send(method, `${modelsPath}/${id}/pull`).then(onChanged, setError)
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
          <summary>License conditions</summary>
          <p>{license.limits}</p>
        </details>
      )}
      {pull?.error ? (
        <p class="error" role="alert">
          {pull.error}
        </p>
      ) : null}
      <Problem error={error} />
      {isPulling(offer) && pull !== null ? <PullProgress pull={pull} name={name} /> : null}
      <div class="row apart">
        <span class="hint numbers">
          {bytes(offer.download_bytes)}, {license.name}
        </span>
        <span class="row tight">
          {heard === null ? null : <PreviewButton key={heard} src={heard} name={name} isSmall />}
          {isPulling(offer) ? (
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
