/**
 * A clip heard window by window: how far each was heard says where the next one begins, and what was written helps with
 * what comes next (openai/whisper, `transcribe.py`).
 */
import type { TranscriptSegment, TranscriptWord } from '../../domain/transcript.ts'
import type { Transcribing, TranscriptionInput } from '../architecture.ts'
import { align } from './alignment.ts'
import type { WhisperConfig } from './config.ts'
import { defaultRules, isSilent, type Rules, WindowDecoder, type Written } from './decode.ts'
import { frameMs, type LogMel, type LogMelMeter, windowFrames, windowOf } from './features.ts'
import type { Encoded, WhisperGraphs } from './graphs.ts'
import { bestOf, Random } from './sampling.ts'
import { type Cut, cutTokens } from './segments.ts'
import { promptOf, stripped, textOf, type WhisperTokens } from './tokens.ts'
import { splitWords } from './word-split.ts'
import { type TimedWord, timeWords, type Worded } from './words.ts'

/** A loaded model. */
export interface Whisper {
  config: WhisperConfig
  tokens: WhisperTokens
  graphs: WhisperGraphs
  meter: LogMelMeter
}

export interface TranscriptionOptions extends Pick<TranscriptionInput, 'task' | 'language' | 'prompt' | 'words'> {
  rules: Rules
}

/** @param temperature as in the input: 0 stands for the ladder of the reference */
export const rulesFor = (temperature: number): Rules =>
  temperature === 0 ? defaultRules : { ...defaultRules, temperatures: [temperature] }

/** What was written at a higher temperature than this is not given to the next window, lest it goes on like that. */
const highestTrusted = 0.5
/** The same clip is always heard in the same way. */
const seed = 0
/**
 * Passes over the same seconds: a decoder that goes on by hundredths of a second would keep the engine busy for ever.
 * The reference has no such limit.
 */
const passesPerSecond = 4

interface Window {
  seek: number
  /** How many of its frames are sound. */
  frames: number
  encoded: Encoded
}

interface Heard {
  segments: TranscriptSegment[]
  /** Frame at which the next window begins. */
  next: number
}

export class Transcription implements Transcribing {
  readonly #whisper: Whisper
  readonly #options: TranscriptionOptions
  readonly #decoder: WindowDecoder
  readonly #random = new Random(seed)
  /** Tokens that are given to the next window, of which it reads the last. */
  #context: readonly number[]
  #language: string | null
  /** Where the last word of this sound ended. */
  #spokenS = 0

  constructor(whisper: Whisper, options: TranscriptionOptions) {
    const { config, tokens, graphs } = whisper
    this.#whisper = whisper
    this.#options = options
    this.#decoder = new WindowDecoder(graphs, tokens, config.maxTokens)
    const prompt = stripped(options.prompt ?? '')
    this.#context = prompt === '' ? [] : tokens.bpe.encode(` ${prompt}`)
    this.#language = config.isMultilingual ? options.language : 'en'
  }

  get language(): string | null {
    return this.#language
  }

  /** Of any length; the loudest place of all of it sets the level. @throws the signal's reason, between two steps */
  async hear(pcm: Float32Array, signal: AbortSignal): Promise<TranscriptSegment[]> {
    const mel = this.#whisper.meter.measure(pcm)
    const maxPasses = Math.ceil((mel.frames * frameMs * passesPerSecond) / 1000)
    const segments: TranscriptSegment[] = []
    this.#spokenS = 0
    let passes = 0
    for (let seek = 0; seek < mel.frames; passes++) {
      signal.throwIfAborted()
      const frames = Math.min(windowFrames, mel.frames - seek)
      const heard = await this.#hearWindow(mel, seek, frames, signal)
      segments.push(...heard.segments)
      seek = passes < maxPasses ? heard.next : seek + frames
    }
    return segments
  }

