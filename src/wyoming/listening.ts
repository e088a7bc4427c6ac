/**
 * One transcription: the audio goes to the engine as it arrives, so that at the end of a long sentence only its last
 * stretch is left to process. Any failure is one `error` event; the rest of that audio is ignored.
 */
import { Resampler } from '../audio/resample.ts'
import { fromS16, toS16 } from '../audio/pcm.ts'
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { SoundPipe } from '../service/live-sound.ts'
import type { Transcribing } from '../service/transcribing.ts'
import type { WyomingEvent } from './framing.ts'
import { admitted, type Send, textOf, type WyomingParts } from './parts.ts'

const heardRateHz = 16_000
/** The lower the rate, the longer it takes to resample a payload. */
const leastRateHz = 8000
/** More than this is not read ahead of the engine: the client waits. */
const aheadSamples = 30 * heardRateHz

/** The request of `transcribe`; it may be missing. */
export interface Wish {
  model: string | null
  language: string | null
  prompt: string | null
}

export function wishOf({ data }: WyomingEvent): Wish {
  const terms = [data.transcript_names, data.transcript_terms].flatMap((given) => (Array.isArray(given) ? given : []))
  const words = terms.filter((term): term is string => typeof term === 'string')
  return {
    model: textOf(data, 'name'),
    language: textOf(data, 'language'),
    prompt: words.length === 0 ? null : words.join(', '),
  }
}

export class WyomingListening {
  readonly #pipe = new SoundPipe()
  readonly #resampler: Resampler
  readonly #channels: number

  /** @param start of the sound: its format @throws MynaError `invalid_audio` */
  constructor(start: WyomingEvent) {
    const { rate = heardRateHz, width = 2, channels = 1 } = start.data
    if (width !== 2) throw invalid(`The audio must have 2 bytes per sample, not ${String(width)}.`)
    if (typeof channels !== 'number' || !Number.isInteger(channels) || channels < 1 || channels > 8) {
      throw invalid(`The audio must have 1 to 8 channels, not ${String(channels)}.`)
    }
    this.#channels = channels
    if (Number(rate) < leastRateHz) throw invalid(`The audio must have ${leastRateHz} Hz or more, not ${String(rate)}.`)
    try {
      this.#resampler = new Resampler(Number(rate), heardRateHz)
    } catch {
      throw invalid(`The audio has a rate of ${String(rate)} Hz, which cannot be resampled.`)
    }
  }

  /** The next of the sound; resolves when more may come. */
  async write(payload: Uint8Array): Promise<void> {
    const frameBytes = 2 * this.#channels
    const whole = payload.subarray(0, payload.length - (payload.length % frameBytes))
    this.#pipe.write(toS16(this.#resampler.push(mono(whole, this.#channels))))
    await this.#pipe.room(aheadSamples)
  }

  /** The end of the audio. */
  end(): void {
    this.#pipe.write(toS16(this.#resampler.flush()))
    this.#pipe.end()
  }

  /** No client waits for it any more. */
  drop(): void {
    this.#pipe.end()
  }

  /** Listens until the end of the sound and sends what was said. @throws MynaError, after which nothing was sent */
  async run(parts: WyomingParts, wish: Wish, send: Send, gone: AbortSignal): Promise<void> {
    try {
      const caller = await admitted(parts, 'transcriptions')
      const id = newId('req', parts.clock.nowMs(), parts.random)
      const request = { ...wish, task: 'transcribe', wordTimes: false, words: false, temperature: 0 } as const
      const transcribing = await parts.transcriptions.listen(caller, id, request, this.#pipe, gone)
      await tell(transcribing, wish.language, send)
      parts.log({ event: 'wyoming transcription', id, account: caller.account.id })
    } catch (error) {
      // A button that was pressed by mistake: Home Assistant takes an empty text for "nothing was said".
      if (!(error instanceof MynaError) || error.code !== 'audio_too_short') throw error
      await send('transcript', { text: '', ...languageOf(wish.language) })
    } finally {
      this.#pipe.end()
    }
  }
}

async function tell(transcribing: Transcribing, wished: string | null, send: Send): Promise<void> {
  let text = ''
  try {
    await send('transcript-start', languageOf(wished))
    for (let part = await transcribing.next(); part !== null; part = await transcribing.next()) {
      for (const segment of part.segments) {
        const grown = text === '' ? segment.text.trimStart() : segment.text
        text += grown
        if (grown !== '') await send('transcript-chunk', { text: grown.toWellFormed() })
      }
    }
    await send('transcript', { text: text.trim().toWellFormed(), ...languageOf(transcribing.language ?? wished) })
    await send('transcript-stop')
  } catch (error) {
    transcribing.clientGone()
    throw error
  }
}

const languageOf = (language: string | null) => (language === null ? {} : { language })

/** @param bytes whole frames of little-endian samples */
function mono(bytes: Uint8Array, channels: number): Float32Array {
  const pcm = fromS16(new Int16Array(new Uint8Array(bytes).buffer))
  if (channels === 1) return pcm
  return Float32Array.from({ length: pcm.length / channels }, (_, at) => {
    let sum = 0
    for (let channel = 0; channel < channels; channel++) sum += pcm[at * channels + channel]!
    return sum / channels
  })
}

const invalid = (message: string): MynaError => new MynaError('invalid_audio', message)
