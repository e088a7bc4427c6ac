/** The source of a clip: a file or the microphone. What came can be heard before it is sent. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { MicrophoneSource } from './microphone-source.tsx'
import { Choice, Field } from '../parts/controls.tsx'
import { Listen } from './listen.tsx'
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
        <FilePick clip={clip} onClip={onClip} />
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

function FilePick({ clip, onClip }: Pick<SourceProps, 'clip' | 'onClip'>) {
  const field = useRef<HTMLInputElement>(null)
  // A file that was dropped elsewhere on the page is the chosen one.
  useEffect(() => {
    const own = field.current
    if (own === null || !(clip?.file instanceof File) || own.files?.[0] === clip.file) return
    const chosen = new DataTransfer()
    chosen.items.add(clip.file)
    own.files = chosen.files
  }, [clip])
  return (
    <Field label="Audio or video file">
      {(id) => (
        <input
          ref={field}
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
}
