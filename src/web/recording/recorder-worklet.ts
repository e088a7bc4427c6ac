/**
 * Runs in the browser's audio thread while the microphone is recorded: passes on every sample, in blocks, with the peak
 * of each. A separate file, because the page's policy lets a thread load nothing else.
 */
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void

/** Samples per block; about 40 ms, which is how fresh the level is. */
const blockSamples = 2048

export interface Block {
  /** In [-1, 1], at the rate of the audio context. */
  samples: Float32Array<ArrayBuffer>
  /** Loudest of them, 0 to 1 and above where the device gives that. */
  peak: number
  /** Nothing follows: the page requested the end. */
  isLast: boolean
}

class Recorder extends AudioWorkletProcessor {
  #block = new Float32Array(blockSamples)
  #count = 0
  #isEnded = false

  constructor() {
    super()
    this.port.onmessage = () => {
      this.#send(true)
      this.#isEnded = true
    }
  }

  /** @param inputs of one node: no channel while nothing is connected @returns whether to continue */
  process([input]: Float32Array[][]): boolean {
    if (this.#isEnded) return false
    for (const sample of input?.[0] ?? []) {
      this.#block[this.#count++] = sample
      if (this.#count === blockSamples) this.#send(false)
    }
    return true
  }

  #send(isLast: boolean): void {
    const samples = this.#block.slice(0, this.#count)
    let peak = 0
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
    this.#count = 0
    this.port.postMessage({ samples, peak, isLast } satisfies Block, [samples.buffer])
  }
}

registerProcessor('recorder', Recorder)
