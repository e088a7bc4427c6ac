/**
 * hibari, the built-in voice: English text to symbols (our own), symbols in short chunks to one graph, and what that
 * says to the vocoders. Seed and instructions mean nothing to it: a text always has the same sound on one machine.
 */
import { availableParallelism } from 'node:os'
import { concatFloats } from '../../audio/pcm.ts'
import { Stretcher } from '../../audio/stretch.ts'
import { primaryLanguage } from '../../domain/language.ts'
import { type Chunk, type ChunkLimits, chunks } from '../../phonemes/chunks.ts'
import { English } from '../../phonemes/english.ts'
import { takeOverrides } from '../../phonemes/overrides.ts'
import { loadPronouncer } from '../../phonemes/pronouncer.ts'
import type { Accent } from '../../phonemes/reductions.ts'
import { spanTimes } from '../../phonemes/timing.ts'
import { englishUnits } from '../../phonemes/units.ts'
import { emptyLexicon, type Lexicon, parseLexicon } from '../../text/lexicon.ts'
import {
  type Clip,
  InputRefused,
  type LoadSpeechModel,
  type SpeechInput,
  type SpeechModel,
  type SpokenChunk,
  type SpokenSpan,
} from '../architecture.ts'
import { cloneVoice } from './clone.ts'
import { mostSymbols } from './graph.ts'
import { Graphs } from './graphs.ts'
import { jointsOf, Seam, spansThere, withNeighbours } from './joints.ts'
import { hopSamples, type Parameters, sampleRateHz } from './parameters.ts'
import { readState, writeState } from './state.ts'
import { Vocoders } from './vocoders.ts'
import { cloned, type Voice, voices } from './voices.ts'

/**
 * The graph gives nothing before it has all of a chunk: 20 ms for the first one on one core with VNNI, 50 ms for the
 * longest. Longer chunks would hold more: 64 streams that wait for their readers hold 5 MB each at 100 symbols.
 */
const limits: ChunkLimits = { most: mostSymbols, enough: 60, first: 40, firstMost: 60 }

/** Added to what `speech-span.ts` keeps of the graph's own silence, 140 ms at each join. */
const pauseS: Readonly<Partial<Record<Chunk['boundary'], number>>> = { sentence: 0.23, paragraph: 0.53 }

/**
 * What the graph is asked for at a pace, and what it then gives; the rest is done on the sound. It was trained on 0.5
 * to 2, but the lengths of its symbols are whole steps of 25 ms: above 1.3 times its own pace a short sound keeps one
 * step, and words are lost. Of twelve answers at 1.5, Moonshine misheard 15 % of the words; at 1.25 and shortened from
 * there, 2.5 %. Asked for 1.3 it gave 1.17, asked for 1.35 it gave 1.48.
 */
function paceOf(speed: number): { asked: number; given: number } {
  if (speed <= 0.8) return { asked: Math.max(0.5, speed), given: Math.max(0.5, speed) }
  return speed < 1.1 ? { asked: 1, given: 1 } : { asked: 1.25, given: 1.15 }
}

/**
 * Against forced alignment (scripts/clients/word-times.py): the sound comes so much before the lengths of its symbols,
 * and the last one before a pause is longer than it sounds.
 */
const earlyFrames = 5
const endFrames = 12

/** Predicted before the first text comes, because the first prediction is slow. */
const warmUp = 'hˈI.'

/** @throws Error when the pronunciations cannot be read, or the graph is missing or another one */
export const load: LoadSpeechModel = async ({ card, filesDir, pronunciations, workers }) => {
  const missing = card.voices.find(({ id }) => !voices.has(id))
  if (missing !== undefined) throw new Error(`hibari has no voice ${missing.id}, which the card names`)
  const lexicon = pronunciations === null ? emptyLexicon : parseLexicon(pronunciations)
  const threads = workers > 0 ? workers : availableParallelism()
  const parts = { graphs: new Graphs(card, filesDir, threads), vocoders: new Vocoders(threads) }
  try {
    // Much of it runs on other threads, so all of it begins at once.
    const first = voiceNamed(card.defaultVoice ?? '')
    const [pronouncer] = await Promise.all([loadPronouncer(), parts.vocoders.warm(), parts.graphs.of(first.graph)])
    const english = { american: new English(pronouncer, 'american'), british: new English(pronouncer, 'british') }
    return new HibariModel({ ...parts, first, english, lexicon })
  } catch (error) {
    await unload(parts)
    throw error
  }
}

async function unload({ graphs, vocoders }: Pick<Parts, 'graphs' | 'vocoders'>): Promise<void> {
  vocoders.end()
  await graphs.release()
}

interface Parts {
  graphs: Graphs
  vocoders: Vocoders
  /** Whose graph is loaded at once. */
  first: Voice
  english: Readonly<Record<Accent, English>>
  lexicon: Lexicon
}

