/**
 * Parakeet TDT (NVIDIA NeMo; https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3) as exported to ONNX by istupakov: a
 * FastConformer encoder that takes a whole window, and a decoder that outputs it token by token. Windows are
 * independent: nothing of one helps with the next.
 */
import { join } from 'node:path'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import {
  InputRefused,
  type LoadOptions,
  type LoadTranscriptionModel,
  type Transcribing,
  type TranscriptionInput,
  type TranscriptionModel,
} from '../architecture.ts'
import { checkContract } from '../../onnx/contract.ts'
import { createSession } from '../../onnx/back-end.ts'
import type { Session, Tensor } from '../../onnx/session.ts'
import { readConfig } from './config.ts'
import { openEncoder } from './encoder.ts'
import { FeatureMeter, hopMs, minFrames, sampleRateHz } from './features.ts'
import { segmentsOf } from '../sentences.ts'
import { durations, TdtDecoder } from './tdt.ts'
import { readVocabulary } from './vocabulary.ts'
import { wordsOf } from './words.ts'

const encoderFile = 'encoder-model.onnx'
const decoderFile = 'decoder_joint-model.onnx'

/**
 * The published int8 encoder is less accurate in windows of more than about 20 s (istupakov/onnx-asr, issue 126),
 * because it takes the range of its numbers from a whole window; and its table of positions ends at 400 s.
 */
const maxWindowMs = 20_000
/** Run once when it is loaded, so that files that do not fit each other are reported then. */
const trialMs = 500

/** @throws Error that names the file which is missing or does not fit */
export const load: LoadTranscriptionModel = async (options) => {
  const { card, filesDir, workers } = options
  if (filesDir === null) throw new Error(`${card.id} has no files`)
  const text = (name: string) => Bun.file(join(filesDir, name)).text()
  const config = readConfig(await text('config.json'))
  const vocabulary = readVocabulary(await text('vocab.txt'))
  const sessions: Session[] = []
  try {
    const encoder = await openEncoder(join(filesDir, encoderFile), card.weights, workers)
    sessions.push(encoder)
    const decoder = await createSession(join(filesDir, decoderFile), { threads: workers })
    sessions.push(decoder)
    checkGraphs(encoder, decoder, config.bands)
    checkVocabulary(decoder, vocabulary.pieces.length)
    const tdt = new TdtDecoder(decoder, { vocabulary: vocabulary.pieces.length, ...config })
    const features = new FeatureMeter(config.bands)
    const model = new Parakeet({ card, encoder, decoder, tdt, features, pieces: vocabulary.pieces, ...config })
    await model.hear(new Float32Array((trialMs * sampleRateHz) / 1000), false, new AbortController().signal)
    return model
  } catch (error) {
    for (const session of sessions) await session.release()
    throw error
  }
}

function checkGraphs(encoder: Session, decoder: Session, bands: number): void {
  const floats = (name: string, ...dims: (number | null)[]) => ({ name, type: 'float32', dims })
  const lengths = (name: string) => ({ name, type: 'int64', dims: [null] })
  checkContract(encoderFile, encoder, {
    inputs: [floats('audio_signal', null, bands, null), lengths('length')],
    outputs: [floats('outputs', null, null, null), lengths('encoded_lengths')],
  })
  const states = (name: string) => [floats(`${name}_1`, null, null, null), floats(`${name}_2`, null, null, null)]
  checkContract(decoderFile, decoder, {
    inputs: [
      floats('encoder_outputs', null, null, null),
      { name: 'targets', type: 'int32', dims: [null, null] },
      { name: 'target_length', type: 'int32', dims: [null] },
      ...states('input_states'),
    ],
    outputs: [{ name: 'outputs', type: 'float32', dims: null }, ...states('output_states')],
  })
}

/** With another model's vocabulary, a graph would get numbers that it does not know. */
function checkVocabulary(decoder: Session, pieces: number): void {
  const found = decoder.outputs.find(({ name }) => name === 'outputs')?.dims.at(-1)
  const expected = pieces + durations
  if (typeof found !== 'number' || found === expected) return
  throw new Error(`${decoderFile} gives ${found} numbers, but vocab.txt requires ${expected}`)
}

interface Parts {
  card: LoadOptions['card']
  encoder: Session
  decoder: Session
  tdt: TdtDecoder
  features: FeatureMeter
  pieces: readonly string[]
  /** Frames of features to one of the encoder's. */
  subsampling: number
}

class Parakeet implements TranscriptionModel {
  readonly sampleRateHz = sampleRateHz
  readonly maxWindowMs = maxWindowMs
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  begin({ task, language, words }: TranscriptionInput): Transcribing {
    const { id, languages } = this.#parts.card
    if (task === 'translate') throw new InputRefused(`The model '${id}' cannot translate.`, 'model')
    if (language !== null && !languages.some((known) => isSameLanguage(known, language))) {
      const known = languages.join(', ')
      throw new InputRefused(
        `The model '${id}' does not know '${language}'. Supported values are: ${known}.`,
        'language',
      )
    }
    return {
      // It transcribes without reporting the language, unless it knows only one.
      language: language ?? (languages.length === 1 ? languages[0]! : null),
      hear: (pcm, signal) => this.hear(pcm, words, signal),
    }
  }

  /** @throws the signal's reason */
  async hear(pcm: Float32Array, withWords: boolean, signal: AbortSignal): Promise<TranscriptSegment[]> {
    const { encoder, tdt, features, pieces, subsampling } = this.#parts
    signal.throwIfAborted()
    if (pcm.length < (minFrames * hopMs * sampleRateHz) / 1000) return []
    const { values, bands, frames } = features.measure(pcm)
    const sound: Tensor = { type: 'float32', dims: [1, bands, values.length / bands], data: values }
    const length: Tensor = { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(frames)) }
    const { outputs, encoded_lengths } = await encoder.run({ audio_signal: sound, length }, signal)
    if (outputs === undefined || encoded_lengths === undefined) throw new Error(`${encoderFile} gave no outputs`)
    const emissions = await tdt.decode({ outputs, frames: Number(encoded_lengths.data[0]) }, signal)
    if (emissions.length === 0) return []
    const timing = { frameMs: hopMs * subsampling, endMs: (1000 * pcm.length) / sampleRateHz }
    const avgLogprob = emissions.reduce((sum, { logprob }) => sum + logprob, 0) / emissions.length
    return segmentsOf(wordsOf(emissions, pieces, timing), avgLogprob, withWords)
  }

  async unload(): Promise<void> {
    await this.#parts.encoder.release()
    await this.#parts.decoder.release()
  }
}

/** `en-GB` is English. */
const isSameLanguage = (one: string, other: string): boolean => subtag(one) === subtag(other)
const subtag = (language: string): string => language.toLowerCase().split(/[-_]/)[0]!
