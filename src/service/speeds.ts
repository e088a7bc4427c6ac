/**
 * Measures how fast each model speaks on this machine while it does, and how fast at least: what other programs take
 * of the machine changes from one second to the next, and what is promised by the mean is not there in half of them.
 * The mean is kept across restarts. Encoding has a cost of its own, which takes from the same processors.
 */
import type { AudioFormat } from '../domain/speech.ts'

export interface Speed {
  /** Sound that the whole machine makes in a time: 20 is twenty times real time. */
  speed: number
  /** Sound that it could make in the time in which a step brings its first. */
  stepMs: number
}

/** As reported by the engine. */
export interface StepSums {
  steps: number
  soundMs: number
  machineMs: number
  /** The part of `machineMs` until each step brought its first sound. */
  firstMs: number
}

/** So much work weighs as much as all that came before it: for the mean, and for what is true at this moment. */
const lastingMs = 8000
const recentMs = 1500
/** After so much work, two thirds of a slow moment are forgotten. */
const slowMs = 60_000
/** Less work than this says nothing. */
const leastMs = 20
/** Before anything is known: the first steps of a model count more. */
export const unknownSpeed: Speed = { speed: 4, stepMs: 2000 }

/** Of encoding, before it is measured: processor time for so much sound, as measured on two server processors. */
const usualEncoding: Readonly<Record<AudioFormat, number>> = {
  pcm: 0,
  wav: 0,
  mp3: 0.0065,
  opus: 0.0264,
  aac: 0.0144,
  flac: 0.0017,
}
/** The weight of that, in sound. */
const usualSoundMs = 2000

const none: StepSums = { steps: 0, soundMs: 0, machineMs: 0, firstMs: 0 }

export class Speeds {
  readonly #lasting = new Map<string, StepSums>()
  readonly #recent = new Map<string, StepSums>()
  /** The speed that was there even in slow moments. */
  readonly #least = new Map<string, number>()
  readonly #encoding = new Map<AudioFormat, { soundMs: number; busyMs: number }>()
  readonly #cores: number

  /** @param kept what `kept` returned in an earlier run; anything else is ignored @param cores that encoders share */
  constructor(kept: unknown = {}, cores = 1) {
    this.#cores = cores
    if (typeof kept !== 'object' || kept === null) return
    for (const [model, sums] of Object.entries(kept)) if (isSums(sums)) this.#lasting.set(model, sums)
  }

  /** What the steps of a model brought, and took of the machine's time. */
  note(model: string, steps: StepSums): void {
    const lasting = added(this.#lasting.get(model) ?? none, steps, lastingMs)
    const recent = added(this.#recent.get(model) ?? none, steps, recentMs)
    this.#lasting.set(model, lasting)
    this.#recent.set(model, recent)
    if (recent.machineMs < leastMs) return
    const mean = lasting.soundMs / lasting.machineMs
    const least = this.#least.get(model) ?? mean
    const forgiven = mean - (mean - least) * Math.exp(-steps.machineMs / slowMs)
    this.#least.set(model, Math.min(forgiven, mean, recent.soundMs / recent.machineMs))
  }

  /** An encoder has been at work for so long. */
  noteEncoding(format: AudioFormat, soundMs: number, busyMs: number): void {
    const last = this.#encoding.get(format) ?? { soundMs: usualSoundMs, busyMs: usualSoundMs * usualEncoding[format] }
    const decay = Math.exp(-busyMs / lastingMs)
    this.#encoding.set(format, { soundMs: last.soundMs * decay + soundMs, busyMs: last.busyMs * decay + busyMs })
  }

  /** @param format that its sound is encoded in: with encoding, less sound is made in a time */
  of(model: string, format: AudioFormat = 'pcm'): Speed {
    const sums = this.#lasting.get(model)
    if (sums === undefined || sums.machineMs < leastMs) return unknownSpeed
    const spoken = this.#least.get(model) ?? sums.soundMs / sums.machineMs
    const encoding = this.#encoding.get(format)
    const cost = encoding === undefined ? usualEncoding[format] : encoding.busyMs / encoding.soundMs
    const speed = 1 / (1 / spoken + cost / this.#cores)
    return { speed, stepMs: (speed * sums.firstMs) / sums.steps }
  }

  /** Those that are known. */
  get all(): ReadonlyMap<string, Speed> {
    return new Map([...this.#lasting.keys()].map((model) => [model, this.of(model)]))
  }

  /** To be kept for the next run: JSON. */
  get kept(): Readonly<Record<string, StepSums>> {
    return Object.fromEntries(this.#lasting)
  }
}

function added(last: StepSums, more: StepSums, memoryMs: number): StepSums {
  const decay = Math.exp(-more.machineMs / memoryMs)
  return {
    steps: last.steps * decay + more.steps,
    soundMs: last.soundMs * decay + more.soundMs,
    machineMs: last.machineMs * decay + more.machineMs,
    firstMs: last.firstMs * decay + more.firstMs,
  }
}

function isSums(value: unknown): value is StepSums {
  if (typeof value !== 'object' || value === null) return false
  const { steps, soundMs, machineMs, firstMs } = value as Partial<Record<keyof StepSums, unknown>>
  return [steps, soundMs, machineMs, firstMs].every(
    (number) => typeof number === 'number' && number > 0 && number < 1e12,
  )
}
