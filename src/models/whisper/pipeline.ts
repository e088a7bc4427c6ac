/**
 * Whisper (OpenAI; https://github.com/openai/whisper) as exported to ONNX by Hugging Face's optimum. It is decoded as
 * the reference decodes it; where transformers or transformers.js differ, the reference is followed.
 */
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'
import {
  InputRefused,
  type LoadTranscriptionModel,
  type Transcribing,
  type TranscriptionInput,
  type TranscriptionModel,
} from '../architecture.ts'
import { ByteLevelBpe } from '../tokenizers/bpe.ts'
import { backEnd } from '../../onnx/back-end.ts'
import { remembered } from '../../onnx/remembered.ts'
import { readConfig } from './config.ts'
import { LogMelMeter, sampleRateHz, windowFrames, frameMs } from './features.ts'
import { WhisperGraphs } from './graphs.ts'
import { whisperTokens } from './tokens.ts'
import { rulesFor, Transcription, type Whisper } from './transcribe.ts'
import { checkBranches, tryBatch } from './branches.ts'

/** A processor gains by a second window (scripts/bench.ts --only whisper); more would only fill its memory. */
const maxBatchOnCpu = 2

/** @throws Error that names the file which is missing or does not fit */
export const load: LoadTranscriptionModel = async ({ card, filesDir, workers }) => {
  if (filesDir === null) throw new Error(`${card.id} has no files`)
  const whisper = await openWhisper(filesDir, workers, card.weights)
  // What the graphs were rewritten from takes as much memory as they do.
  Bun.gc(true)
  try {
    const maxBatch = await tried(filesDir, whisper, card.weights === 'int8')
    return new WhisperModel(card.id, card.options['translates'] !== false, { ...whisper, maxBatch })
  } catch (error) {
    await whisper.graphs.release()
    throw error
  }
}

/** Changes whenever the trial does. */
const trialForm = 'whisper 1'

/**
 * Windows that can be decoded together. On a processor, files that were tried once are not tried again: of the 2.4 s of
 * processor time that Whisper base takes to load, the trial is 1.8.
 * @param isCoarse the weights have eight bits @throws Error that names the file
 */
async function tried(filesDir: string, whisper: Whisper, isCoarse: boolean): Promise<number> {
  const { graphs, tokens, config } = whisper
  const { isOnCard } = await backEnd()
  const trial = async () => {
    await checkBranches(graphs, tokens, config, isCoarse)
    // Not for 8-bit weights as published: windows would share the range of their numbers, and accuracy would suffer.
    return isCoarse && !graphs.isRewritten ? 1 : tryBatch(graphs, tokens, config)
  }
  if (isOnCard) return (await trial()) ?? 1
  const form = `${trialForm} ${isCoarse} ${graphs.isRewritten}`
  return Math.min(maxBatchOnCpu, (await remembered(filesDir, form, trial)) ?? 1)
}

/** As its files say, without trying: one window at a time. @throws as `load` */
export async function openWhisper(
  filesDir: string,
  threads: number,
  weights: Card['weights'] = null,
): Promise<Whisper> {
  const config = await readConfig(filesDir)
  const bpe = new ByteLevelBpe(await Bun.file(join(filesDir, 'tokenizer.json')).json())
  const tokens = whisperTokens(bpe, config)
  const graphs = await WhisperGraphs.load(filesDir, config, threads, weights)
  return { config, tokens, graphs, meter: new LogMelMeter(config.bands), maxBatch: 1 }
}

class WhisperModel implements TranscriptionModel {
  readonly sampleRateHz = sampleRateHz
  readonly maxWindowMs = windowFrames * frameMs
  readonly #id: string
  readonly #translates: boolean
  readonly #whisper: Whisper

  /** @param translates false: it was not trained to, and would write the original language instead */
  constructor(id: string, translates: boolean, whisper: Whisper) {
    this.#id = id
    this.#translates = translates && whisper.config.isMultilingual
    this.#whisper = whisper
  }

  begin({ task, language, prompt, temperature, words }: TranscriptionInput): Transcribing {
    if (task === 'translate' && !this.#translates) {
      throw new InputRefused(`The model '${this.#id}' cannot translate.`, 'model')
    }
    const known = language === null ? null : this.#known(language)
    return new Transcription(this.#whisper, { task, language: known, prompt, words, rules: rulesFor(temperature) })
  }

  /** `en-GB` is English. */
  #known(language: string): string {
    const code = language.toLowerCase().split(/[-_]/)[0]!
    const { config, tokens } = this.#whisper
    const codes = config.isMultilingual ? [...tokens.languages.keys()] : ['en']
    if (codes.includes(code)) return code
    const message = `The model '${this.#id}' does not know '${language}'. Supported values are: ${codes.join(', ')}.`
    throw new InputRefused(message, 'language')
  }

  unload(): Promise<void> {
    return this.#whisper.graphs.release()
  }
}
