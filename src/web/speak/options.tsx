/** How to speak: voice, model, format, pace. */
import { useMemo } from 'preact/hooks'
import { Field } from '../parts/controls.tsx'
import { type Format, formats, type SpeechAsk } from './speech.ts'

export interface Voice {
  voice_id: string
  name: string
  description: string | null
  labels: Record<string, string>
  status: 'processing' | 'ready' | 'failed'
  error: { code: string; message: string } | null
  language: string | null
  is_owner: boolean
  is_public: boolean
  model: string
  fidelity: string
  created_at: number
  category: 'cloned' | 'premade'
}

interface OptionsProps {
  ask: SpeechAsk
  onChange: (ask: SpeechAsk) => void
  voices: readonly Voice[]
  models: readonly { id: string; name: string }[]
}

export function SpeechOptions({ ask, onChange, voices, models }: OptionsProps) {
  const sorted = useMemo(() => voices.toSorted((a, b) => a.name.localeCompare(b.name)), [voices])
  const ready = sorted.filter(({ status, model }) => status === 'ready' && (ask.model === null || model === ask.model))
  const own = ready.filter(({ is_owner: isOwner }) => isOwner)
  const others = ready.filter(({ is_owner: isOwner }) => !isOwner)
  const empty = (value: string) => (value === '' ? null : value)
  return (
    <div class="fields">
      <Field label="Voice">
        {(id) => (
          <select
            id={id}
            value={ask.voice ?? ''}
            onChange={({ currentTarget }) => onChange({ ...ask, voice: empty(currentTarget.value) })}
          >
            <option value="">Default</option>
            <VoiceGroup label="Yours" voices={own} />
            <VoiceGroup label="Public" voices={others} />
          </select>
        )}
      </Field>
      <Field label="Model">
        {(id) => (
          <select
            id={id}
            value={ask.model ?? ''}
            onChange={({ currentTarget }) => onChange(withModel(ask, empty(currentTarget.value), voices))}
          >
            <option value="">Automatic</option>
            {models.map((model) => (
              <option key={model.id} value={model.id}>
                {model.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Format">
        {(id) => (
          <select
            id={id}
            value={ask.format}
            onChange={({ currentTarget }) => onChange({ ...ask, format: currentTarget.value as Format })}
          >
            {formats.map((format) => (
              <option key={format} value={format}>
                {format === 'pcm' ? 'PCM (raw)' : format.toUpperCase()}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={`Speed ${ask.speed.toFixed(2)}×`}>
        {(id) => (
          <input
            id={id}
            type="range"
            min="0.25"
            max="4"
            step="0.05"
            value={ask.speed}
            onInput={({ currentTarget }) => onChange({ ...ask, speed: Number(currentTarget.value) })}
          />
        )}
      </Field>
    </div>
  )
}

/** A voice of another model is not spoken with: the choice goes back to the model's own. */
function withModel(ask: SpeechAsk, model: string | null, voices: readonly Voice[]): SpeechAsk {
  const voice = voices.find(({ voice_id: id }) => id === ask.voice)
  const stays = voice === undefined || model === null || voice.model === model
  return { ...ask, model, voice: stays ? ask.voice : null }
}

const VoiceGroup = ({ label, voices }: { label: string; voices: readonly Voice[] }) =>
  voices.length === 0 ? null : (
    <optgroup label={label}>
      {voices.map((voice) => (
        <option key={voice.voice_id} value={voice.voice_id}>
          {voice.name} ({voice.language ?? voice.model})
        </option>
      ))}
    </optgroup>
  )
