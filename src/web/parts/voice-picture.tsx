/**
 * The picture of a voice: what it sounds like, in magma on near-black. The dark picture serves both themes, so that a
 * voice looks the same everywhere.
 */
import { useEffect, useState } from 'preact/hooks'

/** The server limits pictures per minute: a refused one is requested again, but not forever. */
const againMs = 30_000
const maxTries = 3

interface VoicePictureProps {
  id: string
  name: string
  /** Without one the place is kept. */
  isReady: boolean
  /** Beside the name, which says all there is to hear about it. */
  isDecoration?: boolean
}

export function VoicePicture({ id, name, isReady, isDecoration = false }: VoicePictureProps) {
  const [tries, setTries] = useState(1)
  const [isMissing, setIsMissing] = useState(false)
  useEffect(() => {
    if (!isMissing || tries >= maxTries) return
    const timer = setTimeout(() => {
      setTries(tries + 1)
      setIsMissing(false)
    }, againMs)
    return () => clearTimeout(timer)
  }, [isMissing, tries])
  if (!isReady || isMissing) return <div class="picture" />
  return (
    <img
      class="picture"
      src={`/v1/voices/${id}/preview.webp?theme=dark`}
      loading="lazy"
      onError={() => setIsMissing(true)}
      alt={isDecoration ? '' : `Waveform and spectrogram of ${name}`}
    />
  )
}
