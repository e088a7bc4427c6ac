/** Making a voice from a clip: what makes a good one, the caller's word that it may be used, and how far it is. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { Field, Problem } from '../parts/controls.tsx'
import { Ask, Dialog } from '../parts/dialog.tsx'
import { DropAnywhere } from '../parts/drop.tsx'
import { speakWith } from '../parts/first-voice.ts'
import { useLoaded } from '../parts/loading.ts'
import { Reading } from '../recording/reading.tsx'
import type { Clip } from '../recording/recorder.ts'
import { SoundSource } from '../recording/sound-source.tsx'
import { Trim } from '../recording/trim.tsx'
import type { Voice } from '../speak/options.tsx'

const advice =
  'One person, 10 to 20 seconds, in a quiet room, close to the microphone but not too loud, without music. Speak the ' +
  'way you want the voice to sound; the clone copies mood, pace and background noise.'
const maxSeconds = 30
const consent = 'I am this person, or this person has explicitly and lawfully agreed to be cloned.'

interface CloneProps {
  /** What was dropped on the page. */
  given: Clip | null
  onClose: () => void
}

export function CloneDialog({ given, onClose }: CloneProps) {
  const [clip, setClip] = useState(given)
  // Cut only when it is sent.
  const kept = useRef<(() => Clip) | null>(null)
  const [voiceId, setVoiceId] = useState<string | null>(null)
  const choose = (next: Clip | null) => {
    setClip(next)
    kept.current = null
  }
  const make = async (form: FormData) => {
    if (clip === null) throw new Error('Choose or record a clip first.')
    const { file, name } = kept.current?.() ?? clip
    form.set('file', file, name)
    form.set('consent', consent)
    const answer = await request('/v1/voices', { method: 'POST', body: form })
    setVoiceId(((await answer.json()) as { voice_id: string }).voice_id)
  }
  const again = () => {
    choose(null)
    setVoiceId(null)
  }
  if (voiceId !== null) return <CloneProgress id={voiceId} onAgain={again} onClose={onClose} />
  return (
    <Ask title="Clone a voice" action="Create voice" busy="Sending…" onYes={make} onClose={onClose}>
      <DropAnywhere says="Drop the recording" onFile={(file) => choose({ file, name: file.name })} />
      <SoundSource clip={clip} onClip={choose} maxSeconds={maxSeconds} advice={advice} reading={<Reading />}>
        {clip === null ? null : <Trim clip={clip} maxSeconds={maxSeconds} onCut={(made) => (kept.current = made)} />}
      </SoundSource>
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

interface ProgressProps {
  id: string
  onAgain: () => void
  onClose: () => void
}

function CloneProgress({ id, onAgain, onClose }: ProgressProps) {
  const [isMade, setIsMade] = useState(false)
  const { value: voice, error } = useLoaded<Voice>(`/v1/voices/${id}`, isMade ? 0 : lookMs)
  const status = voice?.status ?? 'processing'
  useEffect(() => setIsMade(status !== 'processing'), [status])
  return (
    <Dialog title={titles[status](voice?.name ?? 'The voice')} onClose={onClose}>
      {status === 'processing' ? <progress aria-label="Creating the voice" /> : null}
      {status === 'failed' ? (
        <p class="error" role="alert">
          {voice?.error?.message ?? 'The voice could not be made.'} Nothing was charged. Try a longer or quieter clip.
        </p>
      ) : null}
      {status === 'ready' ? (
        <>
          <audio controls autoplay src={`/v1/voices/${id}/preview?response_format=mp3`} aria-label="The new voice" />
          <Better isApproximate={voice?.fidelity === 'approximate'} />
        </>
      ) : null}
      <Problem error={error} />
      <div class="row">
        {status === 'ready' ? (
          <button class="primary" autofocus onClick={() => speakWith(id)}>
            Speak with it
          </button>
        ) : null}
        <button autofocus={status !== 'ready'} onClick={onClose}>
          {status === 'processing' ? 'Continue in background' : 'Done'}
        </button>
        {status === 'processing' ? null : (
          <button class="quiet" onClick={onAgain}>
            Try another clip
          </button>
        )}
      </div>
    </Dialog>
  )
}

/** @param isApproximate whether the model takes pitch, pace and timbre alone */
const Better = ({ isApproximate }: { isApproximate: boolean }) => (
  <details>
    <summary>Not quite right? How to make a better one</summary>
    <ul>
      <li>Cut off silence, music and other people: keep the best 10 to 20 seconds.</li>
      <li>Go close to the microphone, in a room with curtains and carpets; a phone held near the mouth is good.</li>
      <li>Speak as the voice should sound. Its mood and pace become those of the clip.</li>
      {isApproximate ? (
        <li>
          The built-in model copies pitch, pace and timbre. For a closer likeness install a model that clones, such as
          Pocket TTS, under Models, and clone the clip again.
        </li>
      ) : null}
    </ul>
  </details>
)

const titles: Readonly<Record<Voice['status'], (name: string) => string>> = {
  processing: () => 'Creating the voice…',
  ready: (name) => `${name} is ready`,
  failed: () => 'The voice could not be made',
}
