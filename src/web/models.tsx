/** Models, for administrators: which there are, what they are good for, and getting and removing them. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from './parts/announce.tsx'
import { send } from './api.ts'
import { Ask } from './parts/dialog.tsx'
import { useLoaded } from './parts/loading.ts'
import { Choice, Head, Problem, Progressing } from './parts/controls.tsx'
import { bytes, count, duration } from './parts/format.ts'
import type { PageProps } from './parts/page.ts'

interface Pull {
  state: 'waiting' | 'checking' | 'receiving' | 'failed'
  done_bytes: number
  total_bytes: number | null
  bytes_per_second: number | null
  ms_left: number | null
  error: string | null
}

interface Model {
  id: string
  name: string
  description: string
  task: string
  state: 'built_in' | 'installed' | 'broken' | 'absent'
  languages: string[]
  voices: number
  cloning: string | null
  memory_bytes: number
  disk_bytes: number
  download_bytes: number
  unknown_sizes: number
  license: { name: string; attribution: string; limits: string | null }
  /** Files of the operator's own in the place of this model; null: the published ones. */
  like: string | null
  pull: Pull | null
}

const path = '/console/api/admin/models'
/** While something is coming, and while nothing is: another window may have begun it. */
const [busyMs, idleMs] = [1000, 8000]

export function ModelsPage(_props: PageProps) {
  const [isComing, setIsComing] = useState(false)
  const loaded = useLoaded<{ data: Model[] }>(path, isComing ? busyMs : idleMs)
  const { value, reload } = loaded
  useEffect(() => setIsComing((value?.data ?? []).some(isPulling)), [value])
  const [task, setTask] = useState<'text-to-speech' | 'automatic-speech-recognition'>('text-to-speech')
  const models = useOrdered(value?.data ?? []).filter((model) => model.task === task)
  return (
    <div class="page">
      <Head title="Models" about="Downloaded from the Hugging Face hub at pinned commits and verified by hash.">
        <Choice
          label="Task"
          value={task}
          options={[
            ['text-to-speech', 'Speech'],
            ['automatic-speech-recognition', 'Transcription'],
          ]}
          onChange={setTask}
        />
      </Head>
      <Progressing of={[loaded]} />
      <div class="grid">
        {models.map((model) => (
          <ModelCard key={model.id} model={model} onChanged={reload} />
        ))}
      </div>
    </div>
  )
}

const isPulling = ({ pull }: Model): boolean => pull !== null && pull.state !== 'failed'

/** Installed models first; the order is kept while the page is open, so that a pressed card does not jump away. */
function useOrdered(models: readonly Model[]): Model[] {
  const first = useRef<readonly string[]>([])
  if (first.current.length === 0) {
    first.current = models.toSorted((a, b) => Number(isHere(b)) - Number(isHere(a))).map(({ id }) => id)
  }
  return models.toSorted((a, b) => first.current.indexOf(a.id) - first.current.indexOf(b.id))
}

const isHere = ({ state, pull }: Model): boolean => state !== 'absent' || pull !== null

function ModelCard({ model, onChanged }: { model: Model; onChanged: () => void }) {
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
    <article class="card" aria-label={name} tabIndex={-1}>
      <div class="row apart">
        <h2>{name}</h2>
        <State model={model} />
      </div>
      <p class="hint">{model.description}</p>
      <p class="hint numbers">
        <code>{id}</code>
        <br />
        {sizeOf(model)}, {bytes(model.memory_bytes)} of memory
        <br />
        {abilitiesOf(model)}
      </p>
      {isComing && pull !== null ? <Progress pull={pull} name={name} /> : null}
      {pull?.error ? (
        <p class="error" role="alert">
          {pull.error}
        </p>
      ) : null}
      <Problem error={error} />
      <div class="row">
        {isComing ? <button onClick={cancel}>Cancel</button> : null}
        {!isComing && model.like === null && (model.state === 'absent' || model.state === 'broken') ? (
          <button class="primary" onClick={() => setAsking('pull')}>
            {pull?.state === 'failed' ? 'Try again' : model.state === 'broken' ? 'Mend' : 'Install'}
          </button>
        ) : null}
        {!isComing && (model.state === 'installed' || model.like !== null) ? (
          <button onClick={() => setAsking('remove')}>Remove</button>
        ) : null}
      </div>
      {asking === 'pull' ? <PullDialog model={model} onClose={close} onChanged={onChanged} /> : null}
      {asking === 'remove' ? <RemoveDialog model={model} onClose={close} onChanged={onChanged} /> : null}
    </article>
  )
}

function State({ model: { state, pull, like } }: { model: Model }) {
  if (pull?.state === 'failed' && state === 'absent') return <span class="tag bad">failed</span>
  if (pull !== null && pull.state !== 'failed') return <span class="tag busy">{pull.state}</span>
  if (state === 'built_in') return <span class="tag good">built in</span>
  if (state === 'installed' && like !== null) return <span class="tag busy">unverified</span>
  if (state === 'installed') return <span class="tag good">installed</span>
  return state === 'broken' ? <span class="tag bad">broken</span> : <span class="tag">not installed</span>
}

function sizeOf({ state, download_bytes: download, unknown_sizes: unknown, disk_bytes: disk }: Model): string {
  if (state === 'built_in') return 'Inside the program'
  if (state === 'installed') return `${bytes(disk)} on disk`
  if (download === 0) return 'Size shown when the download starts'
  return `${unknown > 0 ? 'At least ' : ''}${bytes(download)} to download`
}

function abilitiesOf({ languages, voices, cloning }: Model): string {
  const spoken = languages.length > 6 ? `${languages.length} languages` : languages.join(', ')
  const parts = [
    spoken,
    voices > 0 ? `${count(voices)} ${voices === 1 ? 'voice' : 'voices'}` : null,
    cloning === null ? null : `clones (${cloning})`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

function Progress({ pull, name }: { pull: Pull; name: string }) {
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

interface DialogProps {
  model: Model
  onClose: () => void
  onChanged: () => void
}

function PullDialog({ model: { id, name, license }, onClose, onChanged }: DialogProps) {
  const pull = async () => {
    await send('POST', `${path}/${id}/pull`)
    onClose()
    onChanged()
    announce(`${name} is being downloaded.`)
  }
  return (
    <Ask title={`Install ${name}`} action="Download" onYes={pull} onClose={onClose}>
      <p>
        <strong>{license.name}.</strong> {license.attribution}
      </p>
      {license.limits === null ? null : <p class="note">{license.limits}</p>}
    </Ask>
  )
}

function RemoveDialog({ model: { id, name, disk_bytes: held }, onClose, onChanged }: DialogProps) {
  const remove = async () => {
    const { freed_bytes: freed } = await send<{ freed_bytes: number }>('DELETE', `${path}/${id}`)
    onClose()
    onChanged()
    announce(`${name} was removed; ${bytes(freed)} freed.`)
  }
  return (
    <Ask
      title={`Remove ${name}?`}
      action="Remove model"
      busy="Removing…"
      refusal="Cancel"
      isDestructive
      onYes={remove}
      onClose={onClose}
    >
      <p>
        It uses {bytes(held)} on disk; files shared with other models stay. Voices cloned with it stay, and work again
        once it is back.
      </p>
    </Ask>
  )
}
