/**
 * The one graph of Kokoro: symbols and a style in, sound out. Exports differ in a few names and types, which are read
 * from the graph.
 */
import { basename } from 'node:path'
import { symbolNumbers } from '../../phonemes/symbols.ts'
import type { Card } from '../../domain/card.ts'
import { checkContract } from '../../onnx/contract.ts'
import type { Session, Tensor } from '../../onnx/session.ts'
import { openGraph } from './opened.ts'
import { styleSize } from './styles.ts'

/** Symbols at once; with the pad at both ends the graph has 512 places. */
const longest = 510

const lengthNames: ReadonlySet<string> = new Set(['duration', 'durations', 'pred_dur'])

export interface KokoroSound {
  pcm: Float32Array
  lengths: readonly number[] | null
}

export class KokoroGraph {
  readonly #session: Session
  readonly #ids: string
  readonly #styleType: string
  readonly #speedType: string
  readonly #speedDims: number
  readonly #sound: string
  /** The length of each symbol, if the export reports it. */
  readonly #lengths: string | null

  /** @param file as the user knows it @throws Error that says how the graph is another one */
  constructor(file: string, session: Session) {
    const port = (name: string) => session.inputs.find((input) => input.name === name)
    this.#session = session
    this.#ids = port('tokens') === undefined ? 'input_ids' : 'tokens'
    this.#sound =
      session.outputs.find(({ name }) => name === 'waveform')?.name ?? session.outputs[0]?.name ?? 'waveform'
    this.#lengths = session.outputs.find(({ name }) => lengthNames.has(name))?.name ?? null
    checkContract(file, session, {
      inputs: [
        { name: this.#ids, type: 'int64', dims: [1, null] },
        { name: 'style', type: ['float32', 'float16'], dims: [1, styleSize] },
        { name: 'speed', type: ['float32', 'float16', 'int32'], dims: null },
      ],
      outputs: [{ name: this.#sound, type: ['float32', 'float16'], dims: null }],
    })
    this.#styleType = port('style')?.type ?? ''
    this.#speedType = port('speed')?.type ?? ''
    this.#speedDims = port('speed')?.dims.length ?? 1
  }

  /** Whether it accepts fractional speeds. */
  get hasFineSpeed(): boolean {
    return this.#speedType !== 'int32'
  }

  /**
   * @param symbols 1 to `longest` of those that have a number @param speed 1: the voice's own pace
   * @returns mono, at 24 kHz; and the length of each symbol, with the pads, in units of 25 ms, if the graph reports it
   * @throws RangeError for other symbols; Error if the audio is not finite, and what ONNX Runtime refuses; the signal's
   * reason
   */
  async speak(symbols: string, style: Float32Array, speed: number, signal?: AbortSignal): Promise<KokoroSound> {
    const ids = symbolNumbers(symbols, longest)
    const feeds = {
      [this.#ids]: { type: 'int64', dims: [1, ids.length], data: ids } as const,
      style: number(this.#styleType, [1, styleSize], style),
      speed: number(this.#speedType, this.#speedDims === 0 ? [] : [1], Float32Array.of(speed)),
    }
    const results = await this.#session.run(feeds, signal)
    const sound = results[this.#sound]
    if (sound === undefined) throw new Error(`the graph gave no ${this.#sound}`)
    const pcm = floats(sound)
    if (!pcm.every(Number.isFinite)) throw new Error('the graph gave a sound that is not finite')
    const lengths = this.#lengths === null ? undefined : results[this.#lengths]?.data
    const isWhole = lengths?.length === ids.length
    return { pcm, lengths: isWhole ? Array.from(lengths as ArrayLike<number | bigint>, Number) : null }
  }

  release(): Promise<void> {
    return this.#session.release()
  }
}

/** @param weights of the model's card @throws Error if the file is not such a graph */
export async function loadGraph(
  path: string,
  threads: number,
  weights: Card['weights'],
  open = openGraph,
): Promise<KokoroGraph> {
  const session = await open(path, weights, threads)
  try {
    return new KokoroGraph(basename(path), session)
  } catch (error) {
    await session.release()
    throw error
  }
}

function number(type: string, dims: readonly number[], values: Float32Array): Tensor {
  if (type === 'int32') return { type, dims, data: Int32Array.from(values, (value) => Math.max(1, Math.round(value))) }
  if (type === 'float16') return { type, dims, data: new Uint16Array(new Float16Array(values).buffer) }
  return { type: 'float32', dims, data: values }
}

function floats({ type, data }: Tensor): Float32Array {
  if (type === 'float32') return data as Float32Array
  return Float32Array.from(new Float16Array((data as Uint16Array).slice().buffer))
}
