/** Sound with a line that moves over its picture. One voice plays at a time on the page. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

let heard: HTMLAudioElement | null = null

/** What else begins to play ends the preview. */
export const hushPreview = (): void => heard?.pause()

/** The picture's margin, as a share of its width: the sound is drawn between (audio/picture: 4.5 % of its height). */
const margin = 0.0225

export interface Playing {
  audio: RefObject<HTMLAudioElement | null>
  /** Over the picture, as wide as it. */
  line: RefObject<HTMLDivElement | null>
  isPlaying: boolean
  error: Error | null
  /** Plays from the start, or stops. */
  toggle: () => void
}

export function usePlaying(): Playing & { events: Record<'onPlay' | 'onPause' | 'onEnded', () => void> } {
  const audio = useRef<HTMLAudioElement>(null)
  const line = useRef<HTMLDivElement>(null)
  const [isPlaying, setIsPlaying] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => () => audio.current?.pause(), [])
  useEffect(() => {
    if (!isPlaying) return
    let frame = 0
    const move = () => {
      const { currentTime = 0, duration = 0 } = audio.current ?? {}
      const share = duration > 0 ? margin + (1 - 2 * margin) * Math.min(1, currentTime / duration) : margin
      // Through the style's own interface: the page's policy allows no style attributes.
      line.current?.style.setProperty('transform', `translateX(${(share * 100).toFixed(2)}%)`)
      frame = requestAnimationFrame(move)
    }
    move()
    return () => cancelAnimationFrame(frame)
  }, [isPlaying])
  const toggle = () => {
    const own = audio.current
    if (own === null) return
    if (isPlaying) return own.pause()
    if (heard !== own) hushPreview()
    heard = own
    own.currentTime = 0
    setError(null)
    own.play().catch(() => setError(new Error('The preview could not be played.')))
  }
  const ended = () => setIsPlaying(false)
  const events = { onPlay: () => setIsPlaying(true), onPause: ended, onEnded: ended }
  return { audio, line, isPlaying, error, toggle, events }
}
