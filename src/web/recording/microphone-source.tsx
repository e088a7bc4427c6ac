/** Recording a clip: a level that reflects every sample, and a message when something is wrong with it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { fallen, Level, quiet, silent, tooLoud } from './level.tsx'
import { Problem } from '../parts/controls.tsx'
import { type Recorder, record, type Recording } from './recorder.ts'
import { clock } from '../parts/format.ts'
import type { Clip } from './recorder.ts'

interface MicrophoneProps {
  /** Recording ends by itself. */
  maxSeconds: number
  onClip: (clip: Clip | null) => void
}

interface Running {
  seconds: number
  /** Shown: falls slowly. 0 to 1. */
  level: number
  /** Loudest so far. */
  loudest: number
}

type State = { kind: 'idle' } | { kind: 'asking' } | ({ kind: 'recording' } & Running) | { kind: 'ending' }

const lookMs = 60

const lost = 'The microphone was disconnected. The recording up to that point is kept: listen to it, or record again.'

export function MicrophoneSource({ maxSeconds, onClip }: MicrophoneProps) {
  const { state, error, advice, start, stop } = useRecording({ maxSeconds, onClip })
  const running = state.kind === 'recording' ? state : { seconds: 0, level: 0, loudest: 0 }
  return (
    <div class="field">
      <div class="row">
        {state.kind === 'recording' ? (
          <button type="button" class="danger" onClick={stop}>
            ■ Stop
          </button>
        ) : (
          <button type="button" aria-disabled={state.kind !== 'idle'} onClick={start}>
            ● Record
          </button>
        )}
        <span class="clock" role="timer">
          {clock(running.seconds, true)}
        </span>
        <span class="hint numbers">
          {state.kind === 'asking'
            ? 'Waiting for the microphone: the browser may ask for permission.'
            : `${clock(Math.max(0, maxSeconds - running.seconds))} left`}
        </span>
      </div>
      <Level level={running.level} isOn={state.kind === 'recording'} />
      <p class="hint" role="status">
        {state.kind === 'recording' ? whileRunning(running) : advice}
      </p>
      <Problem error={error} />
    </div>
  )
}

/** After this long without sound, something is wrong with the microphone rather than with the speaker. */
const silenceS = 2

function whileRunning({ seconds, loudest }: Running): string {
  if (loudest >= tooLoud) return 'Too loud: the audio is clipping. Move back and try again.'
  if (seconds < silenceS) return ''
  if (loudest < silent) return 'No sound. Is it the right microphone, and is it switched on?'
  return loudest < quiet ? "Very quiet: move closer, or raise the microphone's level." : ''
}

function afterwards({ peak }: Recording): string {
  if (peak >= tooLoud)
    return 'The loudest parts are clipped and the clone would copy that. We recommend recording again.'
  if (peak < silent) return 'No sound was recorded. Is it the right microphone, and is it switched on?'
  return peak < quiet ? 'It is very quiet. It will sound better closer to the microphone.' : ''
}

/** One recording at a time; leaving the page discards it. */
function useRecording({ maxSeconds, onClip }: MicrophoneProps) {
  const [state, setState] = useState<State>({ kind: 'idle' })
  const [error, setError] = useState<Error | null>(null)
  const [advice, setAdvice] = useState('')
  const recorder = useRef<Recorder | null>(null)
  const isGone = useRef(false)
  useEffect(
    () => () => {
      isGone.current = true
      recorder.current?.drop()
    },
    [],
  )
  const stop = async () => {
    const own = recorder.current
    if (own === null) return
    recorder.current = null
    setState({ kind: 'ending' })
    const recording = await own.stop()
    if (isGone.current) return
    setAdvice(`${clock(own.seconds(), true)} recorded. ${afterwards(recording)}`)
    setState({ kind: 'idle' })
    onClip({ file: recording.file, name: 'recording.wav' })
  }
  const follow = (before: Running, beforeMs: number) => {
    const own = recorder.current
    if (own === null) return
    const [nowMs, peak] = [performance.now(), own.peak()]
    const level = Math.max(peak, fallen(before.level, nowMs - beforeMs))
    const now = { seconds: own.seconds(), level, loudest: Math.max(before.loudest, peak) }
    setState({ kind: 'recording', ...now })
    setTimeout(() => follow(now, nowMs), lookMs)
  }
  const onEnd = (why: 'full' | 'lost') => {
    if (why === 'lost') setError(new Error(lost))
    void stop()
  }
  const start = async () => {
    if (state.kind !== 'idle') return
    setError(null)
    setAdvice('')
    onClip(null)
    setState({ kind: 'asking' })
    try {
      const own = await record({ maxSeconds, onEnd })
      if (isGone.current) return own.drop()
      recorder.current = own
      follow({ seconds: 0, level: 0, loudest: 0 }, performance.now())
    } catch (cause) {
      setState({ kind: 'idle' })
      setError(cause as Error)
    }
  }
  return { state, error, advice, start: () => void start(), stop: () => void stop() }
}
