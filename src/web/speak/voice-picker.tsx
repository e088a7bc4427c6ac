/** Choosing a voice: its picture, name and description on a button; behind it all of them, to search and to hear. */
import { useMemo, useRef, useState } from 'preact/hooks'
import { Bird } from '../parts/bird.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { PreviewButton, previewOf } from '../parts/preview.tsx'
import { VoicePicture } from '../parts/voice-picture.tsx'
import type { Voice } from './options.tsx'

interface PickerProps {
  voices: readonly Voice[]
  /** null: the model's own. */
  chosen: string | null
  onChoose: (voiceId: string | null) => void
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
}

export function VoicePicker({ voices, chosen, onChoose, isOpen, onOpen }: PickerProps) {
  const voice = voices.find(({ voice_id: id }) => id === chosen)
  const name = voice?.name ?? 'Default voice'
  const choose = (id: string | null) => {
    onChoose(id)
    onOpen(false)
  }
  return (
    <>
      <button type="button" class="voice-button" aria-haspopup="dialog" onClick={() => onOpen(true)}>
        <Face voice={voice} />
        <span class="voice-words">
          <span class="unseen">Voice: </span>
          <strong dir="auto">{name}</strong>
          <span class="hint">{voice?.description ?? 'The best voice that is installed'}</span>
        </span>
        <Icon name="down" />
      </button>
      {isOpen ? (
        <Dialog title="Choose a voice" onClose={() => onOpen(false)}>
          <VoiceList voices={voices} chosen={chosen} onChoose={choose} />
        </Dialog>
      ) : null}
    </>
  )
}

const Face = ({ voice }: { voice: Voice | undefined }) => (
  <span class="voice-face">
    {voice === undefined ? (
      <Bird size={34} />
    ) : (
      <VoicePicture key={voice.voice_id} id={voice.voice_id} name={voice.name} isReady isDecoration />
    )}
  </span>
)

type ListProps = Pick<PickerProps, 'voices' | 'chosen' | 'onChoose'>

function VoiceList({ voices, chosen, onChoose }: ListProps) {
  const [sought, setSought] = useState('')
  const list = useRef<HTMLUListElement>(null)
  const sorted = useMemo(
    () => voices.toSorted((a, b) => Number(b.is_owner) - Number(a.is_owner) || a.name.localeCompare(b.name)),
    [voices],
  )
  const found = sorted.filter((voice) => isSought(voice, sought))
  /** Up and down go through the list, from the search as well. */
  const move = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('.pick') ?? [])]
    const at = buttons.indexOf(document.activeElement as HTMLElement)
    buttons[Math.max(0, Math.min(buttons.length - 1, at + by))]?.focus()
  }
  return (
    <div class="voice-list" onKeyDown={move}>
      <input
        type="search"
        placeholder="Search by name, language or style"
        aria-label="Search voices"
        value={sought}
        autofocus
        onInput={({ currentTarget }) => setSought(currentTarget.value)}
        onKeyDown={({ key }) => {
          const [first] = found
          if (key === 'Enter' && sought !== '' && first !== undefined) onChoose(first.voice_id)
        }}
      />
      <ul ref={list}>
        {sought === '' ? (
          <li>
            <button type="button" class="pick" aria-pressed={chosen === null} onClick={() => onChoose(null)}>
              <Face voice={undefined} />
              <span class="voice-words">
                <strong>Default voice</strong>
                <span class="hint">The best voice that is installed</span>
              </span>
            </button>
          </li>
        ) : null}
        {found.map((voice) => (
          <li key={voice.voice_id}>
            <VoiceChoice voice={voice} isChosen={voice.voice_id === chosen} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="hint">No voice matches “{sought}”.</p> : null}
    </div>
  )
}

interface ChoiceProps {
  voice: Voice
  isChosen: boolean
  onChoose: (voiceId: string) => void
}

const VoiceChoice = ({ voice, isChosen, onChoose }: ChoiceProps) => (
  <>
    <button type="button" class="pick" aria-pressed={isChosen} onClick={() => onChoose(voice.voice_id)}>
      <Face voice={voice} />
      <span class="voice-words">
        <strong dir="auto">{voice.name}</strong>
        <span class="hint" dir="auto">
          {voice.description ?? [voice.language, voice.model].filter((word) => word !== null).join(', ')}
        </span>
      </span>
      {voice.is_owner ? <span class="tag good">yours</span> : null}
    </button>
    <PreviewButton src={previewOf(voice.voice_id)} name={voice.name} />
  </>
)

function isSought({ name, description, language, model, labels }: Voice, sought: string): boolean {
  const words = [name, description, language, model, ...Object.values(labels)].join(' ').toLowerCase()
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word))
}
