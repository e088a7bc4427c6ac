/**
 * Playing sound while it still comes. Raw PCM goes block by block to the browser's audio clock; MP3 goes to a media
 * source. What the browser can only play whole (opus, aac, flac) is played when it is whole.
 */
import { sampleRateHz } from './speech.ts'

export interface Playback {
  push: (bytes: Uint8Array<ArrayBuffer>) => void
  /** No more will come. Ends when everything has been heard, or `stop` was called. */
  finish: () => Promise<void>
  stop: () => void
  /** How much has been heard, in seconds of the sound. */
  positionS: () => number
  pause: () => void
  resume: () => void
}

/** How far ahead of the clock the first block is placed: enough for the second one to arrive in time. */
const leadS = 0.06

interface Block {
  source: AudioBufferSourceNode
  /** On the clock. */
  startsAt: number
  /** In the sound. */
  fromS: number
}

/**
 * Signed 16-bit little-endian, mono.
 * @param onSound called once, just before the first sample is played
 */
export function playPcm(onSound: () => void): Playback {
  const context = new AudioContext({ sampleRate: sampleRateHz, latencyHint: 'interactive' })
  const ended = Promise.withResolvers<void>()
  const blocks: Block[] = []
  let rest = new Uint8Array(0)
  let endsAt = 0
  let soundS = 0
  const close = () => {
    ended.resolve()
    if (context.state !== 'closed') void context.close()
  }
  return {
    push(bytes) {
      const joined = new Uint8Array(rest.length + bytes.length)
      joined.set(rest)
      joined.set(bytes, rest.length)
      const samples = joined.length >> 1
      rest = joined.slice(samples * 2)
      if (samples === 0 || context.state === 'closed') return
      const source = new AudioBufferSourceNode(context, { buffer: bufferOf(joined, samples) })
      source.connect(context.destination)
      const startsAt = Math.max(endsAt, context.currentTime + leadS)
      if (blocks.length === 0) setTimeout(onSound, (startsAt - context.currentTime) * 1000)
      source.start(startsAt)
      blocks.push({ source, startsAt, fromS: soundS })
      endsAt = startsAt + samples / sampleRateHz
      soundS += samples / sampleRateHz
    },
    finish() {
      const last = blocks.at(-1)
      if (last === undefined || context.currentTime >= endsAt) close()
      else last.source.onended = close
      return ended.promise
    },
    stop: close,
    positionS() {
      const now = context.currentTime
      const at = blocks.findLast(({ startsAt }) => startsAt <= now)
      return at === undefined ? 0 : Math.min(soundS, at.fromS + now - at.startsAt)
    },
    pause: () => void context.suspend(),
    resume: () => void context.resume(),
  }
}

function bufferOf(bytes: Uint8Array<ArrayBuffer>, samples: number): AudioBuffer {
  const view = new DataView(bytes.buffer)
  const floats = new Float32Array(samples)
  for (let at = 0; at < samples; at++) floats[at] = view.getInt16(at * 2, true) / 32_768
  const buffer = new AudioBuffer({ length: samples, sampleRate: sampleRateHz })
  buffer.copyToChannel(floats, 0)
  return buffer
}

export const streamsMp3 = (): boolean => 'MediaSource' in globalThis && MediaSource.isTypeSupported('audio/mpeg')

/** What an element plays ends with it, however it ends. */
function elementPlayback(audio: HTMLAudioElement, onSound: () => void) {
  const ended = Promise.withResolvers<void>()
  audio.addEventListener('playing', onSound, { once: true })
  audio.addEventListener('ended', () => ended.resolve())
  audio.addEventListener('error', () => ended.resolve())
  const resume = () => void audio.play().catch(() => ended.resolve())
  return { ended, resume, pause: () => audio.pause(), positionS: () => audio.currentTime }
}

/** @param onSound as above */
export function playMp3(onSound: () => void): Playback {
  const source = new MediaSource()
  const audio = new Audio(URL.createObjectURL(source))
  const { ended, ...controls } = elementPlayback(audio, onSound)
  const waiting: Uint8Array<ArrayBuffer>[] = []
  let buffer: SourceBuffer | null = null
  let isWhole = false
  const feed = () => {
    if (buffer === null || buffer.updating || source.readyState !== 'open') return
    const next = waiting.shift()
    if (next !== undefined) buffer.appendBuffer(next)
    else if (isWhole) source.endOfStream()
  }
  source.addEventListener('sourceopen', () => {
    buffer = source.addSourceBuffer('audio/mpeg')
    buffer.addEventListener('updateend', feed)
    feed()
  })
  controls.resume()
  return {
    ...controls,
    push(bytes) {
      waiting.push(bytes)
      feed()
    },
    finish() {
      isWhole = true
      feed()
      return ended.promise
    },
    stop() {
      audio.pause()
      URL.revokeObjectURL(audio.src)
      ended.resolve()
    },
  }
}

/** @param type of the parts together @param onSound as above */
export function playWhole(type: string, onSound: () => void): Playback {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const audio = new Audio()
  const { ended, ...controls } = elementPlayback(audio, onSound)
  return {
    ...controls,
    push: (bytes) => void parts.push(bytes),
    finish() {
      audio.src = URL.createObjectURL(new Blob(parts, { type }))
      controls.resume()
      return ended.promise
    },
    stop() {
      audio.pause()
      URL.revokeObjectURL(audio.src)
      ended.resolve()
    },
  }
}
