/**
 * The `bundle.json` of an export of Pocket TTS (schema 2, as https://github.com/KevinAHM/pocket-tts-onnx-export writes
 * it): the sizes, how text is prepared, and which states the graphs pass from step to step. Anything unknown is
 * refused: the exports differ from one version of the model to the next.
 */
import { minTokens } from './chunks.ts'
import type { Preparation } from './prepare.ts'

/** One tensor that a graph takes and returns for its next run. */
export interface StateSpec {
  input: string
  output: string
  /** The part of the model that it belongs to, and its name there: how voice files name it. */
  module: string
  key: string
  dims: readonly number[]
  type: 'float32' | 'int64' | 'bool'
  /** Its value before the first run. */
  fill: 'nan' | 'zeros' | 'ones'
}

export interface Bundle {
  name: string
  sampleRateHz: number
  samplesPerFrame: number
  framesPerS: number
  /** Numbers of one frame of sound. */
  latentDim: number
  /** Numbers of one token or one frame of a voice. */
  conditioningDim: number
  maxTokens: number
  preparation: Preparation
  /** null: it depends on the text. */
  framesAfterEos: number | null
  bosBeforeVoice: boolean
  /** States of the model that makes frames. */
  flowStates: readonly StateSpec[]
  /** States of the decoder that turns frames into audio. */
  mimiStates: readonly StateSpec[]
  /** Positions that the model has room for: voice, text and frames together. */
  capacity: number
}

/** @param text of the file @throws Error that names the file and the field */
export function readBundle(text: string): Bundle {
  const fields = new Fields(text)
  fields.is('schema_version', 2)
  const flowStates = fields.states('flow_lm_state_manifest')
  const capacity = flowStates.find(isCache)?.dims[2]
  if (capacity === undefined) throw new Error('bundle.json: flow_lm_state_manifest has no cache of keys and values')
  const bundle: Bundle = {
    name: fields.text('bundle_name'),
    sampleRateHz: fields.number('sample_rate', 8000, 192_000),
    samplesPerFrame: fields.number('samples_per_frame', 1, 96_000),
    framesPerS: fields.number('frame_rate', 1, 1000),
    latentDim: fields.number('latent_dim', 1, 65_536),
    conditioningDim: fields.number('conditioning_dim', 1, 65_536),
    maxTokens: fields.number('max_token_per_chunk', minTokens, capacity),
    preparation: {
      padShortInputs: fields.truth('pad_with_spaces_for_short_inputs'),
      removeSemicolons: fields.truth('remove_semicolons'),
    },
    framesAfterEos: fields.maybe('model_recommended_frames_after_eos', 1, 100),
    bosBeforeVoice: fields.truth('insert_bos_before_voice'),
    flowStates,
    mimiStates: fields.states('mimi_state_manifest'),
    capacity,
  }
  if (Math.round(bundle.sampleRateHz / bundle.framesPerS) !== bundle.samplesPerFrame) {
    throw new Error('bundle.json: samples_per_frame is not sample_rate / frame_rate')
  }
  return bundle
}

/** Keys and values of one layer: [2, 1, positions, heads, numbers]. */
export const isCache = ({ key, dims }: StateSpec): boolean => key === 'cache' && dims.length === 5

class Fields {
  readonly #fields: Record<string, unknown>

  constructor(text: string) {
    this.#fields = parsed(text)
  }

  is(name: string, wanted: number): void {
    const found = this.#fields[name]
    if (found !== wanted)
      throw new Error(`bundle.json: ${name} is ${JSON.stringify(found)}; only ${wanted} is supported`)
  }

  text(name: string): string {
    const found = this.#fields[name]
    return typeof found === 'string' && found !== '' ? found : this.#refuse(name, 'a text')
  }

  truth(name: string): boolean {
    const found = this.#fields[name]
    return typeof found === 'boolean' ? found : this.#refuse(name, 'true or false')
  }

  number(name: string, min: number, max: number): number {
    const found = this.#fields[name]
    const isGood = typeof found === 'number' && found >= min && found <= max
    return isGood ? found : this.#refuse(name, `a number from ${min} to ${max}`)
  }

  maybe(name: string, min: number, max: number): number | null {
    return (this.#fields[name] ?? null) === null ? null : this.number(name, min, max)
  }

  states(name: string): StateSpec[] {
    const found = this.#fields[name]
    if (!Array.isArray(found) || found.length === 0) return this.#refuse(name, 'a list of states')
    const states = found.map((entry, at) => stateSpec(entry) ?? this.#refuse(`${name}[${at}]`, 'a state'))
    if (new Set(states.map(({ input }) => input)).size < states.length)
      this.#refuse(name, 'states with different names')
    return states
  }

  #refuse(name: string, wanted: string): never {
    throw new Error(`bundle.json: ${name} is not ${wanted}`)
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text)
    if (typeof content === 'object' && content !== null) return { ...content }
  } catch {
    // Said below.
  }
  throw new Error('bundle.json is not a JSON object')
}

function stateSpec(entry: unknown): StateSpec | null {
  const { input_name, output_name, module, key, shape, dtype, fill } = (entry ?? {}) as Record<string, unknown>
  const names = [input_name, output_name, module, key]
  if (!names.every((name) => typeof name === 'string' && name !== '')) return null
  if (!Array.isArray(shape) || !shape.every((length) => Number.isSafeInteger(length) && length >= 0)) return null
  if (dtype !== 'float32' && dtype !== 'int64' && dtype !== 'bool') return null
  // 'empty' is written for tensors without numbers.
  const isEmpty = shape.includes(0)
  const isKnown = fill === 'zeros' || fill === 'ones' || (fill === 'nan' && dtype === 'float32')
  if (!isKnown && !(fill === 'empty' && isEmpty)) return null
  const [input, output, part, name] = names as [string, string, string, string]
  return { input, output, module: part, key: name, dims: shape, type: dtype, fill: isKnown ? fill : 'zeros' }
}
