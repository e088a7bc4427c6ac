/**
 * The JSON files beside a Whisper model's graphs: `config.json`, `generation_config.json` and
 * `preprocessor_config.json`, as `transformers` writes them.
 */
import { join } from 'node:path'

export interface WhisperConfig {
  /** Mel bands that the encoder takes. */
  bands: number
  vocabulary: number
  /** Size of the decoder. */
  layers: number
  heads: number
  headSize: number
  width: number
  /** Tokens that the decoder can look back on, prompt included. */
  maxTokens: number
  isMultilingual: boolean
  /** Layer and head of the attentions that follow the audio; null: unknown. */
  alignmentHeads: readonly (readonly [number, number])[] | null
  /** Tokens that are never written; null: to be found from the tokenizer. */
  suppressed: readonly number[] | null
  /** Ids of special tokens by name, for a check against the tokenizer. */
  specials: ReadonlyMap<string, number>
}

/** English-only models have fewer tokens, which is how the reference recognizes them. */
const smallestMultilingual = 51_865

/** The encoder halves the 3,000 frames of a window. */
export const encoderPositions = 1500

/** @throws Error that names the file and what is wrong with it */
export async function readConfig(filesDir: string): Promise<WhisperConfig> {
  const read = async (name: string) => new Fields(name, await Bun.file(join(filesDir, name)).json())
  const model = await read('config.json')
  const generation = await read('generation_config.json')
  const extractor = await read('preprocessor_config.json')
  const bands = model.whole('num_mel_bins')
  extractor.expect('feature_size', bands)
  extractor.expect('sampling_rate', 16_000)
  model.expect('max_source_positions', encoderPositions)
  const [width, heads] = [model.whole('d_model'), model.whole('decoder_attention_heads')]
  if (width % heads !== 0) throw new Error(`config.json: ${heads} heads do not share a width of ${width}`)
  const layers = model.whole('decoder_layers')
  const vocabulary = model.whole('vocab_size')
  return {
    bands,
    vocabulary,
    layers,
    heads,
    headSize: width / heads,
    width,
    maxTokens: model.whole('max_target_positions'),
    isMultilingual: generation.flag('is_multilingual') ?? vocabulary >= smallestMultilingual,
    alignmentHeads: alignmentHeads(generation, layers, heads),
    suppressed: generation.wholes('suppress_tokens'),
    specials: specials(generation),
  }
}

function alignmentHeads(generation: Fields, layers: number, heads: number): WhisperConfig['alignmentHeads'] {
  const listed = generation.list('alignment_heads')
  if (listed === null) return null
  return listed.map((pair) => {
    const [layer, head] = Array.isArray(pair) ? pair : []
    if (!isWhole(layer) || !isWhole(head) || layer >= layers || head >= heads) {
      throw new Error(`generation_config.json: alignment_heads: there is no head ${JSON.stringify(pair)}`)
    }
    return [layer, head]
  })
}

function specials(generation: Fields): ReadonlyMap<string, number> {
  const named = [
    ['<|endoftext|>', generation.value('eos_token_id')],
    ['<|startoftranscript|>', generation.value('decoder_start_token_id')],
    ['<|notimestamps|>', generation.value('no_timestamps_token_id')],
    ...Object.entries(generation.record('task_to_id')).map(([task, id]) => [`<|${task}|>`, id]),
    ...Object.entries(generation.record('lang_to_id')),
  ]
  return new Map(named.filter((entry): entry is [string, number] => isWhole(entry[1])))
}

const isWhole = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** One file's fields, read so that every error names them. */
class Fields {
  readonly #file: string
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(file: string, json: unknown) {
    if (typeof json !== 'object' || json === null) throw new Error(`${file} is not an object`)
    this.#file = file
    this.#fields = json as Record<string, unknown>
  }

  value(name: string): unknown {
    return this.#fields[name]
  }

  whole(name: string): number {
    const value = this.#fields[name]
    if (isWhole(value) && value > 0) return value
    throw new Error(`${this.#file}: ${name} is ${JSON.stringify(value)}, not a count`)
  }

  expect(name: string, expected: number): void {
    const value = this.#fields[name]
    if (value !== expected) throw new Error(`${this.#file}: ${name} is ${JSON.stringify(value)}, not ${expected}`)
  }

  /** null when it is not there. */
  flag(name: string): boolean | null {
    const value = this.#fields[name] ?? null
    if (value === null || typeof value === 'boolean') return value
    throw new Error(`${this.#file}: ${name} is ${JSON.stringify(value)}, not true or false`)
  }

  /** null when it is not there. */
  list(name: string): readonly unknown[] | null {
    const value = this.#fields[name] ?? null
    if (value === null || Array.isArray(value)) return value
    throw new Error(`${this.#file}: ${name} is not a list`)
  }

  wholes(name: string): readonly number[] | null {
    const values = this.list(name)
    if (values === null || values.every(isWhole)) return values
    throw new Error(`${this.#file}: ${name} is not a list of token ids`)
  }

  /** Empty when it is not there. */
  record(name: string): Readonly<Record<string, unknown>> {
    const value = this.#fields[name] ?? {}
    if (typeof value === 'object') return value as Record<string, unknown>
    throw new Error(`${this.#file}: ${name} is not an object`)
  }
}
