/**
 * One window written down: at temperature 0 first, then, where the text repeats itself or the decoder is unsure of it,
 * at higher ones (openai/whisper, `decoding.py` and `transcribe.py`).
 */
import { deflate } from 'pako'
import type { Encoded, FirstPass, WhisperGraphs } from './graphs.ts'
import { filterLogits, pickToken, probabilityOf, type Random } from './sampling.ts'
import { stripped, type WhisperTokens, writtenOf } from './tokens.ts'

/** When a text is good enough. null: always. */
export interface Rules {
  /** Tried in this order. */
  temperatures: readonly number[]
  /** Above it a text repeats itself. */
  maxCompressionRatio: number | null
  /** Below it the decoder is unsure. */
  minAvgLogprob: number | null
  /** Above it nobody speaks, if the decoder is unsure of the text, too. */
  maxNoSpeechProb: number | null
}

/** As openai/whisper has them. */
export const defaultRules: Rules = {
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
  maxCompressionRatio: 2.4,
  minAvgLogprob: -1,
  maxNoSpeechProb: 0.6,
}

export interface Written {
  /** Timestamps included, the end of the text not. */
  tokens: readonly number[]
  temperature: number
  avgLogprob: number
  compressionRatio: number
  noSpeechProb: number
}

export interface WindowOrder {
  encoded: Encoded
  /** Ends in what stands before the transcript, which begins at `startOfTranscript`. */
  prompt: readonly number[]
  rules: Rules
  random: Random
}

/** What is the same at every temperature. */
interface Begun {
  noSpeechProb: number
  logits: Float32Array
  follow: FirstPass['follow']
}

export class WindowDecoder {
  readonly #graphs: WhisperGraphs
  readonly #tokens: WhisperTokens
  readonly #maxTokens: number

  /** @param maxTokens that the decoder can look back on: a transcript may have half as many */
  constructor(graphs: WhisperGraphs, tokens: WhisperTokens, maxTokens: number) {
    this.#graphs = graphs
    this.#tokens = tokens
    this.#maxTokens = maxTokens
  }

  /** @throws the signal's reason, between two tokens */
  async decode(order: WindowOrder, signal: AbortSignal): Promise<Written> {
    signal.throwIfAborted()
    const begun = await this.#begin(order)
    let written: Written | null = null
    for (const temperature of order.rules.temperatures) {
      written = await this.#write(begun, temperature, order, signal)
      if (isGood(written, order.rules)) break
    }
    if (written === null) throw new RangeError('there is no temperature to decode at')
    return written
  }

  /** Keeps of the first pass what is needed: with a long prompt, its logits take fifty megabytes. */
  async #begin({ prompt, encoded }: WindowOrder): Promise<Begun> {
    const { logits, follow } = await this.#graphs.first(prompt, encoded)
    const row = (at: number) =>
      logits.slice((at * logits.length) / prompt.length, ((at + 1) * logits.length) / prompt.length)
    const { startOfTranscript, noSpeech } = this.#tokens
    const noSpeechProb = probabilityOf(row(prompt.indexOf(startOfTranscript)), noSpeech)
    return { noSpeechProb, logits: row(prompt.length - 1), follow }
  }

  async #write(begun: Begun, temperature: number, order: WindowOrder, signal: AbortSignal): Promise<Written> {
    const { prompt, random } = order
    const steps = begun.follow()
    const sampled: number[] = []
    let logits: Float32Array = begun.logits.slice()
    let sum = 0
    try {
      for (;;) {
        filterLogits(logits, sampled, this.#tokens)
        const { id, logprob } = pickToken(logits, temperature, random)
        sum += logprob
        if (id === this.#tokens.endOfText) break
        sampled.push(id)
        if (sampled.length >= this.#maxTokens / 2 || prompt.length + sampled.length > this.#maxTokens) break
        signal.throwIfAborted()
        logits = await steps.step(id)
      }
    } finally {
      steps.release()
    }
    return {
      tokens: sampled,
      temperature,
      avgLogprob: sum / (sampled.length + 1),
      compressionRatio: compressionRatio(stripped(writtenOf(this.#tokens, sampled))),
      noSpeechProb: begun.noSpeechProb,
    }
  }
}

function isGood({ compressionRatio, avgLogprob, noSpeechProb }: Written, rules: Rules): boolean {
  const { maxCompressionRatio, minAvgLogprob, maxNoSpeechProb } = rules
  const isUnsure = minAvgLogprob !== null && avgLogprob < minAvgLogprob
  const isSilence = maxNoSpeechProb !== null && noSpeechProb > maxNoSpeechProb && isUnsure
  const repeats = maxCompressionRatio !== null && compressionRatio > maxCompressionRatio
  return isSilence || !(isUnsure || repeats)
}

/** Whether there is nothing in this window, whatever was written. */
export function isSilent({ noSpeechProb, avgLogprob }: Written, { maxNoSpeechProb, minAvgLogprob }: Rules): boolean {
  if (maxNoSpeechProb === null || noSpeechProb <= maxNoSpeechProb) return false
  return minAvgLogprob === null || avgLogprob <= minAvgLogprob
}

/** Of the text's bytes, by zlib. */
export function compressionRatio(text: string): number {
  const bytes = new TextEncoder().encode(text)
  return bytes.length / deflate(bytes).length
}
