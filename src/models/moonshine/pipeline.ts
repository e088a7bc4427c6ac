/**
 * Moonshine tiny for English, the built-in recogniser (https://github.com/moonshine-ai/moonshine): windows of speech to
 * text with capitals and punctuation. A window is a world of its own: nothing of one helps with the next.
 */
import { join } from 'node:path'
import { primaryLanguage } from '../../domain/language.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import { embeddedFile } from '../../embedded/models.ts'
import {
  InputRefused,
  type LoadTranscriptionModel,
  type Transcribing,
  type TranscriptionInput,
  type TranscriptionModel,
} from '../architecture.ts'
import { segmentsOf } from '../sentences.ts'
import { MoonshineGraphs, sampleRateHz } from './graphs.ts'
import { meanLogProbability, wasSaid } from './judgement.ts'
import { readPieces, wordsOf } from './vocabulary.ts'

/** As its makers cut. A window of 44 s began with words that were never said; its memory grows with the square. */
const maxWindowMs = 15_000
/** Run once when it is loaded, so that files that do not fit each other are reported then. */
const trialMs = 500

/** @throws Error that names the file which is missing or does not fit */
export const load: LoadTranscriptionModel = async ({ card, filesDir, workers }) => {
  const read = async (name: string) => (filesDir === null ? embeddedFile(card, name) : join(filesDir, name))
  const table = await read('tokenizer.bin')
  const pieces = readPieces(typeof table === 'string' ? await Bun.file(table).bytes() : table)
  const model = new Moonshine(card.id, await MoonshineGraphs.load(read, workers), pieces)
  try {
    await model.hear(new Float32Array((trialMs * sampleRateHz) / 1000), new AbortController().signal)
    return model
  } catch (error) {
    await model.unload()
    throw error
  }
}

class Moonshine implements TranscriptionModel {
  readonly sampleRateHz = sampleRateHz
  readonly maxWindowMs = maxWindowMs
  readonly onCpu = true
  readonly #id: string
  readonly #graphs: MoonshineGraphs
  readonly #pieces: readonly Uint8Array[]

  constructor(id: string, graphs: MoonshineGraphs, pieces: readonly Uint8Array[]) {
    this.#id = id
    this.#graphs = graphs
    this.#pieces = pieces
  }

  begin({ task, language }: TranscriptionInput): Transcribing {
    if (task === 'translate') throw new InputRefused(`The model '${this.#id}' cannot translate.`, 'model')
    if (language !== null && primaryLanguage(language) !== 'en') {
      const message = `The model '${this.#id}' does not know '${language}'. Supported values are: en.`
      throw new InputRefused(message, 'language')
    }
    return { language: 'en', hear: (pcm, signal) => this.hear(pcm, signal) }
  }

  /** @throws the signal's reason */
  async hear(pcm: Float32Array, signal: AbortSignal): Promise<TranscriptSegment[]> {
    const heard = await this.#graphs.hear(pcm, signal)
    const words = wordsOf(heard.written, this.#pieces, (1000 * pcm.length) / sampleRateHz)
    const segments = segmentsOf(words, meanLogProbability(heard.written), false)
    const text = segments.map((segment) => segment.text).join('')
    return wasSaid(heard, text, segments[0]?.compressionRatio ?? 0) ? segments : []
  }

  unload(): Promise<void> {
    return this.#graphs.release()
  }
}
