/**
 * Transcribes a clip window by window: how far each was transcribed determines where the next one begins, and its text
 * helps with what comes next (openai/whisper, `transcribe.py`). Windows of a batch do without that help, as in
 * faster-whisper and WhisperX, because none of them is decoded yet.
 */
import type { TranscriptSegment, TranscriptWord } from '../../domain/transcript.ts'
import type { Transcribing, TranscriptionInput } from '../architecture.ts'
import { discard } from '../../onnx/discard.ts'
import { align } from './alignment.ts'
import type { WhisperConfig } from './config.ts'
import { copies } from './copies.ts'
import { defaultRules, isGood, isSilent, leastRestFrames, type Rules, WindowDecoder } from './decode.ts'
import type { WindowsOrder, Written } from './decode.ts'
import { frameMs, type LogMel, type LogMelMeter, windowFrames, windowOf } from './features.ts'
import type { Encoded, WhisperGraphs } from './graphs.ts'
import { Random } from '../../domain/random.ts'
import { bestOf } from './sampling.ts'
import { type Cut, cutTokens } from './segments.ts'
import { promptOf, stripped, textOf, type WhisperTokens } from './tokens.ts'
import { isUnspaced, splitWords } from './word-split.ts'
import { type TimedWord, timeWords, type Worded } from './words.ts'

/** A loaded model. */
export interface Whisper {
  config: WhisperConfig
  tokens: WhisperTokens
  graphs: WhisperGraphs
  meter: LogMelMeter
  /** Windows that can be decoded together; 1: only one after another. */
  maxBatch: number
}

export interface TranscriptionOptions extends Pick<TranscriptionInput, 'task' | 'language' | 'prompt' | 'words'> {
  rules: Rules
}

/** @param temperature as in the input: 0 means the reference's ladder */
export const rulesFor = (temperature: number): Rules =>
  temperature === 0 ? defaultRules : { ...defaultRules, temperatures: [temperature] }

/**
 * Text decoded at a higher temperature than this is not given to the next window, so that it does not continue like
 * that.
 */
const highestTrusted = 0.5
/** The same clip always gives the same transcript. */
const seed = 0
/**
 * Passes over the same seconds: a decoder that advances by hundredths of a second would keep the engine busy forever.
 * The reference has no such limit.
 */
const passesPerSecond = 4

/** Given segments that are certain. */
type Tell = (segments: readonly TranscriptSegment[]) => void

interface Window {
  seek: number
  /** How many of its frames are audio. */
  frames: number
  /** The sound ends where they do. */
  isLast: boolean
  encoded: Encoded
}

/** The kept tokens of a window. */
interface Kept {
  tokens: readonly number[]
  temperature: number
}

/** Sound that is being heard. */
interface Sound {
  mel: LogMel
  /** The frame at which the next window begins. */
  seek: number
  passes: number
  /** Where its last word ended. */
  spokenS: number
  segments: TranscriptSegment[]
}

export class Transcription implements Transcribing {
  readonly batch?: NonNullable<Transcribing['batch']>
  readonly #whisper: Whisper
  readonly #options: TranscriptionOptions
  readonly #decoder: WindowDecoder
  readonly #random = new Random(seed)
  /** Tokens of the prompt that came with the clip. */
  readonly #given: readonly number[]
  /** Tokens that are given to the next window, of which it reads the last. */
  #context: readonly number[]
  #language: string | null

