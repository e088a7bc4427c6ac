/** A model: what it is good for, its size and state, how far its download is, and getting and removing it. */
import { useState } from 'preact/hooks'
import { send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Problem } from '../parts/controls.tsx'
import { bytes, count, duration } from '../parts/format.ts'
import { PreviewButton } from '../parts/preview.tsx'
import { PullDialog, RemoveDialog } from './dialogs.tsx'
import { languageName } from '../voices/voice.ts'
import { isPulling, type Model, modelsPath as path, type Pull } from './record.ts'

interface ModelCardProps {
  model: Model
  /** The one button of the page that stands out. */
  isPrimary: boolean
  onChanged: () => void
}

export function ModelCard({ model, isPrimary, onChanged }: ModelCardProps) {
  const [error, setError] = useState<Error | null>(null)
  const [asking, setAsking] = useState<'pull' | 'remove' | null>(null)
  const close = () => setAsking(null)
  const { id, pull, name } = model
  const isComing = isPulling(model)
  const cancel = () => {
    setError(null)
    void send('DELETE', `${path}/${id}/pull`).then(() => {
      onChanged()
      announce(`The download of ${name} was cancelled. The partial download is kept for the next try.`)
    }, setError)
  }
  return (
    <article class="card flat model" aria-label={name} tabIndex={-1}>
      <div class="words">
        <div class="row">
          <h3>{name}</h3>
          <State model={model} />
        </div>
        <p class="hint">{model.description}</p>
        <p class="hint numbers">
          {abilitiesOf(model)} · {sizeOf(model)}, {bytes(model.memory_bytes)} of memory · <code>{id}</code>
        </p>
      </div>
      <div class="row">
        {model.sample_url === null ? null : <PreviewButton src={model.sample_url} name={name} />}
        {isComing ? <button onClick={cancel}>Cancel</button> : null}
        {!isComing && model.like === null && (model.state === 'absent' || model.state === 'broken') ? (
          <button class={isPrimary ? 'primary' : undefined} onClick={() => setAsking('pull')}>
            {pull?.state === 'failed' ? 'Try again' : model.state === 'broken' ? 'Repair' : 'Install'}
          </button>
        ) : null}
        {!isComing && (model.state === 'installed' || model.like !== null) ? (
          <button onClick={() => setAsking('remove')}>Remove</button>
        ) : null}
      </div>
      {isComing && pull !== null ? <PullProgress pull={pull} name={name} /> : null}
      {pull?.error ? (
        <p class="error" role="alert">
          {pull.error}
        </p>
      ) : null}
      <Problem error={error} />
      {asking === 'pull' ? <PullDialog model={model} onClose={close} onChanged={onChanged} /> : null}
      {asking === 'remove' ? <RemoveDialog model={model} onClose={close} onChanged={onChanged} /> : null}
    </article>
  )
}

function State({ model: { state, pull, like, recommended } }: { model: Model }) {
  if (pull?.state === 'failed' && state === 'absent') return <span class="tag bad">failed</span>
  if (pull !== null && pull.state !== 'failed') return <span class="tag busy">{pull.state}</span>
  if (state === 'built_in') return <span class="tag good">built in</span>
  if (state === 'installed' && like !== null) return <span class="tag busy">unverified</span>
  if (state === 'installed') return <span class="tag good">installed</span>
  if (state === 'broken') return <span class="tag bad">broken</span>
  return recommended ? <span class="tag busy">recommended</span> : <span class="tag">not installed</span>
}

function sizeOf({ state, download_bytes: download, unknown_sizes: unknown, disk_bytes: disk }: Model): string {
  if (state === 'built_in') return 'Inside the program'
  if (state === 'installed') return `${bytes(disk)} on disk`
  if (download === 0) return 'Size shown when the download starts'
  return `${unknown > 0 ? 'At least ' : ''}${bytes(download)} to download`
}

function abilitiesOf({ languages, voices, cloning }: Model): string {
  // American and British English are one language.
  const codes = [...new Set(languages.map((code) => code.split('-')[0] ?? code))]
  const spoken = codes.length > 3 ? `${codes.length} languages` : codes.map(languageName).join(', ')
  const parts = [
    spoken,
    voices > 0 ? `${count(voices)} ${voices === 1 ? 'voice' : 'voices'}` : null,
    cloning === null ? null : `${cloning} clones`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

/** How far a download is. */
export function PullProgress({ pull, name }: { pull: Pull; name: string }) {
  const { done_bytes: done, total_bytes: total, bytes_per_second: rate, ms_left: left } = pull
  const size = total === null ? bytes(done) : `${bytes(done)} of ${bytes(total)}`
  const speed = rate === null ? '' : `, ${bytes(rate)} a second`
  const rest = left === null ? '' : `, ${duration(left / 1000)} left`
  return (
    <div class="field">
      {total === null || total === 0 ? (
        <progress aria-label={`Download of ${name}`} />
      ) : (
        <progress aria-label={`Download of ${name}`} value={done} max={total} />
      )}
      <span class="hint numbers">
        {size}
        {speed}
        {rest}
      </span>
    </div>
  )
}
