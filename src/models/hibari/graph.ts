/**
 * hibari's one graph: numbers of symbols and a pace in, the parameters of a vocoder out. It sees a whole chunk at once.
 * The graph has a further output, a filter for white noise (`ln`). It would add something 45 dB below the speech, which
 * is inaudible and would cost a third of the vocoder, so it is left out. Without it the sound needs no random numbers.
 *
 * The weights have 8 bits, and the ranges of what they are multiplied with are found at run time: results repeat to the
 * bit on one machine with one number of threads, and differ a little between processors (f0 by up to 5 Hz, the number
 * of frames by up to 1 %). Measured with AVX-512 VNNI, AVX2 and neither; the speech is as good with each.
 */
import { checkContract } from '../../onnx/contract.ts'
import { createSession } from '../../onnx/back-end.ts'
import type { Session } from '../../onnx/session.ts'
import { neighbourSymbols } from '../../phonemes/chunks.ts'
import { symbolNumbers } from '../../phonemes/symbols.ts'
import { durations } from './graph-file.ts'
import { bins, type Parameters } from './parameters.ts'

const graphFile = 'hibari.onnx'

/** Symbols of a chunk. The graph has room for more; a chunk of these is 5.5 s, and 5.3 MB of parameters. */
export const mostSymbols = 100
/** With those of its neighbours on both sides, and a space to each. */
const mostAtOnce = mostSymbols + neighbourSymbols.before + neighbourSymbols.after + 2

export interface Predicted extends Parameters {
  /** The length of each symbol, in frames, those of the pads included. */
  symbolFrames: readonly number[]
}

const spectra = ['lh', 'theta', 'lr', 'phi'] as const

export class HibariGraph {
  readonly #session: Session

  constructor(session: Session) {
    checkContract(graphFile, session, {
      inputs: [
        { name: 'ids', type: 'int64', dims: [1, null] },
        { name: 'speed', type: 'float32', dims: [1] },
      ],
      outputs: [
        ...spectra.map((name) => ({ name, type: 'float32', dims: [1, bins, null] })),
        { name: 'f0', type: 'float32', dims: [1, null] },
        { name: durations, type: 'int64', dims: [null] },
      ],
    })
    this.#session = session
  }

  /**
   * @param symbols of a chunk and of its neighbours, at least 1, that have a number
   * @param speed 0.5 to 2; 1: the voice's own pace
   * @throws RangeError of other symbols; Error when the pitch is not finite, and what ONNX Runtime
   * refuses; the signal's reason
   */
  async predict(symbols: string, speed: number, signal?: AbortSignal): Promise<Predicted> {
    const ids = symbolNumbers(symbols, mostAtOnce)
    const feeds = {
      ids: { type: 'int64', dims: [1, ids.length], data: ids },
      speed: { type: 'float32', dims: [1], data: Float32Array.of(speed) },
    } as const
    const results = await this.#session.run(feeds, signal)
    const floats = (name: string): Float32Array => {
      const data = results[name]?.data
      if (!(data instanceof Float32Array)) throw new Error(`the graph gave no ${name}`)
      return data
    }
    const f0 = floats('f0')
    const [harmonicLog, harmonicTurn, restLog, restPhase] = spectra.map(floats) as [
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
    ]
    if (!f0.every(Number.isFinite)) throw new Error('the graph gave a pitch that is not finite')
    const counts = results[durations]?.data
    const symbolFrames = counts instanceof BigInt64Array ? Array.from(counts, (count) => 2 * Number(count)) : []
    return { frames: f0.length, harmonicLog, harmonicTurn, restLog, restPhase, f0, symbolFrames }
  }

  release(): Promise<void> {
    return this.#session.release()
  }
}

export interface GraphFile {
  /** Its bytes, with durations. */
  model: Uint8Array
  /** By ONNX Runtime, already. */
  isOptimised: boolean
}

/** @param threads of one run @throws Error if it is not such a graph */
export async function loadGraph({ model, isOptimised }: GraphFile, threads: number): Promise<HibariGraph> {
  const session = await createSession(model, { threads, onCpu: true, ...(isOptimised && { isOptimised }) })
  try {
    return new HibariGraph(session)
  } catch (error) {
    await session.release()
    throw error
  }
}
