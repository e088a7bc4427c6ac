/** Sound on a page: one at a time, and a line that moves over the picture of what plays. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from './announce.tsx'

interface Sounding {
  pause: () => unknown
}

let sounding: Sounding | null = null

/** Called by what begins to play. What played before pauses. */
export function takeTurn(own: Sounding): void {
  if (sounding !== own) sounding?.pause()
  sounding = own
}

/** Every player in the page takes its turn like that. Call once. */
export const oneSoundAtATime = (): void =>
  document.addEventListener('play', ({ target }) => target instanceof HTMLMediaElement && takeTurn(target), true)

/** The picture's margin, as a share of its width: the sound is drawn between (audio/picture: 4.5 % of its height). */
const margin = 0.0225

export interface Sound {
  audio: RefObject<HTMLAudioElement | null>
  /** Over the picture, as wide as it; without one, nothing moves. */
  line: RefObject<HTMLDivElement | null>
  isPlaying: boolean
  /** Plays from the start, or stops. */
  toggle: () => void
  events: Record<'onPlay' | 'onPause' | 'onEnded', () => void>
}

/** @param name of what is heard, for the message when it cannot be played */
export function useSound(name: string): Sound {
  const audio = useRef<HTMLAudioElement>(null)
  const line = useRef<HTMLDivElement>(null)
  const [isPlaying, setIsPlaying] = useState(false)
  useEffect(() => () => audio.current?.pause(), [])
  useEffect(() => {
    if (!isPlaying || line.current === null) return
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
    own.currentTime = 0
    own.play().catch(() => announce(`${name} could not be played.`))
  }
  const ended = () => setIsPlaying(false)
  return {
    audio,
    line,
    isPlaying,
    toggle,
    events: { onPlay: () => setIsPlaying(true), onPause: ended, onEnded: ended },
  }
}