  constructor(whisper: Whisper, options: TranscriptionOptions) {
    const { config, tokens, graphs } = whisper
    this.#whisper = whisper
    this.#options = options
    this.#decoder = new WindowDecoder(graphs, tokens, config.maxTokens)
    const prompt = stripped(options.prompt ?? '')
    this.#given = prompt === '' ? [] : this.#recent(tokens.bpe.encode(` ${prompt}`))
    this.#context = this.#given
    this.#language = config.isMultilingual ? options.language : 'en'
    // A first pass has logits for each token of each prompt: for no more of them than one window can have.
    const max = Math.min(whisper.maxBatch, Math.floor(config.maxTokens / 2 / (this.#given.length + 4)))
    if (max > 1) this.batch = { max, hear: (sounds, signal) => this.#hearAtOnce(sounds, signal) }
  }

  get language(): string | null {
    return this.#language
  }

  /** Audio of any length; the loudest place of all of it sets the level. @throws the signal's reason */
  async hear(pcm: Float32Array, signal: AbortSignal, tell?: Tell): Promise<TranscriptSegment[]> {
    const sound = this.#soundOf(pcm)
    let told = 0
    const note: Tell = (segments) => {
      told += segments.length
      if (segments.length > 0) tell?.(segments)
    }
    // Times of words are known once a window is through.
    const early = this.#options.words || tell === undefined ? undefined : note
    while (isUnheard(sound)) {
      const [kept] = await this.#hearNext([sound], this.#context, signal, early)
      if (kept) this.#remember(this.#context, kept)
      note(sound.segments.slice(told))
    }
    return sound.segments
  }

  /** Sounds that follow each other. */
  async #hearAtOnce(pcms: readonly Float32Array[], signal: AbortSignal): Promise<TranscriptSegment[][]> {
    const sounds = pcms.map((pcm) => this.#soundOf(pcm))
    for (let left = sounds.filter(isUnheard); left.length > 0; left = left.filter(isUnheard)) {
      const kept = await this.#hearNext(left, this.#given, signal)
      const last = left.at(-1) === sounds.at(-1) ? kept.at(-1) : null
      if (last) this.#remember([], last)
    }
    return sounds.map(({ segments }) => segments)
  }

  #soundOf(pcm: Float32Array): Sound {
    return { mel: this.#whisper.meter.measure(pcm), seek: 0, passes: 0, spokenS: 0, segments: [] }
  }

  /** One window of each clip. @returns by clip; null: it contained nothing */
  async #hearNext(
    sounds: readonly Sound[],
    context: readonly number[],
    signal: AbortSignal,
    early?: Tell,
  ): Promise<(Kept | null)[]> {
    const windows: Window[] = []
    for (const { mel, seek } of sounds) {
      const frames = Math.min(windowFrames, mel.frames - seek)
      const encoded = await this.#whisper.graphs.encode(windowOf(mel, seek, frames), signal)
      windows.push({ seek, frames, isLast: seek + frames === mel.frames, encoded })
    }
    this.#language ??= await this.#detectLanguage(windows[0]!.encoded, signal)
    const tell = early === undefined ? undefined : this.#teller(windows[0]!, early)
    const written = await this.#write(windows, context, signal, tell)
    const kept: (Kept | null)[] = []
    for (const [at, sound] of sounds.entries()) {
      kept.push(await this.#keep(sound, windows[at]!, written[at]!, signal))
    }
    for (const { encoded } of windows) discard(encoded.data)
    return kept
  }

  #remember(before: readonly number[], { tokens, temperature }: Kept): void {
    this.#context = temperature > highestTrusted ? [] : this.#recent([...before, ...tokens])
  }

  /** The prompt for a window: half of what the decoder can look back on, and the token that marks it. */
  #recent(tokens: readonly number[]): readonly number[] {
    return tokens.slice(-(this.#whisper.config.maxTokens / 2 - 1))
  }

  /** The reference listens to the same sound with other silence behind it, for which the encoder would run again. */
  async #detectLanguage(encoded: Encoded, signal: AbortSignal): Promise<string> {
    const { graphs, tokens } = this.#whisper
    const { logits, release } = await graphs.first([tokens.startOfTranscript], encoded, signal)
    release()
    const best = bestOf(logits, tokens.languages.values())
    const found = [...tokens.languages].find(([, id]) => id === best)
    if (found === undefined) throw new Error('tokenizer.json: there are no languages')
    return found[0]
  }

  #prompt(): number[] {
    return promptOf(this.#whisper.tokens, this.#language, this.#options.task)
  }

  async #write(
    windows: readonly Window[],
    context: readonly number[],
    signal: AbortSignal,
    tell: WindowsOrder['tell'],
  ): Promise<Written[]> {
    const { rules } = this.#options
    const write = (before: readonly number[], temperatures: readonly number[], isCopied?: WindowsOrder['isCopied']) => {
      const prompt = before.length === 0 ? [] : [this.#whisper.tokens.startOfPrevious, ...before]
      const encoded = windows.map((window) => window.encoded)
      const ends = windows.map(({ frames, isLast }) => (isLast ? frames : null))
      const order = { encoded, ends, prompt: [...prompt, ...this.#prompt()], random: this.#random, tell, isCopied }
      return this.#decoder.decode({ ...order, rules: { ...rules, temperatures } }, signal)
    }
    const isFirst = context.length === 0 || context === this.#given
    if (!rules.salvages || isFirst) return write(context, rules.temperatures)
    const isCopied = (ids: readonly number[]) => copies(ids, context, this.#whisper.tokens)
    const written = await write(context, rules.temperatures.slice(0, 1), isCopied)
    if (written.every((one) => isGood(one, rules) && !isCopied(one.tokens))) return written
    this.#context = this.#given
    return write(this.#given, rules.temperatures)
  }

  async #keep(sound: Sound, window: Window, written: Written, signal: AbortSignal): Promise<Kept | null> {
    const { seek, frames } = window
    const mayLinger = sound.passes++ < (sound.mel.frames * frameMs * passesPerSecond) / 1000
    if (isSilent(written, this.#options.rules)) {
      sound.seek = seek + frames
      return null
    }
    const { segments, next } = await this.#read(sound, window, written, signal)
    sound.segments.push(...segments)
    sound.seek = mayLinger && !this.#isOver(window, next) ? next : seek + frames
    return { tokens: segments.flatMap((segment) => segment.tokens), temperature: written.temperature }
  }

  /** Whether nothing can be said from here on to the end of the sound. */
  #isOver({ seek, frames, isLast }: Window, next: number): boolean {
    return this.#options.rules.finishes && isLast && seek + frames - next < leastRestFrames
  }

  async #read(
    sound: Sound,
    window: Window,
    written: Written,
    signal: AbortSignal,
  ): Promise<{ segments: TranscriptSegment[]; next: number }> {
    const { tokens } = this.#whisper
    const cut = cutTokens(written.tokens, tokens, window.seek, window.frames)
    const worded = await this.#words(sound, window, cut, signal)
    const next = worded?.next ?? window.seek + cut.advanceFrames
    return { segments: this.#segments(window, written, cut, worded?.spans ?? null), next }
  }

  #segments(window: Window, written: Written, cut: Cut, spans: readonly Worded[] | null): TranscriptSegment[] {
    const { tokens } = this.#whisper
    const segments = cut.pieces.map((piece, index): TranscriptSegment => {
      const { startS, endS, words } = spans?.[index] ?? { startS: piece.startMs / 1000, endS: piece.endMs / 1000 }
      return {
        startMs: Math.round(startS * 1000),
        endMs: Math.round(endS * 1000),
        text: index === 0 ? this.#parted(textOf(tokens, piece.tokens)) : textOf(tokens, piece.tokens),
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
    return segments.filter(isSaid)
  }

  /** Reports the segments of one window as they become certain. */
  #teller(window: Window, tell: Tell): (written: Written) => void {
    let told = 0
    return (written) => {
      const cut = cutTokens(written.tokens, this.#whisper.tokens, window.seek, window.frames)
      const segments = this.#segments(window, written, cut, null)
      if (segments.length > told) tell(segments.slice(told))
      told = segments.length
    }
  }

  /** A window's text as it continues that of the one before: some begin without the space between words. */
  #parted(text: string): string {
    const language = this.#options.task === 'translate' ? 'en' : this.#language
    return isUnspaced(language) || text === '' || /^\s/.test(text) ? text : ` ${text}`
  }

  /** @returns null where they are not wanted, or this model has no times of words */
  async #words(
    sound: Sound,
    { seek, frames, encoded }: Window,
    cut: Cut,
    signal: AbortSignal,
  ): Promise<{ spans: Worded[]; next: number } | null> {
    const { graphs, tokens, config } = this.#whisper
    const { alignmentHeads: heads } = config
    if (!this.#options.words || heads === null || !graphs.hasAttentions) return null
    const texts = cut.pieces.map((piece) => piece.tokens.filter((id) => id < tokens.endOfText))
    const text = texts.flat()
    const order = { encoded, prompt: this.#prompt(), text, frames, heads }
    // Two frames make one position of the encoder.
    const alignment = text.length === 0 || frames < 2 ? null : await align(graphs, tokens, order, signal)
    const words = alignment === null ? [] : splitWords(text, this.#language, tokens)
    const windowS = (seek * frameMs) / 1000
    const unworded = cut.pieces.map(({ startMs, endMs }, index) => {
      return { startS: startMs / 1000, endS: endMs / 1000, textTokens: texts[index]!.length }
    })
    const spans = timeWords(unworded, words, alignment, { windowS, spokenS: sound.spokenS })
    const endS = spans.findLast((span) => span.words.length > 0)?.words.at(-1)?.endS ?? spans.at(-1)!.endS
    sound.spokenS = endS
    const isUnfinished = !cut.endsInSilence && endS > windowS
    return { spans, next: isUnfinished ? Math.round((endS * 1000) / frameMs) : seek + cut.advanceFrames }
  }
}

const isUnheard = ({ seek, mel }: Sound): boolean => seek < mel.frames

const toWord = ({ text, startS, endS, probability }: TimedWord): TranscriptWord => ({
  text: text.trim(),
  startMs: Math.round(startS * 1000),
  endMs: Math.round(endS * 1000),
  probability,
})
