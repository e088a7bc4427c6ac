/**
 * Pocket TTS (Kyutai, https://github.com/kyutai-labs/pocket-tts): speech and clones, streaming, faster than real time
 * without a graphics card. Each chunk of text starts afresh from the voice; sound comes out in blocks that begin small.
 *
 * It knows no pace and no instructions: another speed is made of its sound, instructions mean nothing to it. A model
 * speaks one language, its card's.
 */
import { join } from 'node:path'
import { concatFloats } from '../../audio/pcm.ts'
import { Stretcher } from '../../audio/stretch.ts'
import type { Card } from '../../domain/card.ts'
import { countChars } from '../../domain/charge.ts'
import { emptyLexicon, type Lexicon, parseLexicon } from '../../text/lexicon.ts'
import type { Clip, LoadOptions, LoadSpeechModel, SpeechInput, SpeechModel, SpokenChunk } from '../architecture.ts'
import { readNpy } from '../formats/npy.ts'
import { SentencePiece } from '../tokenizers/sentencepiece.ts'
import { createSession } from '../../onnx/back-end.ts'
import type { CreateSession, Session, Tensor, Tensors } from '../../onnx/session.ts'
import { type Bundle, readBundle } from './bundle.ts'
import { type Chunk, chunksOf } from './chunks.ts'
import { hearClip, voiceClip } from './clone.ts'
import { type Block, generate, hear, type Utterance } from './generate.ts'
import { checkTokens, type Graphs, openGraphs, releaseGraphs } from './graphs.ts'
import { Joins } from './joins.ts'
import { type Manner, mannerOf } from './voice-state.ts'
import { type Noise, randomSeed, seededNoise } from './noise.ts'
import { framesAfterEos, prepare } from './prepare.ts'
import { readState, writeState } from './state.ts'
import { startWith, type Voice, voiceOf } from './states.ts'
import { readVoice, VoiceCache } from './voices.ts'
import { wordsOf } from './words.ts'

/** For voices that were used recently: about 40 of a model of 6 layers. */
const keptVoicesBytes = 256 * 2 ** 20

/** The parts that tests and measurements may replace. */
export interface Seams {
  noise?: (seed: number) => Noise
  frames?: () => number
  createSession?: CreateSession
  /** Takes a line for the server's log. */
  tell?: (line: string) => void
}

interface Parts {
  card: Card
  filesDir: string
  bundle: Bundle
  graphs: Graphs
  tokenizer: SentencePiece
  lexicon: Lexicon
  manner: Manner
  /** float32 [1, 1, conditioningDim], put before a voice; null: nothing is. */
  bos: Tensor | null
  noise: (seed: number) => Noise
  tell: (line: string) => void
}

/** @throws Error that names the file and says what is wrong with it */
export const load: LoadSpeechModel = (options) => loadPocket(options, {})

export async function loadPocket(options: LoadOptions, seams: Seams): Promise<SpeechModel> {
  const { card, filesDir, pronunciations, workers } = options
  if (filesDir === null) throw new Error(`${card.id}: Pocket TTS cannot speak without its files`)
  const manner = mannerOf(card, seams.frames ?? null)
  const lexicon = pronunciations === null ? emptyLexicon : parseLexicon(pronunciations)
  const bundle = readBundle(await Bun.file(join(filesDir, 'bundle.json')).text())
  if (bundle.sampleRateHz !== card.sampleRateHz) {
    throw new Error(`bundle.json: sample_rate is ${bundle.sampleRateHz}, but ${card.id} has ${card.sampleRateHz}`)
  }
  const tokenizer = await readFile(filesDir, 'tokenizer.model', (bytes) => new SentencePiece(bytes))
  const bos = bundle.bosBeforeVoice
    ? await readFile(filesDir, 'bos_before_voice.npy', (bytes) => positionsOf(readNpy(bytes), bundle))
    : null
  const open = seams.createSession ?? createSession
  const graphs = await openGraphs({ filesDir, bundle, canClone: card.cloning !== null, threads: workers, open })
  try {
    await checkTokens(graphs, tokenizer.size)
  } catch (error) {
    await releaseGraphs(graphs)
    throw error
  }
  const noise = seams.noise ?? seededNoise
  // What the engine prints is in the server's log.
  const tell = seams.tell ?? ((line) => console.error(line))
  return new PocketModel({ card, filesDir, bundle, graphs, tokenizer, lexicon, manner, bos, noise, tell })
}

