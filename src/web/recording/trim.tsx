/**
 * A clip as its waveform, of which a part is kept: two handles, and playing what lies between. The kept part is sent as
 * WAV; a clip of which everything is kept goes as it came.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { clock } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { takeTurn } from '../parts/sound.ts'
import { onThemeChange } from '../parts/theme.tsx'
import { Listen } from './listen.tsx'
import type { Clip } from './recorder.ts'
import { toS16, wavOf } from './wav.ts'

interface TrimProps {
  clip: Clip
  /** More than this is of no use: a longer clip begins with its first part chosen. */
  maxSeconds: number
  /** Called with what makes the clip that is to be sent: the whole, or the part that is kept. */
  onCut: (made: () => Clip) => void
}

/** A clip of an hour is not unpacked in the page. */
const maxBytes = 60 * 1024 * 1024
const stepS = 0.05

export function Trim({ clip, maxSeconds, onCut }: TrimProps) {
  const sound = useDecoded(clip)
  if (sound === 'unknown') return <Listen clip={clip} />
  if (sound === null) return <p class="loading">Reading the recording…</p>
  return <Handles key={clip.name + clip.file.size} clip={clip} sound={sound} maxSeconds={maxSeconds} onCut={onCut} />
}

/** @returns null while it is read; 'unknown' for what this browser cannot play, which the server may still read */
function useDecoded({ file }: Clip): AudioBuffer | null | 'unknown' {
  const [sound, setSound] = useState<AudioBuffer | null | 'unknown'>(null)
  useEffect(() => {
    let isOver = false
    setSound(null)
    const decoded = async (): Promise<AudioBuffer | 'unknown'> => {
      if (file.size > maxBytes) return 'unknown'
      const context = new OfflineAudioContext(1, 1, 48_000)
      return context.decodeAudioData(await file.arrayBuffer())
    }
    decoded().then(
      (found) => isOver || setSound(found),
      () => isOver || setSound('unknown'),
    )
    return () => {
      isOver = true
    }
  }, [file])
  return sound
}

function Handles({ clip, sound, maxSeconds, onCut }: TrimProps & { sound: AudioBuffer }) {
  const [from, setFrom] = useState(0)
  const [to, setTo] = useState(Math.min(sound.duration, maxSeconds))
  const { isPlaying, toggle } = usePart(sound, from, to)
  const isWhole = from === 0 && to >= sound.duration
  useEffect(
    () => onCut(() => (isWhole ? clip : { file: cut(sound, from, to), name: 'clip.wav' })),
    [clip, sound, from, to],
  )
  const move = (set: (value: number) => void) => (event: { currentTarget: HTMLInputElement }) =>
    set(Number(event.currentTarget.value))
  const range = { type: 'range', min: 0, max: sound.duration, step: stepS } as const
  const said = (seconds: number) => ({ 'aria-valuetext': `${seconds.toFixed(1)} seconds` })
  return (
    <div class="field trim" role="group" aria-label="The clip">
      <Wave sound={sound} from={from} to={to} />
      <input
        {...range}
        {...said(from)}
        aria-label="Begin"
        value={from}
        onInput={move((value) => setFrom(Math.min(value, to - 0.5)))}
      />
      <input
        {...range}
        {...said(to)}
        aria-label="End"
        value={to}
        onInput={move((value) => setTo(Math.max(value, from + 0.5)))}
      />
      <div class="row">
        <button type="button" class="small" onClick={toggle}>
          <Icon name={isPlaying ? 'stop' : 'play'} /> {isPlaying ? 'Stop' : 'Listen'}
        </button>
        <span class="hint numbers">
          {isWhole ? `${clip.name}, ${clock(sound.duration, true)}` : partInWords(from, to, sound.duration)}
        </span>
      </div>
    </div>
  )
}

const partInWords = (from: number, to: number, all: number): string =>
  `${clock(from, true)} to ${clock(to, true)}: ${(to - from).toFixed(1)} s of ${all.toFixed(1)} s`

/** Peaks in the colour of sound; what is not kept is faint. */
function Wave({ sound, from, to }: { sound: AudioBuffer; from: number; to: number }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const peaks = useMemo(() => peaksOf(sound, 300), [sound])
  useEffect(() => {
    const draw = () => {
      const own = canvas.current
      const pen = own?.getContext('2d')
      if (own === null || own === undefined || pen === null || pen === undefined) return
      const { color, accentColor } = getComputedStyle(own)
      pen.clearRect(0, 0, own.width, own.height)
      const step = own.width / peaks.length
      for (const [at, peak] of peaks.entries()) {
        const seconds = (at / peaks.length) * sound.duration
        pen.fillStyle = seconds >= from && seconds <= to ? accentColor : color
        const height = Math.max(2, peak * own.height)
        pen.fillRect(at * step, (own.height - height) / 2, step * 0.7, height)
      }
    }
    draw()
    return onThemeChange(draw)
  }, [peaks, sound, from, to])
  return <canvas ref={canvas} width="1200" height="160" aria-hidden="true" />
}

/** The loudest sample of each of this many stretches. */
function peaksOf(sound: AudioBuffer, count: number): number[] {
  const samples = sound.getChannelData(0)
  const each = Math.max(1, Math.floor(samples.length / count))
  return Array.from({ length: count }, (_, at) => {
    let peak = 0
    for (let index = at * each; index < (at + 1) * each; index += 4)
      peak = Math.max(peak, Math.abs(samples[index] ?? 0))
    return peak
  })
}

/** Plays the part; a changed part ends it. */
function usePart(sound: AudioBuffer, from: number, to: number) {
  const [isPlaying, setIsPlaying] = useState(false)
  const context = useRef<AudioContext | null>(null)
  const stop = () => {
    void context.current?.close()
    context.current = null
    setIsPlaying(false)
  }
  useEffect(() => stop, [sound, from, to])
  const toggle = () => {
    if (isPlaying) return stop()
    const own = new AudioContext()
    const source = new AudioBufferSourceNode(own, { buffer: sound })
    source.connect(own.destination)
    source.onended = () => context.current === own && stop()
    source.start(0, from, to - from)
    context.current = own
    takeTurn({ pause: () => context.current === own && stop() })
    setIsPlaying(true)
  }
  return { isPlaying, toggle }
}

/** All channels mixed to one, as the server would. */
function cut(sound: AudioBuffer, from: number, to: number): Blob {
  const { sampleRate, numberOfChannels } = sound
  const [first, last] = [Math.floor(from * sampleRate), Math.ceil(to * sampleRate)]
  const mixed = new Float32Array(Math.min(last, sound.length) - first)
  for (let channel = 0; channel < numberOfChannels; channel++) {
    const samples = sound.getChannelData(channel).subarray(first, last)
    for (const [at, sample] of samples.entries()) mixed[at] = (mixed[at] ?? 0) + sample / numberOfChannels
  }
  return wavOf([toS16(mixed)], sampleRate)
}
