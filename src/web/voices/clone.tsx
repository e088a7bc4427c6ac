/** Making a voice from a clip: what makes a good one, the caller's word that it may be used, and how far it is. */
import { useEffect, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { Ask, Dialog } from '../parts/dialog.tsx'
import { useLoaded } from '../parts/loading.ts'
import { Field, Problem } from '../parts/controls.tsx'
import { SoundSource } from '../recording/sound-source.tsx'
import type { Voice } from '../speak/options.tsx'
import type { Clip } from '../recording/recorder.ts'

const advice =
  'One person, 5 to 20 seconds, in a quiet room, close to the microphone but not too loud, without music. Speak the ' +
  'way you want the voice to sound; the clone copies mood, pace and background noise.'
const maxSeconds = 30
const consent = 'I am this person, or this person has explicitly and lawfully agreed to be cloned.'

export function CloneDialog({ onClose }: { onClose: () => void }) {
  const [clip, setClip] = useState<Clip | null>(null)
  const [voiceId, setVoiceId] = useState<string | null>(null)
  const make = async (form: FormData) => {
    if (clip === null) throw new Error('Choose or record a clip first.')
    form.set('file', clip.file, clip.name)
    form.set('consent', consent)
    const answer = await request('/v1/voices', { method: 'POST', body: form })
    setVoiceId(((await answer.json()) as { voice_id: string }).voice_id)
  }
  if (voiceId !== null) return <CloneProgress id={voiceId} onClose={onClose} />
  return (
    <Ask title="Clone a voice" action="Create voice" busy="Sending…" onYes={make} onClose={onClose}>
      <SoundSource clip={clip} onClip={setClip} maxSeconds={maxSeconds} advice={advice} />
      <div class="fields">
        <Field label="Name">{(id) => <input id={id} name="name" required maxLength={100} dir="auto" />}</Field>
        <Field label="Language" hint="For example en or de-AT; may be empty">
          {(id) => <input id={id} name="language" maxLength={16} />}
        </Field>
        <Field label="Description" wide>
          {(id) => <input id={id} name="description" maxLength={500} dir="auto" />}
        </Field>
      </div>
      <label class="check">
        <input type="checkbox" required /> {consent}
      </label>
    </Ask>
  )
}

const lookMs = 700

function CloneProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const [isMade, setIsMade] = useState(false)
  const { value: voice, error } = useLoaded<Voice>(`/v1/voices/${id}`, isMade ? 0 : lookMs)
  const status = voice?.status ?? 'processing'
  useEffect(() => setIsMade(status !== 'processing'), [status])
  return (
    <Dialog title={titles[status]} onClose={onClose}>
      {status === 'processing' ? <progress aria-label="Creating the voice" /> : null}
      {status === 'failed' ? (
        <p class="error" role="alert">
          {voice?.error?.message ?? 'The voice could not be made.'} Nothing was charged. Try a longer or quieter clip.
        </p>
      ) : null}
      {status === 'ready' ? (
        <audio controls autoplay src={`/v1/voices/${id}/preview?response_format=mp3`} aria-label="The new voice" />
      ) : null}
      <Problem error={error} />
      <div class="row">
        <button class="primary" autofocus onClick={onClose}>
          {status === 'processing' ? 'Continue in background' : 'Done'}
        </button>
      </div>
    </Dialog>
  )
}

const titles: Readonly<Record<Voice['status'], string>> = {
  processing: 'Creating the voice…',
  ready: 'The voice is ready',
  failed: 'The voice could not be made',
}
