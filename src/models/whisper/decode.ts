/**
 * Decodes windows: at temperature 0 first, then, if the text repeats itself or the decoder is unsure of it, at higher
 * ones (openai/whisper, `decoding.py` and `transcribe.py`). Several windows are decoded in step, one token of each at a
 * time: a decoder spends most of a step on reading its weights, and reads them once for all.
 */
import { deflate } from 'pako'
import { discard } from '../../onnx/discard.ts'
import { frameMs } from './features.ts'
import type { Encoded, FirstPass, WhisperGraphs } from './graphs.ts'
import { joinRows } from './rows.ts'
import type { Random } from '../../domain/random.ts'
import { endsInPair, filterLogits, pickToken, probabilityOf, stopsEarly } from './sampling.ts'
import { stripped, type WhisperTokens, writtenOf } from './tokens.ts'

/** When a text is good enough. null: always. */
export interface Rules {
  /** Tried in this order. */
  temperatures: readonly number[]
  /** Above it a text repeats itself. */
  maxCompressionRatio: number | null
  /** Below it the decoder is unsure. */
  minAvgLogprob: number | null
  /** Above it there is no speech, if the decoder is also unsure of the text. */
  maxNoSpeechProb: number | null
  /**
   * Whether a window whose text is not good enough at the first temperature, or repeats the text before it, is decoded
   * again without that text, and whether the best text is kept if none is good enough. The reference does neither:
   * after a long context, a window of one word was unsure at every temperature, and what was drawn at the last one was
   * kept.
   */
  salvages: boolean
  /**
   * Whether the last window of a sound is written to its end. Where speech fills a window to its end, the decoder
   * often stops after a segment, as it was trained to, and the reference hears the rest again with what follows it. A
   * sound ends at a pause here, so nothing follows, and the encoder would run for a few words.
   */
  finishes: boolean
}

/** Less sound than this at the end of a window is not listened to: a window has so much silence around its speech. */
export const leastRestFrames = 50

/** As in openai/whisper, except `salvages` and `finishes`. */
export const defaultRules: Rules = {
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
  maxCompressionRatio: 2.4,
  minAvgLogprob: -1,
  maxNoSpeechProb: 0.6,
  salvages: true,
  finishes: true,
}

export interface Written {
  /** Timestamps included, the end of the text not. */
  tokens: readonly number[]
  temperature: number
  avgLogprob: number
  compressionRatio: number
  noSpeechProb: number
}

export interface WindowsOrder {
  /** A window each. */
  encoded: readonly Encoded[]
  /** Ends in the tokens before the transcripts, which begin at `startOfTranscript`. */
  prompt: readonly number[]
  rules: Rules
  random: Random
  /**
   * Called, where one window is heard, whenever a segment of it is certain: with what is written up to there.
   * Should the rest turn out not to be good enough, it is left out of what is returned.
   */
  tell?: ((written: Written) => void) | undefined
  /** Whether these tokens of a window repeat the text that was given, which is not good enough. Absent: none was. */
  isCopied?: ((ids: readonly number[]) => boolean) | undefined
  /** By window: the frame of it at which its sound ends; null: more follows. Absent: more follows in all of them. */
  ends?: readonly (number | null)[]
}

/** What is the same at every temperature. */
interface Begun {
  /** By window, as are the logits of the first token. */
  noSpeechProbs: readonly number[]
  logits: readonly Float32Array[]
  follow: FirstPass['follow']
  release: FirstPass['release']
}

/** The transcript of one window, so far. */
export interface Line {
  window: number
  sampled: number[]
  logprob: number
  isOver: boolean
  /** What was already reported. */
  told: Place
  /** Where the decoder would have stopped before the end of the sound; null: nowhere. */
  stop: Place | null
}

/** The number of tokens up to here, and their log probability. */
export interface Place {
  tokens: number
  logprob: number
}

/**
 * What was reported must be kept: it has to be better than good enough, because the rest may be worse. The mean log
 * probability is too low for that, or the compression ratio too high.
 */
