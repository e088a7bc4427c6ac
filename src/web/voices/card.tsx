/** One voice: its picture with its sound, whose it is, and what can be done with it. */
import { useState } from 'preact/hooks'
import { send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { toClipboard } from '../parts/copy.tsx'
import { Ask } from '../parts/dialog.tsx'
import { speakWith } from '../parts/first-voice.ts'
import { Icon } from '../parts/icon.tsx'
import { previewOf } from '../parts/preview.tsx'
import { useSound } from '../parts/sound.ts'
import { VoicePicture } from '../parts/voice-picture.tsx'
import type { Voice } from '../speak/options.tsx'
import { VoiceForm } from './form.tsx'
import { Remake } from './remake.tsx'
import { languageName, languageOf } from './voice.ts'

interface CardProps {
  voice: Voice
  /** Whether the key may speak, and change voices. */
  mayUse: boolean
  mayChange: boolean
  mayPublish: boolean
  isDefault: boolean
  onDefault: () => void
  /** Whether it is one of the two that are compared. */
  isCompared: boolean
  onCompare: () => void
  onChanged: () => void
}

export function VoiceCard(props: CardProps) {
  const { voice, mayUse, mayChange, mayPublish, isDefault, onChanged } = props
  const isUsable = voice.status === 'ready' && voice.usable && mayUse
  return (
    <article class="card voice" aria-label={voice.name} tabIndex={-1}>
      <Sound voice={voice} />
      <div class="row apart">
        <h3 dir="auto">{voice.name}</h3>
        <span class="row tight">
          {isDefault ? <span class="tag good">your default</span> : null}
          <Status voice={voice} />
        </span>
      </div>
      {voice.description === null ? null : (
        <p class="hint" dir="auto">
          {voice.description}
        </p>
      )}
      {voice.error === null ? null : <p class="error">{voice.error.message} Delete this voice and try another clip.</p>}
      <Tags voice={voice} />
      {voice.status !== 'ready' || voice.usable ? null : (
        <Remake voice={voice} mayRemake={voice.is_owner && mayChange} onChanged={onChanged} />
      )}
      <div class="row voice-acts">
        {isUsable ? <Uses {...props} /> : null}
        <span>
          {isUsable && !isDefault ? <MakeDefault {...props} /> : null}
          <CopyId id={voice.voice_id} name={voice.name} />
          {voice.is_owner && mayChange ? <OwnerActions {...{ voice, mayPublish, onChanged }} /> : null}
        </span>
      </div>
    </article>
  )
}

function Status({ voice }: { voice: Voice }) {
  if (voice.status === 'processing') return <span class="tag busy">being created</span>
  if (voice.status === 'failed') return <span class="tag bad">failed</span>
  if (!voice.usable) return <span class="tag bad">silent</span>
  if (!voice.is_owner) return <span class="tag">public</span>
  return <span class="tag good">{voice.is_public ? 'yours, public' : 'yours'}</span>
}

function Tags({ voice }: { voice: Voice }) {
  const language = languageOf(voice)
  const others = Object.entries(voice.labels).filter(([name]) => name !== 'language')
  return (
    <div class="row tight">
      {language === '' ? null : <span class="tag">{languageName(language)}</span>}
      {others.map(([name, value]) => (
        <span class="tag" key={name} title={name} dir="auto">
          {value.replaceAll('_', ' ')}
        </span>
      ))}
      <span class="tag" title="The model that speaks with this voice">
        {voice.model}
      </span>
      {voice.fidelity === 'approximate' ? (
        <span class="tag" title="Pitch, pace and timbre are those of the clip; it is not an exact likeness">
          approximate
        </span>
      ) : null}
    </div>
  )
}

/** The picture plays when it is pressed, and a line shows where it is. */
function Sound({ voice }: { voice: Voice }) {
  const { voice_id: id, name, status } = voice
  const { audio, line, isPlaying, toggle, events } = useSound(name)
  return (
    <div class={isPlaying ? 'sounding playing' : 'sounding'}>
      <VoicePicture id={id} name={name} isReady={status === 'ready'} />
      <div class="playhead" ref={line} aria-hidden="true" />
      {status === 'ready' ? (
        <>
          <audio ref={audio} preload="none" src={previewOf(id)} {...events} />
          <button type="button" class="over" onClick={toggle} aria-label={`${isPlaying ? 'Stop' : 'Play'} ${name}`}>
            <span class="round">
              <Icon name={isPlaying ? 'stop' : 'play'} />
            </span>
          </button>
        </>
      ) : null}
    </div>
  )
}

const Uses = ({ voice, isCompared, onCompare }: CardProps) => (
  <>
    <button class="small" aria-label={`Use ${voice.name}`} onClick={() => speakWith(voice.voice_id)}>
      Use
    </button>
    <button class="small" aria-pressed={isCompared} aria-label={`Compare ${voice.name}`} onClick={onCompare}>
      Compare
    </button>
  </>
)

const MakeDefault = ({ voice, onDefault }: CardProps) => (
  <button
    class="small quiet icon"
    title="Set as default"
    aria-label={`Set ${voice.name} as default`}
    onClick={onDefault}
  >
    <Icon name="star" />
  </button>
)

function CopyId({ id, name }: { id: string; name: string }) {
  const copy = async (beside: HTMLElement) => {
    const isCopied = await toClipboard(id, beside)
    announce(isCopied ? `The id of ${name} is copied.` : `The browser did not allow it. The id is ${id}.`)
  }
  return (
    <button
      class="small quiet icon"
      title={`Copy the id ${id}`}
      aria-label={`Copy the id of ${name}`}
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      <Icon name="copy" />
    </button>
  )
}

function OwnerActions({ voice, mayPublish, onChanged }: Pick<CardProps, 'voice' | 'mayPublish' | 'onChanged'>) {
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
      <button class="small quiet icon" title="Edit" aria-label={`Edit ${voice.name}`} onClick={() => setOpen('edit')}>
        <Icon name="edit" />
      </button>
      <button
        class="small quiet icon"
        title="Delete"
        aria-label={`Delete ${voice.name}`}
        onClick={() => setOpen('delete')}
      >
        <Icon name="trash" />
      </button>
      {open === 'edit' ? <VoiceForm {...{ voice, mayPublish, onChanged }} onClose={close} /> : null}
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
