/**
 * A thread that speaks: Flite holds its thread for up to a third of a second, and a thread of its own can be ended in
 * the middle of a word. The first message brings the compiled module, each later one a text.
 */
import { Flite } from './program.ts'
import { finish } from './sound.ts'
import { type FliteVoice, voices } from './voices.ts'

export type ToFlite =
  | { type: 'load'; module: WebAssembly.Module; sampleRateHz: number }
  | { type: 'speak'; voiceId: string; clone: FliteVoice | null; text: string; speed: number }

export type FromFlite =
  { type: 'ready' } | { type: 'spoken'; pcm: Float32Array<ArrayBuffer> } | { type: 'failed'; message: string }

declare const self: Worker

/** Flite's first sentence in a thread takes twice as long as the ones after it. */
const warmUp = 'The first words take the longest time.'

let flite: Flite
let rateHz: number

self.onmessage = ({ data }: MessageEvent<ToFlite>) => {
  try {
    const reply =
      data.type === 'load' ? load(data.module, data.sampleRateHz) : speak(data.clone ?? voices.get(data.voiceId), data)
    self.postMessage(reply, reply.type === 'spoken' ? [reply.pcm.buffer] : [])
    flite.prepare()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    self.postMessage({ type: 'failed', message } satisfies FromFlite)
  }
}

function load(module: WebAssembly.Module, sampleRateHz: number): FromFlite {
  flite = new Flite(module)
  rateHz = sampleRateHz
  speak(voices.get('rms'), { voiceId: 'rms', text: warmUp, speed: 1 })
  return { type: 'ready' }
}

function speak(
  voice: FliteVoice | undefined,
  { voiceId, text, speed }: { voiceId: string; text: string; speed: number },
): FromFlite & { type: 'spoken' } {
  if (voice === undefined) throw new Error(`no voice ${voiceId}`)
  return { type: 'spoken', pcm: finish(flite.speak(text, voice, 1 / speed), speed, voice, rateHz) }
}
