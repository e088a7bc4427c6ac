/**
 * Preset voices: the model's memory of them, as Kyutai publishes it for each language (`<module>/cache` and
 * `<module>/offset`, or in older files `<module>/current_end`, whose length is the offset). And recently used voices,
 * so that they are read or computed once.
 */
import { readSafetensors } from '../formats/safetensors.ts'
import type { Tensor } from '../../onnx/session.ts'
import { isCache, type StateSpec } from './bundle.ts'
import { bytesOf, type Voice } from './states.ts'

/** @param file a safetensors file @throws Error that says what is wrong, without naming the file */
export function readVoice(specs: readonly StateSpec[], file: Uint8Array): Voice {
  const tensors = readSafetensors(file)
  const modules = new Set(specs.map(({ module }) => module))
  const foreign = [...tensors.keys()].find((name) => !modules.has(name.slice(0, name.lastIndexOf('/'))))
  if (foreign !== undefined) throw new Error(`it belongs to another model: this one has no ${foreign}`)
  const length = lengthOf(tensors)
  const states = specs.map((spec) => [spec.input, stateOf(spec, tensors, length)] as const)
  return { length, states: Object.fromEntries(states) }
}

function stateOf(spec: StateSpec, tensors: ReadonlyMap<string, Tensor>, length: number): Tensor {
  const { module, key, dims, type } = spec
  if (key === 'step') return { type: 'int64', dims, data: BigInt64Array.of(BigInt(length)) }
  if (key === 'current_end') return { type, dims, data: new Float32Array(0) }
  const cache = tensors.get(`${module}/${key}`)
  if (cache === undefined) throw new Error(`it belongs to another model: it has no ${module}/${key}`)
  const fits =
    isCache(spec) &&
    cache.type === type &&
    cache.dims.length === dims.length &&
    cache.dims.every((size, at) => (at === 2 ? size === length && length < dims[2]! : size === dims[at]))
  if (!fits) throw new Error(`${module}/${key} is ${cache.type} [${cache.dims.join(', ')}], which is another model's`)
  return cache
}

/** Positions that the voice takes, which all layers must agree on. */
function lengthOf(tensors: ReadonlyMap<string, Tensor>): number {
  const lengths = new Set<number>()
  for (const [name, { dims, data }] of tensors) {
    if (name.endsWith('/offset')) lengths.add(Number(data[0]))
    if (name.endsWith('/current_end')) lengths.add(dims[0] ?? 0)
    // Positions at the start that hold nothing: later versions count them, for batches.
    if (name.endsWith('/pad') && Number(data[0]) !== 0) throw new Error(`${name} is not 0`)
  }
  const [length] = lengths
  if (length === undefined || lengths.size > 1 || !(length > 0))
    throw new Error('it does not state how long the voice is')
  return length
}

/** Voices by key; the least recently used are dropped when there are too many. */
export class VoiceCache {
  readonly #maxBytes: number
  readonly #voices = new Map<string, Promise<Voice>>()
  readonly #sizes = new Map<string, number>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @param make is called once however many ask; what it throws is not kept */
  get(key: string, make: () => Promise<Voice>): Promise<Voice> {
    const voice = this.#voices.get(key) ?? this.#make(key, make)
    this.#voices.delete(key)
    this.#voices.set(key, voice)
    return voice
  }

  /** Number of kept voices. */
  get sizeBytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0)
  }

  #make(key: string, make: () => Promise<Voice>): Promise<Voice> {
    const voice = make()
    voice.then(
      (made) => this.#keep(key, made),
      () => this.#voices.delete(key),
    )
    return voice
  }

  #keep(key: string, voice: Voice): void {
    this.#sizes.set(key, bytesOf(voice))
    for (const oldest of this.#voices.keys()) {
      if (this.sizeBytes <= this.#maxBytes) return
      if (!this.#sizes.delete(oldest)) continue
      this.#voices.delete(oldest)
    }
  }
}
