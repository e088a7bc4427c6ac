/** Chooses how to speak, besides the voice: model, format, pace. */
import { Field } from '../parts/controls.tsx'
import { type Format, formats, type SpeechAsk } from './speech.ts'

export interface Voice {
  voice_id: string
  name: string
  description: string | null
  labels: Record<string, string>
  status: 'processing' | 'ready' | 'failed'
  /** False while the model that it speaks with is missing. */
  usable: boolean
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

export const SpeechOptions = ({ ask, onChange, voices, models }: OptionsProps) => (
  <div class="fields">
    <Field label="Model">
      {(id) => (
        <select
          id={id}
          value={ask.model ?? ''}
          onChange={({ currentTarget }) => onChange(withModel(ask, currentTarget.value, voices))}
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
          min="0.5"
          max="2"
          step="0.05"
          value={ask.speed}
          onInput={({ currentTarget }) => onChange({ ...ask, speed: Number(currentTarget.value) })}
        />
      )}
    </Field>
  </div>
)

/** A voice of another model is not spoken with: the choice goes back to the model's own. */
function withModel(ask: SpeechAsk, chosen: string, voices: readonly Voice[]): SpeechAsk {
  const model = chosen === '' ? null : chosen
  const voice = voices.find(({ voice_id: id }) => id === ask.voice)
  const stays = voice === undefined || model === null || voice.model === model
  return { ...ask, model, voice: stays ? ask.voice : null }
}
