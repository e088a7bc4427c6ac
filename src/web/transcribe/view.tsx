/** A transcript: its text, its segments, which play when clicked, and its files. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Copy } from '../parts/copy.tsx'
import { Choice } from '../parts/controls.tsx'
import { type Segment, srtOf, type Transcript, vttOf } from './transcription.ts'
import { clock } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { languageName } from '../voices/voice.ts'
import type { Clip } from '../recording/recorder.ts'

interface ViewProps {
  transcript: Transcript
  clip: Clip | null
  running: boolean
}

export function TranscriptView({ transcript, clip, running }: ViewProps) {
  const [as, setAs] = useState<'text' | 'segments'>('text')
  return (
    <section class="card" aria-label="Transcript">
      <div class="row apart">
        <h2>Transcript</h2>
        <Choice
          label="Format"
          value={as}
          options={[
            ['text', 'Text'],
            ['segments', 'Segments'],
          ]}
          onChange={setAs}
        />
      </div>
      <p class="unseen" role="status">
        {inWords(transcript, running)}
      </p>
      {running ? <Heard transcript={transcript} /> : null}
      {transcript.language === null ? null : <p class="hint">Language: {languageName(transcript.language)}</p>}
      {as === 'text' ? (
        <p class="transcript" dir="auto">
          {transcript.text}
          {transcript.isWhole && transcript.text === '' ? (
            <span class="hint">No speech found in this recording.</span>
          ) : null}
        </p>
      ) : (
        <Segments segments={transcript.segments} clip={clip} />
      )}
      {transcript.isWhole ? <Files transcript={transcript} name={clip?.name ?? 'transcript'} /> : null}
    </section>
  )
}

/** For screen readers: not every word as it arrives, only that it has ended. */
function inWords({ isWhole, text }: Transcript, running: boolean): string {
  if (running) return 'Listening.'
  if (!isWhole) return 'The transcript is incomplete.'
  return text === '' ? 'No speech found in this recording.' : 'The transcript is complete.'
}

function Heard({ transcript: { heard } }: { transcript: Transcript }) {
  if (heard === null || heard.of === null) return <progress aria-label="Listening" />
  return (
    <div class="field">
      <progress aria-label="Listening" value={heard.seconds} max={heard.of} />
      <span class="hint numbers">
        {clock(heard.seconds)} of {clock(heard.of)}
      </span>
    </div>
  )
}

function Segments({ segments, clip }: { segments: readonly Segment[]; clip: Clip | null }) {
  const audio = useRef<HTMLAudioElement>(null)
  const url = useMemo(() => (clip === null ? undefined : URL.createObjectURL(clip.file)), [clip])
  useEffect(() => () => URL.revokeObjectURL(url ?? ''), [url])
  const until = useRef(Infinity)
  const hear = ({ start, end }: Segment) => {
    const own = audio.current
    if (own === null) return
    own.currentTime = start
    until.current = end
    void own.play().catch(() => {})
  }
  const pauseAtEnd = () => {
    const own = audio.current
    if (own !== null && own.currentTime >= until.current) own.pause()
  }
  return (
    <>
      <audio ref={audio} src={url} onTimeUpdate={pauseAtEnd} />
      <ol class="segments">
        {segments.map((segment, at) => (
          <li key={at}>
            <button onClick={() => hear(segment)} title="Play">
              <time>{clock(segment.start, true)}</time>
              <span dir="auto">{segment.text}</span>
            </button>
          </li>
        ))}
      </ol>
    </>
  )
}

const files: readonly (readonly [extension: string, contentOf: (transcript: Transcript) => string])[] = [
  ['txt', ({ text }) => text],
  ['srt', ({ segments }) => srtOf(segments)],
  ['vtt', ({ segments }) => vttOf(segments)],
]

function Files({ transcript, name }: { transcript: Transcript; name: string }) {
  const base = name.replace(/\.\w+$/, '')
  const save = (content: string, extension: string) => {
    const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }))
    const link = Object.assign(document.createElement('a'), { href: url, download: `${base}.${extension}` })
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <div class="row">
      <Copy text={transcript.text} kind="small" />
      {files.map(([extension, contentOf]) => (
        <button
          key={extension}
          class="small"
          title={`Download as .${extension}`}
          onClick={() => save(contentOf(transcript), extension)}
        >
          <Icon name="download" /> {extension.toUpperCase()}
        </button>
      ))}
    </div>
  )
}
