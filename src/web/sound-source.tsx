/** Where a clip comes from, a file or the microphone: with a level to watch, and heard before it is sent. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Choice, Field, Problem } from './parts.tsx'
import { type Recorder, record } from './recorder.ts'
import { bytes, clock } from './words.ts'

export interface Clip {
  file: Blob
  name: string
}

interface SourceProps {
  clip: Clip | null
  onClip: (clip: Clip | null) => void
  /** Recording ends by itself. */
  maxSeconds: number
  advice: string
}

export function SoundSource({ clip, onClip, maxSeconds, advice }: SourceProps) {
  const [kind, setKind] = useState<'file' | 'microphone'>('file')
  const choose = (next: 'file' | 'microphone') => {
    setKind(next)
    onClip(null)
  }
  return (
    <div class="field">
      <span class="label">Clip</span>
      <div>
        <Choice
          label="Where the clip comes from"
          value={kind}
          options={[
            ['file', 'File'],
            ['microphone', 'Microphone'],
          ]}
          onChange={choose}
        />
      </div>
      <p class="hint">{advice}</p>
      {kind === 'file' ? <FilePick onClip={onClip} /> : <Microphone maxSeconds={maxSeconds} onClip={onClip} />}
      {clip === null ? null : <Listen clip={clip} />}
    </div>
  )
}

const FilePick = ({ onClip }: Pick<SourceProps, 'onClip'>) => (
  <Field label="Audio or video file">
    {(id) => (
      <input
        id={id}
        type="file"
        accept="audio/*,video/*"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          onClip(file === undefined ? null : { file, name: file.name })
        }}
      />
    )}
  </Field>
)

/** How the level is shown: below -40 dB is silence, and the last tenth is too loud. */
const shown = (peak: number): number => Math.max(0, Math.min(1, 1 + (20 * Math.log10(Math.max(peak, 1e-4))) / 40))
const tooLoud = 0.97

function Microphone({ maxSeconds, onClip }: Pick<SourceProps, 'maxSeconds' | 'onClip'>) {
  const [error, setError] = useState<Error | null>(null)
  const [state, setState] = useState<{ seconds: number; peak: number } | null>(null)
  const recorder = useRef<Recorder | null>(null)
  useEffect(() => () => recorder.current?.drop(), [])
  const stop = () => {
    const file = recorder.current?.stop()
    recorder.current = null
    setState(null)
    if (file !== undefined) onClip({ file, name: 'recording.wav' })
  }
  const follow = () => {
    const own = recorder.current
    if (own === null) return
    setState({ seconds: own.seconds(), peak: own.peak() })
    if (own.seconds() >= maxSeconds) stop()
    else setTimeout(follow, 80)
  }
  const start = async () => {
    setError(null)
    onClip(null)
    try {
      recorder.current = await record()
      follow()
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <div class="field">
      <div class="row">
        {state === null ? (
          <button type="button" onClick={() => void start()}>
            ● Record
          </button>
        ) : (
          <button type="button" class="danger" onClick={stop}>
            ■ Stop
          </button>
        )}
        <span class="clock" role="timer">
          {clock(state?.seconds ?? 0, true)}
        </span>
        <span class="hint">{clock(Math.max(0, maxSeconds - (state?.seconds ?? 0)))} left</span>
      </div>
      <Level peak={state?.peak ?? 0} />
      <Problem error={error} />
    </div>
  )
}

function Level({ peak }: { peak: number }) {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // By the style's own interface: the page's policy allows no style in an attribute.
    bar.current?.style.setProperty('transform', `scaleX(${shown(peak)})`)
  }, [peak])
  return (
    <div class={peak >= tooLoud ? 'meter loud' : 'meter'} role="img" aria-label="Level">
      <div ref={bar} />
    </div>
  )
}

function Listen({ clip }: { clip: Clip }) {
  const url = useMemo(() => URL.createObjectURL(clip.file), [clip])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <div class="row">
      <audio controls src={url} aria-label="The clip" />
      <span class="hint">
        {clip.name}, {bytes(clip.file.size)}
      </span>
    </div>
  )
}