async function readFile<T>(filesDir: string, name: string, read: (bytes: Uint8Array) => T): Promise<T> {
  const bytes = await Bun.file(join(filesDir, name)).bytes()
  try {
    return read(bytes)
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** @throws Error when the language model cannot take it before a voice */
function positionsOf(tensor: Tensor, { conditioningDim }: Bundle): Tensor {
  const { type, dims } = tensor
  if (type === 'float32' && dims.length === 3 && dims[0] === 1 && dims[2] === conditioningDim) return tensor
  throw new Error(`${type} [${dims.join(', ')}], but float32 [1, ?, ${conditioningDim}] is expected`)
}

class PocketModel implements SpeechModel {
  readonly sampleRateHz: number
  /** Absent when the export has no encoder. */
  readonly clone?: (clip: Clip, signal: AbortSignal) => Promise<Uint8Array>
  readonly #parts: Parts
  readonly #voices = new VoiceCache(keptVoicesBytes)
  /** The model's state for the voice used last, 49 MB and 30 ms to make: streams with one voice share it. */
  #start: { voice: Voice; states: Tensors } | null = null
  readonly #streams = new Set<AsyncGenerator<SpokenChunk>>()
  readonly #unloading = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
    this.sampleRateHz = parts.bundle.sampleRateHz
    const { openEncoder } = parts.graphs
    if (openEncoder !== null) this.clone = (clip, signal) => this.#clone(clip, openEncoder, signal)
  }

  /**
   * A block of sound a step: 160 ms at first, then up to 1.2 s.
   * @throws Error of an unknown voice or a clone of another model; the signal's reason once it aborts
   */
  async *speak(input: SpeechInput, signal: AbortSignal): AsyncGenerator<SpokenChunk> {
    const { signal: unloading } = this.#unloading
    const stream = this.#speak(input, AbortSignal.any([signal, unloading]))
    this.#streams.add(stream)
    try {
      yield* stream
      // Unloading ends a stream that no client is pulling, as if it were complete.
      unloading.throwIfAborted()
    } finally {
      this.#streams.delete(stream)
    }
  }

  async unload(): Promise<void> {
    this.#unloading.abort(new Error(`${this.#parts.card.id} is unloaded`))
    // Their graph resources must be released first.
    await Promise.allSettled([...this.#streams].map((stream) => stream.return(undefined)))
    await releaseGraphs(this.#parts.graphs)
  }

  async *#speak(input: SpeechInput, signal: AbortSignal): AsyncGenerator<SpokenChunk> {
    signal.throwIfAborted()
    const { noise } = this.#parts
    const voice = await this.#voice(input)
    const start = this.#startWith(voice)
    const stretcher = new Stretcher(this.sampleRateHz, input.speed)
    const joins = new Joins(this.sampleRateHz)
    const numbers = noise(input.seed ?? randomSeed())
    let before: Chunk | null = null
    const chunks = this.#chunks(input.text)
    for (let chunk = chunks.next(), next; !chunk.done; chunk = next) {
      next = chunks.next()
      const ends = { before: before?.closes ?? null, behind: next.done ? null : chunk.value.closes }
      const covered = before?.coveredChars ?? 0
      const from = { start, voiceLength: voice.length, noise: numbers }
      for await (const block of this.#blocks(chunk.value, from, signal)) {
        if (block.isCut) this.#tellOfCut(chunk.value)
        const first = block.isFirst ? joins.start(block.pcm, ends.before) : block.pcm
        const pcm = block.isLast ? joins.end(first, ends.behind) : first
        joins.note(pcm)
        const share = Math.floor((chunk.value.coveredChars - covered) * block.share)
        const coveredChars = block.isLast ? chunk.value.coveredChars : covered + share
        const isLast = block.isLast && next.done === true
        const ready = isLast ? concatFloats([stretcher.push(pcm), stretcher.flush()]) : stretcher.push(pcm)
        yield { pcm: ready, coveredChars, ...(isLast && { isLast }) }
      }
      before = chunk.value
    }
  }

  /** Without the text, which belongs to the client. */
  #tellOfCut({ coveredChars, text }: Chunk): void {
    const { card, tell } = this.#parts
    const which = `a chunk of ${countChars(text)} characters that ends at character ${coveredChars} of its text`
    tell(`${card.id} did not end ${which}: it was cut at the longest that such a chunk can take`)
  }

  #chunks(text: string): Generator<Chunk> {
    const { bundle, tokenizer, lexicon, card } = this.#parts
    const isEnglish = card.languages.every((language) => /^en\b/i.test(language))
    const words = wordsOf(text, isEnglish, lexicon, tokenizer)
    const tokens = (piece: string) => tokenizer.encode(prepare(piece, bundle.preparation)).length
    return chunksOf(words, text, { tokens, maxTokens: bundle.maxTokens })
  }

  #blocks(
    { text }: Chunk,
    from: Pick<Utterance, 'start' | 'voiceLength' | 'noise'>,
    signal: AbortSignal,
  ): AsyncGenerator<Block> {
    const { graphs, bundle, manner, tokenizer } = this.#parts
    const ids = tokenizer.encode(prepare(text, bundle.preparation))
    const after = manner.framesAfterEos ?? bundle.framesAfterEos ?? framesAfterEos(text)
    return generate(graphs, bundle, manner, { ...from, ids, framesAfterEos: after }, signal)
  }

  #startWith(voice: Voice): Tensors {
    if (this.#start?.voice !== voice) this.#start = { voice, states: startWith(this.#parts.bundle.flowStates, voice) }
    return this.#start.states
  }

  #voice({ voiceId, voiceState }: SpeechInput): Promise<Voice> {
    const { card, filesDir, bundle } = this.#parts
    if (voiceState !== null) {
      const { heard, key } = readState(voiceState, card.family, bundle.conditioningDim)
      return this.#voices.get(key, () => this.#hear(heard))
    }
    if (!card.voices.some(({ id }) => id === voiceId)) {
      throw new Error(`${card.id} has no voice ${JSON.stringify(voiceId)}`)
    }
    const name = `voices/${voiceId}.safetensors`
    return this.#voices.get(name, () => readFile(filesDir, name, (bytes) => readVoice(bundle.flowStates, bytes)))
  }

  async #hear(heard: Tensor): Promise<Voice> {
    const { bundle, graphs, bos } = this.#parts
    const whole = bos === null ? heard : joined(bos, heard)
    const length = whole.dims[1]!
    if (length >= bundle.capacity) throw new Error(`the voice takes ${length} positions of ${bundle.capacity}`)
    return voiceOf(bundle.flowStates, await hear(graphs, bundle, whole), length)
  }

  async #clone(clip: Clip, openEncoder: () => Promise<Session>, signal: AbortSignal): Promise<Uint8Array> {
    const { bundle, card } = this.#parts
    const pcm = voiceClip(clip, bundle.sampleRateHz, bundle.samplesPerFrame)
    const encoder = await openEncoder()
    try {
      return writeState(await hearClip(encoder, pcm, bundle, signal), card.family)
    } finally {
      await encoder.release()
    }
  }
}

/** Concatenated, of the same width. */
function joined(first: Tensor, second: Tensor): Tensor {
  const data = concatFloats([first.data as Float32Array, second.data as Float32Array])
  return { type: 'float32', dims: [1, first.dims[1]! + second.dims[1]!, first.dims[2]!], data }
}
