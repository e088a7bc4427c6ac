/** Hearing a voice or a model: a round button that plays its sample. */
import { Icon } from './icon.tsx'
import { useSound } from './sound.ts'

export const previewOf = (voiceId: string): string => `/v1/voices/${voiceId}/preview?response_format=mp3`

/** @param src of the sound @param name of what is heard */
export function PreviewButton({ src, name }: { src: string; name: string }) {
  const { audio, isPlaying, toggle, events } = useSound(name)
  return (
    <>
      <audio ref={audio} preload="none" src={src} {...events} />
      <button
        type="button"
        class="round"
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
