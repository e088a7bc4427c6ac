/** Two voices on one sentence, spoken when both are chosen and heard one after the other. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { jsonType, request } from '../api.ts'
import { Field, Problem } from '../parts/controls.tsx'
import { speakWith } from '../parts/first-voice.ts'
import { Icon } from '../parts/icon.tsx'
import type { Voice } from '../speak/options.tsx'

interface CompareProps {
  /** One or two. */
  voices: readonly Voice[]
  onClose: () => void
}

const sample = 'The myna learns the sounds that it hears, and says them again in its own time.'

export function Compare({ voices, onClose }: CompareProps) {
  const [input, setInput] = useState(sample)
  const { sounds, isRunning, error, start } = useBoth(voices)
  const names = voices.map(({ voice_id: id, name }) => <bdi key={id}>{name}</bdi>)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (!isRunning && voices.length === 2) start(input)
  }
  return (
    <section class="card" aria-label="Compare">
      <div class="row apart compare-head">
        <h2>
          {voices.length < 2 ? (
            'Compare two voices'
          ) : (
            <>
              Compare {names[0]} and {names[1]}
            </>
          )}
        </h2>
        <button class="quiet icon" aria-label="Stop comparing" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {voices.length < 2 ? (
        <p class="hint" role="status">
          {names[0]} is chosen. Press Compare on another voice.
        </p>
      ) : (
        <form class="compare" onSubmit={submit}>
          <Field label="Sentence">
            {(id) => (
              <input
                id={id}
                value={input}
                maxLength={500}
                dir="auto"
                onInput={({ currentTarget }) => setInput(currentTarget.value)}
              />
            )}
          </Field>
          <button aria-disabled={isRunning} disabled={input.trim() === ''}>
            {isRunning ? 'Speaking…' : 'Speak with both'}
          </button>
        </form>
      )}
      <Problem error={error} />
      {sounds.length === 0 ? null : <Both sounds={sounds} />}
    </section>
  )
}

interface Sound {
  voice: Voice
  url: string
}

/** The players of both, of which the second follows the first. */
function Both({ sounds }: { sounds: readonly Sound[] }) {
  const players = useRef<HTMLAudioElement[]>([])
  const playAfter = (index: number) => void players.current[index + 1]?.play().catch(() => {})
  return (
    <div class="fields">
      {sounds.map(({ voice, url }, index) => (
        <div class="field" key={voice.voice_id}>
          <span class="row apart">
            <span class="label" dir="auto">
              {voice.name}
            </span>
            <button class="small quiet" onClick={() => speakWith(voice.voice_id)}>
              Use this one
            </button>
          </span>
          <audio
            ref={(own) => void (own !== null && (players.current[index] = own))}
            controls
            src={url}
            autoplay={index === 0}
            aria-label={`The sentence by ${voice.name}`}
            onEnded={() => playAfter(index)}
          />
        </div>
      ))}
    </div>
  )
}

function useBoth(voices: readonly Voice[]) {
  const [sounds, setSounds] = useState<readonly Sound[]>([])
  const [isRunning, setIsRunning] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const both = voices.map(({ voice_id: id }) => id).join()
  // Sounds of other voices are not shown any more.
  useEffect(() => setSounds([]), [both])
  useEffect(() => () => sounds.forEach(({ url }) => URL.revokeObjectURL(url)), [sounds])
  const start = async (input: string) => {
    setIsRunning(true)
    setError(null)
    setSounds([])
    try {
      const spoken: Sound[] = []
      for (const voice of voices) {
        const body = JSON.stringify({ input, voice: voice.voice_id, response_format: 'mp3' })
        const answer = await request('/v1/audio/speech', { method: 'POST', headers: jsonType, body })
        spoken.push({ voice, url: URL.createObjectURL(await answer.blob()) })
      }
      setSounds(spoken)
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setIsRunning(false)
    }
  }
  return { sounds, isRunning, error, start: (input: string) => void start(input) }
}
