/**
 * Speech: of a whole text, or of one that is still being written. Each part of whole sentences is a speech request of
 * its own, charged like any other, so that the first sentence is heard while the rest is being thought of; whatever
 * has been written by the end of one is the next. The client hears one stream.
 */
import { MynaError } from '../domain/error.ts'
import { defaultSampleRateHz, type SpeechRequest } from '../domain/speech.ts'
import { mayEndSentence, parts as partsOf, wholeSentences } from '../text/sentences.ts'
import type { WyomingEvent } from './framing.ts'
import { admitted, type Send, textOf, type WyomingParts } from './parts.ts'

const format = { rate: defaultSampleRateHz, width: 2, channels: 1 }
const bytesPerMs = (format.rate * format.width) / 1000
/** Half of a second: satellites begin to play with the first chunk. */
const chunkBytes = 500 * bytesPerMs

export interface VoiceWish {
  voice: string | null
  language: string | null
}

export function voiceOf({ data }: WyomingEvent): VoiceWish {
  const { voice } = data
  const wish = typeof voice === 'object' && voice !== null ? (voice as Record<string, unknown>) : {}
  const named = textOf(wish, 'name')
  return { voice: named, language: named === null ? textOf(wish, 'language') : null }
}

/** The text of a stream as it comes. */
export class GrowingText {
  #text = ''
  #isWhole = false
  /** A sentence may end in it: a text without a mark is not searched again with every word that comes. */
  #hasMark = false
  #wake: () => void = () => {}

  add(text: string): void {
    this.#text += text
    this.#hasMark ||= mayEndSentence(text)
    this.#wake()
  }

  get length(): number {
    return this.#text.length
  }

  end(): void {
    this.#isWhole = true
    this.#wake()
  }

  /** Takes whole sentences, or at last the rest; waits for them. @returns null after the end */
  async next(maxChars: number): Promise<string | null> {
    for (;;) {
      const ready = this.#isWhole ? this.#text.length : this.#hasMark ? wholeSentences(this.#text) : 0
      const [part] = partsOf(this.#text.slice(0, ready), maxChars)
      if (part !== undefined && part.trim() !== '') {
        this.#text = this.#text.slice(part.length)
        this.#hasMark = mayEndSentence(this.#text)
        return part
      }
      if (this.#isWhole) return null
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

/**
 * Speaks what comes and sends it as one stream of audio.
 * @throws MynaError of the request that failed; Error once the connection is gone
 */
export async function speak(
  wyoming: WyomingParts,
  { voice, language }: VoiceWish,
  text: GrowingText,
  send: Send,
  gone: AbortSignal,
): Promise<void> {
  let sentMs = 0
  const sendAudio = async (bytes: Uint8Array) => {
    if (sentMs === 0) await send('audio-start', { ...format, timestamp: 0 })
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const chunk = bytes.subarray(at, at + chunkBytes)
      await send('audio-chunk', { ...format, timestamp: Math.round(sentMs) }, chunk)
      sentMs += chunk.length / bytesPerMs
    }
  }
  let silent: MynaError | null = null
  for (;;) {
    const input = await text.next(wyoming.maxInputChars)
    gone.throwIfAborted()
    if (input === null) break
    const request = { ...plainRequest, voice, language, input }
    silent = (await speakOne(wyoming, request, sendAudio, gone).catch(unlessUnspeakable)) ?? silent
  }
  if (sentMs === 0 && silent !== null) throw silent
  if (sentMs === 0) await send('audio-start', { ...format, timestamp: 0 })
  await send('audio-stop', { timestamp: Math.round(sentMs) })
}

/** A sentence in a script that the model cannot read is skipped where others are spoken. */
function unlessUnspeakable(error: unknown): MynaError {
  if (error instanceof MynaError && error.code === 'unsupported_value' && error.param === 'input') return error
  throw error
}

const plainRequest = {
  model: null,
  format: 'pcm',
  speed: 1,
  streamFormat: 'audio',
  instructions: null,
  seed: null,
  sampleRateHz: defaultSampleRateHz,
} as const

async function speakOne(
  wyoming: WyomingParts,
  request: SpeechRequest,
  sendAudio: (bytes: Uint8Array) => Promise<void>,
  gone: AbortSignal,
): Promise<null> {
  const caller = await admitted(wyoming, 'speech')
  const speaking = await wyoming.speech.begin(caller, request, null, gone)
  wyoming.log({ event: 'wyoming speech', id: speaking.id, account: caller.account.id })
  try {
    for (let bytes = await speaking.next(); bytes !== null; bytes = await speaking.next()) await sendAudio(bytes)
    return null
  } catch (error) {
    speaking.clientGone()
    throw error
  }
}