const certainLogprobShare = 0.6
const certainRatioShare = 0.8

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

  /** @returns by window @throws the signal's reason */
  async decode(order: WindowsOrder, signal: AbortSignal): Promise<Written[]> {
    const { temperatures } = order.rules
    if (temperatures.length === 0) throw new RangeError('there is no temperature to decode at')
    const begun = await this.#begin(order, signal)
    try {
      return await this.#decode(begun, order, signal)
    } finally {
      begun.release()
    }
  }

  async #decode(begun: Begun, order: WindowsOrder, signal: AbortSignal): Promise<Written[]> {
    const { temperatures } = order.rules
    const written: Written[] = []
    let windows = order.encoded.map((_, window) => window)
    for (const temperature of temperatures) {
      for (const line of await this.#write(begun, windows, temperature, order, signal)) {
        const noSpeechProb = begun.noSpeechProbs[line.window]!
        const found = this.#writtenOf(line, temperature, noSpeechProb)
        const isWrong = !isGood(found, order.rules) || order.isCopied?.(found.tokens) === true
        if (line.told.tokens > 0 && isWrong) return [this.#toldOf(line, temperature, noSpeechProb)]
        written[line.window] = preferred(written[line.window], found, order.rules)
      }
      windows = windows.filter((window) => !isGood(written[window]!, order.rules))
      if (windows.length === 0) break
    }
    return written
  }

  async #begin({ prompt, encoded }: WindowsOrder, signal: AbortSignal): Promise<Begun> {
    const { startOfTranscript, noSpeech } = this.#tokens
    const wanted = [prompt.indexOf(startOfTranscript), prompt.length - 1]
    const { logits, follow, release } = await this.#graphs.first(prompt, joinRows(encoded), signal, wanted)
    const rows = inRows(logits, encoded.length * wanted.length)
    const noSpeechProbs = encoded.map((_, window) => probabilityOf(rows[2 * window]!, noSpeech))
    return { noSpeechProbs, logits: encoded.map((_, window) => rows[2 * window + 1]!), follow, release }
  }

  async #write(
    begun: Begun,
    windows: readonly number[],
    temperature: number,
    order: WindowsOrder,
    signal: AbortSignal,
  ): Promise<Line[]> {
    const lines = windows.map((window): Line => ({
      window,
      sampled: [],
      logprob: 0,
      isOver: false,
      told: { tokens: 0, logprob: 0 },
      stop: null,
    }))
    const mayTell = order.tell !== undefined && order.encoded.length === 1 && temperature === 0
    let logits: Float32Array[] = windows.map((window) => begun.logits[window]!.slice())
    const steps = begun.follow(windows)
    try {
      for (;;) {
        for (const [at, line] of lines.entries()) this.#extend(line, logits[at]!, temperature, order)
        // A window's steps leave 50 MB of them.
        logits.forEach(discard)
        if (mayTell) this.#tell(lines[0]!, begun.noSpeechProbs[0]!, order)
        if (lines.every(({ isOver }) => isOver)) return lines.map((line) => withoutUnsureEnd(line, order.rules))
        // Finished windows are decoded on, to no effect: removing their states from the others' would cost more.
        const ids = lines.map(({ isOver, sampled }) => (isOver ? this.#tokens.endOfText : sampled.at(-1)!))
        logits = inRows(await steps.step(ids, signal), lines.length)
      }
    } finally {
      steps.release()
    }
  }

  /** By one token, unless it is finished. */
  #extend(line: Line, logits: Float32Array, temperature: number, order: WindowsOrder): void {
    if (line.isOver) return
    const { sampled } = line
    const { prompt, random } = order
    filterLogits(logits, sampled, this.#tokens)
    const end = order.rules.finishes ? (order.ends?.[line.window] ?? null) : null
    if (end !== null && stopsEarly(logits, sampled, this.#tokens, (end - leastRestFrames) * frameMs)) {
      line.stop ??= { tokens: sampled.length, logprob: line.logprob }
      logits[this.#tokens.endOfText] = Number.NEGATIVE_INFINITY
    }
    const { id, logprob } = pickToken(logits, temperature, random)
    line.logprob += logprob
    if (id === this.#tokens.endOfText) {
      line.isOver = true
      return
    }
    sampled.push(id)
    line.isOver = sampled.length >= this.#maxTokens / 2 || prompt.length + sampled.length > this.#maxTokens
  }

  /** Where a segment has just ended. */
  #tell(line: Line, noSpeechProb: number, { rules, tell, isCopied }: WindowsOrder): void {
    const { sampled, logprob } = line
    if (line.told.tokens === sampled.length || !endsInPair(sampled, this.#tokens)) return
    const found = this.#writtenOf(line, 0, noSpeechProb)
    const { maxNoSpeechProb, minAvgLogprob, maxCompressionRatio } = rules
    const isUnsure = minAvgLogprob !== null && found.avgLogprob < certainLogprobShare * minAvgLogprob
    const isSilence = maxNoSpeechProb !== null && noSpeechProb > maxNoSpeechProb
    const repeats = maxCompressionRatio !== null && found.compressionRatio > certainRatioShare * maxCompressionRatio
    if (isUnsure || isSilence || repeats || isCopied?.(sampled) === true) return
    line.told = { tokens: sampled.length, logprob }
    tell?.({ ...found, tokens: [...sampled] })
  }

  /** What was reported of a line whose rest is not good enough: the rest is decoded again. */
  #toldOf({ window, sampled, told }: Line, temperature: number, noSpeechProb: number): Written {
    const kept = { sampled: sampled.slice(0, told.tokens), logprob: told.logprob }
    return this.#writtenOf({ window, ...kept, isOver: true, told, stop: null }, temperature, noSpeechProb)
  }

  #writtenOf({ sampled, logprob }: Line, temperature: number, noSpeechProb: number): Written {
    return {
      tokens: sampled,
      temperature,
      avgLogprob: logprob / (sampled.length + 1),
      compressionRatio: compressionRatio(stripped(writtenOf(this.#tokens, sampled))),
      noSpeechProb,
    }
  }
}

/** What the decoder wrote beyond where it would have stopped is heard again by itself if it is unsure of it. */
export function withoutUnsureEnd(line: Line, { minAvgLogprob }: Rules): Line {
  const { sampled, stop, told } = line
  if (stop === null || minAvgLogprob === null || told.tokens > stop.tokens) return line
  const avgLogprob = (line.logprob - stop.logprob) / (sampled.length - stop.tokens + 1)
  if (avgLogprob >= minAvgLogprob) return line
  return { ...line, sampled: sampled.slice(0, stop.tokens), logprob: stop.logprob }
}

function inRows(values: Float32Array, rows: number): Float32Array[] {
  const size = values.length / rows
  return Array.from({ length: rows }, (_, row) => values.subarray(row * size, (row + 1) * size))
}

/** Whether to try no other temperature. */
export function isGood(written: Written, rules: Rules): boolean {
  const { minAvgLogprob, maxNoSpeechProb } = rules
  const isUnsure = minAvgLogprob !== null && written.avgLogprob < minAvgLogprob
  const isSilence = maxNoSpeechProb !== null && written.noSpeechProb > maxNoSpeechProb && isUnsure
  return isSilence || !(isUnsure || repeats(written, rules))
}

const repeats = ({ compressionRatio }: Written, { maxCompressionRatio }: Rules): boolean =>
  maxCompressionRatio !== null && compressionRatio > maxCompressionRatio

/** The best text of a window. One that repeats itself is not helped by being sure. */
function preferred(before: Written | undefined, found: Written, rules: Rules): Written {
  if (before === undefined || !rules.salvages || isGood(found, rules) || repeats(before, rules)) return found
  return repeats(found, rules) || found.avgLogprob < before.avgLogprob ? before : found
}

/** Whether this window contains nothing, whatever was decoded. */
export function isSilent({ noSpeechProb, avgLogprob }: Written, { maxNoSpeechProb, minAvgLogprob }: Rules): boolean {
  if (maxNoSpeechProb === null || noSpeechProb <= maxNoSpeechProb) return false
  return minAvgLogprob === null || avgLogprob <= minAvgLogprob
}

/** Ratio of the text's bytes, by zlib. */
export function compressionRatio(text: string): number {
  const bytes = new TextEncoder().encode(text)
  return bytes.length / deflate(bytes).length
}
