/** One voice: its picture and sound, its owner, and what the owner may do with it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../parts/announce.tsx'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import { Problem } from '../parts/controls.tsx'
import { VoicePicture } from '../parts/voice-picture.tsx'
import type { Voice } from '../speak/options.tsx'
import { VoiceForm } from './form.tsx'

interface CardProps {
  voice: Voice
  onChanged: () => void
}

export function VoiceCard({ voice, onChanged }: CardProps) {
  return (
    <article class="card voice" aria-label={voice.name} tabIndex={-1}>
      <VoicePicture id={voice.voice_id} name={voice.name} isReady={voice.status === 'ready'} />
      <div class="row apart">
        <h3 dir="auto">{voice.name}</h3>
        <Status voice={voice} />
      </div>
      {voice.description === null ? null : (
        <p class="hint" dir="auto">
          {voice.description}
        </p>
      )}
      {voice.error === null ? null : <p class="error">{voice.error.message} Delete this voice and try another clip.</p>}
      <div class="row">
        <span class="tag">{voice.model}</span>
        {voice.fidelity === 'approximate' ? <span class="tag">approximate</span> : null}
        {Object.entries(voice.labels).map(([name, value]) => (
          <span class="tag" key={name} title={name} dir="auto">
            {value.replaceAll('_', ' ')}
          </span>
        ))}
      </div>
      <div class="row">
        {voice.status === 'ready' ? <Play id={voice.voice_id} name={voice.name} /> : null}
        {voice.is_owner ? <OwnerActions voice={voice} onChanged={onChanged} /> : null}
      </div>
    </article>
  )
}

function Status({ voice }: { voice: Voice }) {
  if (voice.status === 'processing') return <span class="tag busy">being created</span>
  if (voice.status === 'failed') return <span class="tag bad">failed</span>
  return voice.is_owner ? <span class="tag good">yours</span> : <span class="tag">public</span>
}

/** One voice plays at a time. */
let heard: HTMLAudioElement | null = null

function Play({ id, name }: { id: string; name: string }) {
  const [playing, setPlaying] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const audio = useRef<HTMLAudioElement>(null)
  useEffect(() => () => audio.current?.pause(), [])
  const toggle = () => {
    const own = audio.current
    if (own === null) return
    if (playing) return own.pause()
    if (heard !== own) heard?.pause()
    heard = own
    own.currentTime = 0
    setError(null)
    own.play().catch(() => setError(new Error('The preview could not be played.')))
  }
  return (
    <>
      <audio
        ref={audio}
        preload="none"
        src={`/v1/voices/${id}/preview?response_format=mp3`}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setPlaying(false)}
      />
      <button class="small" onClick={toggle} aria-label={`${playing ? 'Stop' : 'Play'} ${name}`}>
        {playing ? '■ Stop' : '▶ Play'}
      </button>
      <Problem error={error} />
    </>
  )
}

function OwnerActions({ voice, onChanged }: CardProps) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const remove = async () => {
    await send('DELETE', `/v1/voices/${voice.voice_id}`)
    close()
    onChanged()
    announce(`${voice.name} was deleted.`)
  }
  return (
    <>
      <button class="small" aria-label={`Edit ${voice.name}`} onClick={() => setOpen('edit')}>
        Edit
      </button>
      <button class="small" aria-label={`Delete ${voice.name}`} onClick={() => setOpen('delete')}>
        Delete
      </button>
      {open === 'edit' ? <VoiceForm voice={voice} onClose={close} onChanged={onChanged} /> : null}
      {open === 'delete' ? (
        <Ask
          title={`Delete ${voice.name}?`}
          action="Delete voice"
          busy="Deleting…"
          refusal="Cancel"
          isDestructive
          onYes={remove}
          onClose={close}
        >
          <p>This permanently deletes the recording and the voice. Requests that use it will fail.</p>
        </Ask>
      ) : null}
    </>
  )
}
