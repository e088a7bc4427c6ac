/**
 * The microphone as WAV. Samples are taken raw (no echo canceller, no noise gate, no automatic gain), because a clone
 * learns whatever those leave behind.
 */
import type { Block } from './recorder-worklet.ts'
import { toS16, wavOf } from './wav.ts'

export interface Recording {
  file: Blob
  /** Absolute value of the loudest sample, 0 to 1. */
  peak: number
}

export interface Recorder {
  /** Loudest sample since the last look, 0 to 1. */
  peak: () => number
  seconds: () => number
  /** Ends it and gives every sample until now. */
  stop: () => Promise<Recording>
  /** Ends it and forgets what was recorded. */
  drop: () => void
}

export interface RecorderParts {
  /** What comes after it is dropped. */
  maxSeconds: number
  /** Called once: there is no more room, or the device is gone. What was recorded until then is available. */
  onEnd: (why: 'full' | 'lost') => void
}

/** An audio thread that no longer answers is not waited for longer: what it sent is kept. */
const lastWordsMs = 1000

/** @throws Error with a message for the user */
export async function record({ maxSeconds, onEnd }: RecorderParts): Promise<Recorder> {
  const stream = await microphone()
  const context = new AudioContext({ latencyHint: 'playback' })
  const end = () => {
    for (const track of stream.getTracks()) track.stop()
    if (context.state !== 'closed') void context.close()
  }
  try {
    const tap = await tapOf(context)
    const taken = take(tap, Math.round(maxSeconds * context.sampleRate), () => onEnd('full'))
    for (const track of stream.getTracks()) track.addEventListener('ended', () => onEnd('lost'), { once: true })
    tap.addEventListener('processorerror', () => onEnd('lost'), { once: true })
    context.createMediaStreamSource(stream).connect(tap).connect(context.destination)
    await context.resume()
    return {
      peak: taken.peak,
      seconds: () => taken.samples() / context.sampleRate,
      async stop() {
        await taken.all()
        end()
        return { file: wavOf(taken.parts, context.sampleRate), peak: taken.loudest() }
      },
      drop: end,
    }
  } catch (error) {
    end()
    throw error
  }
}

/** @throws Error in words */
async function tapOf(context: AudioContext): Promise<AudioWorkletNode> {
  const address = document.getElementById('app')?.dataset.recorder ?? ''
  await context.audioWorklet.addModule(address).catch((cause: unknown) => {
    throw new Error('The recorder could not be loaded. Is the server still running?', { cause })
  })
  // Several channels are mixed into one, and nothing of it is played: the output stays silent.
  return new AudioWorkletNode(context, 'recorder', { channelCount: 1, channelCountMode: 'explicit' })
}

/** @param maxSamples where it ends @param onFull called once, when they are recorded */
function take({ port }: AudioWorkletNode, maxSamples: number, onFull: () => void) {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const last = Promise.withResolvers<void>()
  let samples = 0
  let sinceLook = 0
  let loudest = 0
  port.onmessage = ({ data }: MessageEvent<Block>) => {
    if (samples < maxSamples) {
      const kept = data.samples.subarray(0, maxSamples - samples)
      parts.push(toS16(kept))
      samples += kept.length
      sinceLook = Math.max(sinceLook, data.peak)
      loudest = Math.max(loudest, data.peak)
      if (samples === maxSamples) onFull()
    }
    if (data.isLast) last.resolve()
  }
  return {
    parts,
    samples: () => samples,
    loudest: () => loudest,
    peak() {
      const peak = sinceLook
      sinceLook = 0
      return peak
    },
    /** Requests what is still in the audio thread and waits for it. */
    all() {
      port.postMessage('end')
      setTimeout(last.resolve, lastWordsMs)
      return last.promise
    },
  }
}

// Opens the microphone, or explains why that is impossible: each reason in words that say what helps.
/** @throws Error in words */
async function microphone(): Promise<MediaStream> {
  if (navigator.mediaDevices === undefined) throw new Error(insecure())
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio })
  } catch (cause) {
    const { name, message } = cause as DOMException
    throw new Error(reasons[name] ?? `The microphone cannot be used: ${message}`, { cause })
  }
}

const reasons: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The microphone is not allowed. Allow it for this page (icon beside the address) and for the browser in the ' +
    'system settings; then press Record again.',
  NotFoundError: 'No microphone was found. Connect one and press Record again, or choose a file.',
  NotReadableError: 'The microphone gives no sound: another program may be using it. Close that program and try again.',
  AbortError: 'The microphone could not be started. Try again.',
}

/** Plain http is trusted only on the machine itself. */
function insecure(): string {
  const port = location.port || '80'
  return (
    `Browsers allow the microphone only on https pages or localhost; this page came from ${location.origin}. Open ` +
    `it over https, or forward the port to your machine (ssh -L ${port}:localhost:${port} ${location.hostname}) and ` +
    `open http://localhost:${port}; or choose a file.`
  )
}

export interface Clip {
  file: Blob
  name: string
}
