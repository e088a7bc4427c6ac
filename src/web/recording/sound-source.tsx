/** The source of a clip: a file or the microphone. What came can be heard before it is sent. */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { MicrophoneSource } from './microphone-source.tsx'
import { Choice, Field } from '../parts/controls.tsx'
import { bytes } from '../parts/format.ts'
import type { Clip } from './recorder.ts'

interface SourceProps {
  clip: Clip | null
  onClip: (clip: Clip | null) => void
  /** Recording ends by itself. */
  maxSeconds: number
  advice: string
  /** Beside the microphone. */
  reading?: ComponentChildren
  /** What is shown of the clip; a plain player unless given. */
  children?: ComponentChildren
}

export function SoundSource({ clip, onClip, maxSeconds, advice, reading, children }: SourceProps) {
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
          label="Source of the clip"
          value={kind}
          options={[
            ['file', 'File'],
            ['microphone', 'Microphone'],
          ]}
          onChange={choose}
        />
      </div>
      <p class="hint">{advice}</p>
      {kind === 'file' ? (
        <FilePick onClip={onClip} />
      ) : (
        <>
          {reading}
          <MicrophoneSource maxSeconds={maxSeconds} onClip={onClip} />
        </>
      )}
      {clip === null ? null : (children ?? <Listen clip={clip} />)}
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
        class="drop-here"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          onClip(file === undefined ? null : { file, name: file.name })
        }}
      />
    )}
  </Field>
)

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