class HibariModel implements SpeechModel {
  readonly sampleRateHz = sampleRateHz
  readonly onCpu = true
  readonly staysLoaded = true
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * @throws InputRefused of another language; Error of an unknown voice, or that says what failed; the signal's reason
   * once it aborts
   */
  async *speak(input: SpeechInput, signal: AbortSignal): AsyncGenerator<SpokenChunk> {
    const { graphs, vocoders } = this.#parts
    const { voiceState } = input
    const voice = voiceState === null ? voiceNamed(input.voiceId) : { ...cloned, shape: readState(voiceState) }
    const { shape } = voice
    const graph = await graphs.of(voice.graph)
    const pace = paceOf(input.speed)
    const stretch = input.speed / pace.given
    const stretcher = new Stretcher(sampleRateHz, stretch)
    const listener = new Listener()
    const seam = new Seam()
    const parts = this.#chunks(input, voice)
    let chunk = await nextOf(parts)
    for (let coveredBefore = 0; chunk !== null;) {
      signal.throwIfAborted()
      const parameters = await graph.predict(withNeighbours(chunk), pace.asked, signal)
      const joints = jointsOf(chunk, parameters.symbolFrames)
      const covered = chunk.coveredChars - coveredBefore
      let next: Chunk | null = null
      let isBegun = false
      const blocks = vocoders.speak({ parameters, joints, speed: pace.given, shape, ...listener.standing() }, signal)
      for await (const { pcm: block, share, skippedFrames, rendered } of blocks) {
        const isLast = share === 1
        const pcm = seam.take(block, isLast && joints.to !== null)
        const times = { stretch, lateS: listener.lateS, skippedFrames }
        const spans = isBegun ? {} : { spans: spansOf(chunk, parameters.symbolFrames, times) }
        isBegun = true
        if (isLast) next = await nextOf(parts)
        const silenceS = isLast && next !== null ? (pauseS[chunk.boundary] ?? 0) / pace.given : 0
        const spoken = silenceS > 0 ? withSilence(pcm, silenceS) : pcm
        const ready = concatFloats([stretcher.push(spoken), ...(isLast && next === null ? [stretcher.flush()] : [])])
        listener.takes(ready, spoken.length / stretch)
        const coveredChars = coveredBefore + Math.floor(covered * share)
        yield { pcm: ready, coveredChars, ...spans, ...(isLast ? endsOf(next) : { rest: rendered }) }
      }
      coveredBefore = chunk.coveredChars
      chunk = next
    }
  }

  /** As approximate as `clone.ts` says. */
  async clone(clip: Clip, signal: AbortSignal): Promise<Uint8Array> {
    const graph = await this.#parts.graphs.of(cloned.graph)
    const predict = async (sentence: string): Promise<Parameters[]> => {
      const found: Parameters[] = []
      for await (const { symbols } of this.#chunks({ text: sentence, language: null }, cloned)) {
        found.push(await graph.predict(symbols, 1, signal))
      }
      return found
    }
    return writeState(await cloneVoice(clip, predict, signal))
  }

  async warm(): Promise<void> {
    const { graphs, first } = this.#parts
    await (await graphs.of(first.graph)).predict(warmUp, 1)
  }

  unload(): Promise<void> {
    return unload(this.#parts)
  }

  #chunks(
    { text, language }: Pick<SpeechInput, 'text' | 'language'>,
    { accent }: Pick<Voice, 'accent'>,
  ): AsyncGenerator<Chunk> {
    if (language !== null && primaryLanguage(language) !== 'en') {
      throw new InputRefused(`hibari does not speak '${language}'. Supported values are: en.`, 'language')
    }
    const { english, lexicon } = this.#parts
    const own = takeOverrides(text, lexicon)
    return chunks(englishUnits(own.text, english[accent], own.lexicon), limits)
  }
}

/** @throws Error of an unknown voice */
function voiceNamed(voiceId: string): Voice {
  const voice = voices.get(voiceId)
  if (voice === undefined) throw new Error(`hibari has no voice ${JSON.stringify(voiceId)}`)
  return voice
}

/** What is known at the end of a chunk of what follows. */
const endsOf = (next: Chunk | null): Pick<SpokenChunk, 'isLast' | 'isLastNext'> =>
  next === null ? { isLast: true } : next.isLast ? { isLastNext: true } : {}

const nextOf = async (parts: AsyncGenerator<Chunk>): Promise<Chunk | null> => (await parts.next()).value ?? null

/** The state of one stream and its live listener. */
class Listener {
  #beganMs = 0
  #takenMs = 0
  #lateSamples = 0

  /** @param dueSamples what will have been sent once nothing of it is held back */
  takes(pcm: Float32Array, dueSamples: number): void {
    this.#lateSamples += dueSamples - pcm.length
    if (this.#takenMs === 0) this.#beganMs = performance.now()
    this.#takenMs += (1000 * pcm.length) / sampleRateHz
  }

  /** How much of what was spoken is still held back: what is spoken next comes after it. */
  get lateS(): number {
    return this.#lateSamples / sampleRateHz
  }

  standing(): { isFirst: boolean; slackMs: number } {
    const isFirst = this.#takenMs === 0
    return { isFirst, slackMs: isFirst ? 0 : Math.max(0, this.#beganMs + this.#takenMs - performance.now()) }
  }
}

/** @param times `stretch`: how much faster the sound is made than it was spoken */
function spansOf(
  chunk: Chunk,
  symbolFrames: readonly number[],
  { stretch, lateS, skippedFrames }: { stretch: number; lateS: number; skippedFrames: number },
): SpokenSpan[] {
  const seconds = (frames: number) =>
    lateS + Math.max(0, ((frames - skippedFrames) * hopSamples) / sampleRateHz / stretch)
  const [spans, symbols] = [spansThere(chunk), withNeighbours(chunk)]
  const frames = spanTimes({ spans, symbols, lengths: symbolFrames, early: earlyFrames, longestEnd: endFrames })
  return frames.map(({ end, from, to }) => ({
    end,
    startS: seconds(from),
    endS: seconds(to),
  }))
}

function withSilence(pcm: Float32Array, silenceS: number): Float32Array {
  const whole = new Float32Array(pcm.length + Math.round(silenceS * sampleRateHz))
  whole.set(pcm)
  return whole
}
