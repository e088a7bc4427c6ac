/**
 * The microphone as WAV. Samples are taken raw (no echo canceller, no noise gate, no automatic gain), because a clone
 * learns whatever those leave behind.
 */
import { toS16, wavOf } from './wav.ts'

export interface Recorder {
  /** Loudest sample since the last look, 0 to 1. */
  peak: () => number
  seconds: () => number
  /** Ends it and gives what was recorded. */
  stop: () => Blob
  /** Ends it and forgets what was recorded. */
  drop: () => void
}

const blockSamples = 4096

/** @throws Error in words for whoever forgot to allow it */
export async function record(): Promise<Recorder> {
  const stream = await microphone()
  const context = new AudioContext()
  const source = context.createMediaStreamSource(stream)
  // A worklet would need a file of its own; this old node is everywhere and late by a few milliseconds at most.
  const tap = context.createScriptProcessor(blockSamples, 1, 1)
  const parts: Uint8Array<ArrayBuffer>[] = []
  let samples = 0
  let loudest = 0
  tap.onaudioprocess = ({ inputBuffer }) => {
    const block = inputBuffer.getChannelData(0)
    for (const sample of block) loudest = Math.max(loudest, Math.abs(sample))
    parts.push(toS16(block))
    samples += block.length
  }
  source.connect(tap).connect(context.destination)
  const end = () => {
    for (const track of stream.getTracks()) track.stop()
    if (context.state !== 'closed') void context.close()
  }
  return {
    peak() {
      const peak = loudest
      loudest = 0
      return peak
    },
    seconds: () => samples / context.sampleRate,
    stop() {
      end()
      return wavOf(parts, context.sampleRate)
    },
    drop: end,
  }
}

async function microphone(): Promise<MediaStream> {
  if (navigator.mediaDevices === undefined) {
    throw new Error('Browsers give the microphone only to pages from localhost or over https.')
  }
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio })
  } catch (error) {
    const denied = error instanceof DOMException && error.name === 'NotAllowedError'
    throw new Error(denied ? 'The microphone was not allowed.' : 'No microphone was found.')
  }
}
