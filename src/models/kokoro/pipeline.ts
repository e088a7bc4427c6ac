/**
 * Kokoro: text to symbols (our own for English, espeak-ng's for other languages), symbols in chunks to one graph, and
 * its sound joined with pauses. A voice is a table of styles; several can be mixed. Seed and instructions mean nothing
 * to it: the little chance that there is in a voice is drawn inside the graph.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { concatFloats } from '../../audio/pcm.ts'
import { Stretcher } from '../../audio/stretch.ts'
import { primaryLanguage } from '../../domain/language.ts'
import { type Mixture, parseMixture } from '../../domain/mixture.ts'
import { type Chunk, chunks, type Unit } from '../../phonemes/chunks.ts'
import { English } from '../../phonemes/english.ts'
import { takeOverrides } from '../../phonemes/overrides.ts'
import { loadPronouncer } from '../../phonemes/pronouncer.ts'
import { spanTimes } from '../../phonemes/timing.ts'
import { englishUnits } from '../../phonemes/units.ts'
import { emptyLexicon, type Lexicon, parseLexicon } from '../../text/lexicon.ts'
import {
  InputRefused,
  type LoadOptions,
  type LoadSpeechModel,
  type SpeechInput,
  type SpeechModel,
  type SpokenChunk,
  type SpokenSpan,
} from '../architecture.ts'
import { Espeak } from './espeak.ts'
import { espeakVoices, foreignUnits } from './foreign.ts'
import { type KokoroGraph, type KokoroSound, loadGraph } from './graph.ts'
import { finish } from './sound.ts'
import { openGraph } from './opened.ts'
import { Styles } from './styles.ts'

/** Added to what `sound.ts` keeps of the graph's own silence, 120 ms at each join. */
const pauseS: Readonly<Record<Chunk['boundary'], number>> = { word: 0, clause: 0.06, sentence: 0.25, paragraph: 0.55 }

/**
 * @throws Error when the pronunciations cannot be read, or a file of the model is missing or another one
 */
export const load: LoadSpeechModel = (options) => loadKokoro(options, Espeak.find())

/** @param espeak null: not installed on this machine @param open for measurements */
export async function loadKokoro(options: LoadOptions, espeak: Espeak | null, open = openGraph): Promise<SpeechModel> {
  const { card, filesDir, pronunciations, workers } = options
  if (filesDir === null) throw new Error('kokoro needs its files')
  const lexicon = pronunciations === null ? emptyLexicon : parseLexicon(pronunciations)
  const pronouncer = await loadPronouncer()
  const threads = workers > 0 ? workers : availableParallelism()
  const graph = await loadGraph(join(filesDir, 'model.onnx'), threads, card.weights, open)
  return new KokoroModel({
    graph,
    styles: new Styles(join(filesDir, 'voices'), new Set(card.voices.map(({ id }) => id))),
    languages: new Map(card.voices.map(({ id, language }) => [id, language])),
    american: new English(pronouncer, 'american'),
    british: new English(pronouncer, 'british'),
    lexicon,
    espeak,
    sampleRateHz: card.sampleRateHz,
  })
}

interface Parts {
  graph: KokoroGraph
  styles: Styles
  /** BCP-47 language of each voice. */
  languages: ReadonlyMap<string, string>
  american: English
  british: English
  lexicon: Lexicon
  espeak: Espeak | null
  sampleRateHz: number
}

/**
 * The part of a pace that the graph cannot do: it was trained with half to twice its own, and some accept whole numbers
 * only.
 */
function stretched(pcm: Float32Array, sampleRateHz: number, speed: number): Float32Array {
  if (speed === 1) return pcm
  const stretcher = new Stretcher(sampleRateHz, speed)
  return concatFloats([stretcher.push(pcm), stretcher.flush()])
}

/** A unit of the graph's lengths is 600 samples; its own program begins words three of them earlier. */
const unitS = 0.025
const earlyUnits = 3
/** The last sound before a pause is longer than it is heard; as with hibari, which learned it from this model. */
const endUnits = 6

