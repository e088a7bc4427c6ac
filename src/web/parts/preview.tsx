/** Hearing a voice: a round button that plays its preview. One voice plays at a time. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from './announce.tsx'
import { Icon } from './icon.tsx'

let heard: HTMLAudioElement | null = null

/** What else begins to play ends the preview. */
export const hushPreview = (): void => heard?.pause()

export function PreviewButton({ id, name }: { id: string; name: string }) {
  const [playing, setPlaying] = useState(false)
  const audio = useRef<HTMLAudioElement>(null)
  useEffect(() => () => audio.current?.pause(), [])
  const toggle = (event: Event) => {
    event.stopPropagation()
    const own = audio.current
    if (own === null) return
    if (playing) return own.pause()
    if (heard !== own) hushPreview()
    heard = own
    own.currentTime = 0
    own.play().catch(() => announce(`The preview of ${name} could not be played.`))
  }
  return (
    <>
      <audio
        ref={audio}
        preload="none"
        src={`/v1/voices/${id}/preview?response_format=mp3`}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setPlaying(false)}
      />
      <button type="button" class="round" onClick={toggle} aria-label={`${playing ? 'Stop' : 'Hear'} ${name}`}>
        <Icon name={playing ? 'stop' : 'play'} />
      </button>
    </>
  )
}
