/** The player at the foot of every page: what is heard, as a waveform with a playhead, to pause, move in and keep. */
import { useEffect, useState } from 'preact/hooks'
import { clock } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { deck } from './deck.ts'
import { Waveform } from './waveform.tsx'

/** Renders again whenever the player plays something else, stops or begins. */
export function useDeck() {
  const [, setTurn] = useState(0)
  useEffect(() => {
    const turn = () => setTurn((before) => before + 1)
    deck.addEventListener('change', turn)
    return () => deck.removeEventListener('change', turn)
  }, [])
  return deck
}

const stepS = 5

export function Player() {
  const { track, isPlaying } = useDeck()
  useTicks(isPlaying)
  if (track === null) return null
  const { seconds, file } = track
  const positionS = Math.min(deck.positionS, seconds)
  const moveTo = ({ currentTarget, clientX }: MouseEvent) => {
    const { left, width } = (currentTarget as HTMLElement).getBoundingClientRect()
    deck.seek(((clientX - left) / width) * seconds)
  }
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -stepS, ArrowRight: stepS, Home: -Infinity, End: Infinity }[event.key]
    if (by === undefined) return
    event.preventDefault()
    event.stopPropagation()
    deck.seek(deck.positionS + by)
  }
  return (
    <section class="player night" aria-label="Player">
      <button type="button" class="round play" aria-label={isPlaying ? 'Pause' : 'Play'} onClick={() => deck.toggle()}>
        <Icon name={isPlaying ? 'pause' : 'play'} />
      </button>
      <div class="player-title">
        <strong>{track.title}</strong>
        <span class="hint">{track.detail}</span>
      </div>
      <div
        class="player-wave"
        role="slider"
        tabIndex={0}
        aria-label="Position"
        aria-valuemin={0}
        aria-valuemax={Math.round(seconds)}
        aria-valuenow={Math.round(positionS)}
        aria-valuetext={`${clock(positionS)} of ${clock(seconds)}`}
        aria-disabled={file === null}
        onClick={moveTo}
        onKeyDown={step}
      >
        <Waveform peaks={track.peaks} seconds={seconds} positionS={() => deck.positionS} isMoving={isPlaying} />
      </div>
      <span class="hint numbers player-time">
        {clock(positionS)} / {clock(seconds)}
      </span>
      {file === null ? <span class="icon" /> : <FileLink file={file} name={track.fileName} />}
      <button type="button" class="quiet icon" aria-label="Close the player" onClick={() => deck.close()}>
        <Icon name="close" />
      </button>
    </section>
  )
}

/** Renders a few times a second, for the clock. */
function useTicks(isMoving: boolean): void {
  const [, setTick] = useState(0)
  useEffect(() => {
    if (!isMoving) return
    const timer = setInterval(() => setTick((before) => before + 1), 250)
    return () => clearInterval(timer)
  }, [isMoving])
}

export function FileLink({ file, name }: { file: Blob; name: string }) {
  const save = () => {
    const url = URL.createObjectURL(file)
    Object.assign(document.createElement('a'), { href: url, download: name }).click()
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  }
  return (
    <button type="button" class="quiet icon" aria-label={`Download ${name}`} title={`Download ${name}`} onClick={save}>
      <Icon name="download" />
    </button>
  )
}