  async #hearWindow(mel: LogMel, seek: number, frames: number, signal: AbortSignal): Promise<Heard> {
    const { graphs } = this.#whisper
    const window = { seek, frames, encoded: await graphs.encode(windowOf(mel, seek, frames)) }
    this.#language ??= await this.#detectLanguage(window.encoded)
    signal.throwIfAborted()
    const written = await this.#write(window.encoded, signal)
    if (isSilent(written, this.#options.rules)) return { segments: [], next: seek + frames }
    const heard = await this.#read(window, written)
    const tokens = heard.segments.flatMap((segment) => segment.tokens)
    this.#context = written.temperature > highestTrusted ? [] : this.#recent([...this.#context, ...tokens])
    return heard
  }

  /** What can be given to a window: half of what the decoder can look back on, and the token that says so. */
  #recent(tokens: readonly number[]): readonly number[] {
    return tokens.slice(-(this.#whisper.config.maxTokens / 2 - 1))
  }

  /** The reference listens to the same sound with other silence behind it, for which the encoder would run again. */
  async #detectLanguage(encoded: Encoded): Promise<string> {
    const { graphs, tokens } = this.#whisper
    const { logits } = await graphs.first([tokens.startOfTranscript], encoded)
    const best = bestOf(logits, tokens.languages.values())
    const found = [...tokens.languages].find(([, id]) => id === best)
    if (found === undefined) throw new Error('tokenizer.json: there are no languages')
    return found[0]
  }

  #prompt(): number[] {
    return promptOf(this.#whisper.tokens, this.#language, this.#options.task)
  }

  #write(encoded: Encoded, signal: AbortSignal): Promise<Written> {
    const context = this.#recent(this.#context)
    const before = context.length === 0 ? [] : [this.#whisper.tokens.startOfPrevious, ...context]
    const { rules } = this.#options
    return this.#decoder.decode(
      { encoded, prompt: [...before, ...this.#prompt()], rules, random: this.#random },
      signal,
    )
  }

  async #read(window: Window, written: Written): Promise<Heard> {
    const { tokens } = this.#whisper
    const cut = cutTokens(written.tokens, tokens, window.seek, window.frames)
    const worded = await this.#words(window, cut)
    const segments = cut.pieces.map((piece, index): TranscriptSegment => {
      const { startS, endS, words } = worded?.spans[index] ?? { startS: piece.startMs / 1000, endS: piece.endMs / 1000 }
      return {
        startMs: Math.round(startS * 1000),
        endMs: Math.round(endS * 1000),
        text: textOf(tokens, piece.tokens),
        seekMs: window.seek * frameMs,
        tokens: piece.tokens,
        temperature: written.temperature,
        avgLogprob: written.avgLogprob,
        compressionRatio: written.compressionRatio,
        noSpeechProb: written.noSpeechProb,
        words: words?.map(toWord).filter(({ text }) => text !== '') ?? null,
      }
    })
    const isSaid = ({ startMs, endMs, text }: TranscriptSegment) => startMs !== endMs && stripped(text) !== ''
    const next = worded?.next ?? window.seek + cut.advanceFrames
    return { segments: segments.filter(isSaid), next }
  }

  /** @returns null where they are not wanted, or this model has no times of words */
  async #words({ seek, frames, encoded }: Window, cut: Cut): Promise<{ spans: Worded[]; next: number } | null> {
    const { graphs, tokens, config } = this.#whisper
    const { alignmentHeads: heads } = config
    if (!this.#options.words || heads === null || !graphs.hasAttentions) return null
    const texts = cut.pieces.map((piece) => piece.tokens.filter((id) => id < tokens.endOfText))
    const text = texts.flat()
    const order = { encoded, prompt: this.#prompt(), text, frames, heads }
    // Two frames make one position of the encoder.
    const alignment = text.length === 0 || frames < 2 ? null : await align(graphs, tokens, order)
    const words = alignment === null ? [] : splitWords(text, this.#language, tokens)
    const windowS = (seek * frameMs) / 1000
    const unworded = cut.pieces.map(({ startMs, endMs }, index) => {
      return { startS: startMs / 1000, endS: endMs / 1000, textTokens: texts[index]!.length }
    })
    const spans = timeWords(unworded, words, alignment, { windowS, spokenS: this.#spokenS })
    const endS = spans.findLast((span) => span.words.length > 0)?.words.at(-1)?.endS ?? spans.at(-1)!.endS
    this.#spokenS = endS
    const isUnfinished = !cut.endsInSilence && endS > windowS
    return { spans, next: isUnfinished ? Math.round((endS * 1000) / frameMs) : seek + cut.advanceFrames }
  }
}

const toWord = ({ text, startS, endS, probability }: TimedWord): TranscriptWord => ({
  text: text.trim(),
  startMs: Math.round(startS * 1000),
  endMs: Math.round(endS * 1000),
  probability,
})