/** Empty if the graph does not report lengths. @param times in the graph's audio, and how it was changed */
function spansOf(
  { spans, symbols }: Chunk,
  lengths: readonly number[] | null,
  { skippedS, stretch }: { skippedS: number; stretch: number },
): { spans?: SpokenSpan[] } {
  if (lengths === null) return {}
  const seconds = (units: number) => Math.max(0, units * unitS - skippedS) / stretch
  const units = spanTimes({ spans, symbols, lengths, early: earlyUnits, longestEnd: endUnits })
  return { spans: units.map(({ end, from, to }) => ({ end, startS: seconds(from), endS: seconds(to) })) }
}

class KokoroModel implements SpeechModel {
  readonly sampleRateHz: number
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.sampleRateHz = parts.sampleRateHz
  }

  /**
   * @throws InputRefused of a language that cannot be spoken here; Error of an unknown voice, or that says what failed;
   * the signal's reason once it aborts
   */
  async *speak(input: SpeechInput, signal: AbortSignal): AsyncGenerator<SpokenChunk> {
    const { graph, styles } = this.#parts
    const mixture = this.#mixture(input)
    const units = this.#units(input, mixture, signal)
    const speed = graph.hasFineSpeed ? Math.min(2, Math.max(0.5, input.speed)) : input.speed >= 2 ? 2 : 1
    const finished = (chunk: Chunk, sound: KokoroSound, silenceS: number): SpokenChunk => {
      const { pcm, skippedSamples } = finish(sound.pcm, speed, silenceS / speed, this.sampleRateHz)
      const stretch = input.speed / speed
      return {
        pcm: stretched(pcm, this.sampleRateHz, stretch),
        coveredChars: chunk.coveredChars,
        ...spansOf(chunk, sound.lengths, { skippedS: skippedSamples / this.sampleRateHz, stretch }),
      }
    }
    let held: { chunk: Chunk; sound: KokoroSound } | null = null
    for await (const chunk of chunks(units)) {
      signal.throwIfAborted()
      if (held !== null) {
        const ended = finished(held.chunk, held.sound, pauseS[held.chunk.boundary])
        yield { ...ended, ...(chunk.isLast && { isLastNext: true }) }
      }
      signal.throwIfAborted()
      const style = await styles.style(mixture, Array.from(chunk.symbols).length)
      held = { chunk, sound: await graph.speak(chunk.symbols, style, speed, signal) }
    }
    if (held === null) {
      throw new InputRefused(`The text contains nothing that the voice '${input.voiceId}' can read.`, 'language')
    }
    yield { ...finished(held.chunk, held.sound, 0), isLast: true }
  }

  unload(): Promise<void> {
    return this.#parts.graph.release()
  }

  #mixture({ voiceId }: SpeechInput): Mixture {
    const mixed = parseMixture(voiceId)
    const mixture = mixed !== null && 'parts' in mixed ? mixed.parts : [{ voice: voiceId, weight: 1 }]
    for (const { voice } of mixture) {
      if (!this.#parts.languages.has(voice)) throw new Error(`kokoro has no voice ${JSON.stringify(voice)}`)
    }
    return mixture
  }

  /** In the requested language, otherwise in that of the voice with the largest share. */
  #units(input: SpeechInput, mixture: Mixture, signal: AbortSignal): AsyncIterable<Unit> | Iterable<Unit> {
    const { languages, american, british, lexicon, espeak } = this.#parts
    const main = mixture.reduce((best, part) => (part.weight > best.weight ? part : best))
    const own = languages.get(main.voice) as string
    const tag = input.language ?? own
    const language = primaryLanguage(tag)
    if (language === 'en') {
      const isBritish = tag.toLowerCase() === 'en' ? own === 'en-GB' : /^en-(?:GB|IE|AU|NZ|ZA)$/i.test(tag)
      const { text, lexicon: both } = takeOverrides(input.text, lexicon)
      return englishUnits(text, isBritish ? british : american, both)
    }
    const voice = espeakVoices.get(language)
    if (voice === undefined) {
      const known = ['en', ...espeakVoices.keys()].join(', ')
      throw new InputRefused(`Kokoro does not speak '${tag}' here. Supported values are: ${known}.`, 'language')
    }
    if (espeak === null) {
      const words = `Kokoro speaks '${tag}' with the help of espeak-ng, which is not installed on the server`
      throw new InputRefused(`${words}: its package is called espeak-ng.`, 'language')
    }
    return foreignUnits(input.text, voice, espeak, signal)
  }
}

// English text to the units of Kokoro's chunks.
