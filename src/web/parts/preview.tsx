/** Hearing a voice or a model: a round button that plays its sample. */
import { Icon } from './icon.tsx'
import { useSound } from './sound.ts'

export const previewOf = (voiceId: string): string => `/v1/voices/${voiceId}/preview?response_format=mp3`

interface PreviewProps {
  src: string
  /** Of what is heard. */
  name: string
  /** As tall as the small buttons beside it. */
  isSmall?: boolean
}

export function PreviewButton({ src, name, isSmall = false }: PreviewProps) {
  const { audio, isPlaying, toggle, events } = useSound(name)
  return (
    <>
      <audio ref={audio} preload="none" src={src} {...events} />
      <button
        type="button"
        class={isSmall ? 'small icon' : 'round'}
        aria-label={`${isPlaying ? 'Stop' : 'Hear'} ${name}`}
        onClick={(event) => {
          event.stopPropagation()
          toggle()
        }}
      >
        <Icon name={isPlaying ? 'stop' : 'play'} />
      </button>
    </>
  )
}
