/**
 * The transcription model for tests: it writes the words of the order's prompt, window by window, and fails on request.
 * The real detector decides about the windows. It is not in any release executable.
 *
 * Each word of the prompt is for one window; windows beyond them are `...`. A word that begins with `!` is a command:
 * one of the test voice's failures, or one from the list below. It is printed when its window begins.
 *
 *   !slow=MS    waits before this window and before each later one
 *   !runs=MS    runs a graph again and again for that long, like a window that takes long
 *   !deaf       waits until the signal aborts
 */
import type { Card } from '../domain/card.ts'
import type { TranscriptSegment } from '../domain/transcript.ts'
import {
  InputRefused,
  type LoadTranscriptionModel,
  type Transcribing,
  type TranscriptionInput,
} from '../models/architecture.ts'
import { fault, runFor, testCard } from './test-voice.ts'

export const listenerMaxWindowMs = 4000

const card = testCard('test-listener', 16_000, 'automatic-speech-recognition')

/** The card of the engine that `engine-child.ts` runs for transcription. The other card cannot be loaded. */
export const listenerCards: readonly Card[] = [card, { ...card, id: 'test-deaf', architecture: 'test-missing' }]

export const loadListener: LoadTranscriptionModel = async () => ({
  sampleRateHz: 16_000,
  maxWindowMs: listenerMaxWindowMs,
  begin(input) {
    if (input.task === 'translate') throw new InputRefused('This model writes what it hears.', 'model')
    if (input.language === 'tlh') throw new InputRefused("This model hears 'en' and 'de', not 'tlh'.", 'language')
    return new TestTranscribing(input)
  },
  unload: async () => {},
})

class TestTranscribing implements Transcribing {
  readonly #input: TranscriptionInput
  readonly #script: string[]
  language: string | null
  #slowMs = 0

  constructor(input: TranscriptionInput) {
    this.#input = input
    this.#script = (input.prompt ?? '').split(' ').filter((word) => word !== '')
    this.language = input.language
  }

  async hear(pcm: Float32Array, signal: AbortSignal): Promise<TranscriptSegment[]> {
    const word = this.#script.shift() ?? '...'
    const [command = '', value = '0'] = word.split('=')
    if (command.startsWith('!')) console.error(`now ${word}`)
    if (command === '!slow') this.#slowMs = Number(value)
    else if (command === '!runs') await runFor(Number(value), signal)
    else if (command === '!deaf') await new Promise((resolve) => signal.addEventListener('abort', resolve))
    else if (command.startsWith('!')) await fault(command)
    if (this.#slowMs > 0) await Bun.sleep(this.#slowMs)
    signal.throwIfAborted()
    this.language ??= 'de'
    return [this.#segment(word, (1000 * pcm.length) / 16_000)]
  }

  /** Ends after its window, as in models that always hear a window of fixed length. */
  #segment(text: string, windowMs: number): TranscriptSegment {
    const words = [{ text, startMs: 100, endMs: windowMs + 500, probability: null }]
    return {
      startMs: 0,
      endMs: windowMs + 500,
      text: ` ${text}`,
      seekMs: 0,
      tokens: [],
      temperature: this.#input.temperature,
      avgLogprob: 0,
      compressionRatio: 0,
      noSpeechProb: 0,
      words: this.#input.words ? words : null,
    }
  }
}
