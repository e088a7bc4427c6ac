/**
 * The output of hibari's graph for a chunk, frame by frame, and its sizes. A frame is 300 samples at 24 kHz, which is
 * 12.5 ms; its spectrum has the 601 bins, 20 Hz each, of a transform of 1,200 samples. Source: the package hibari-tts
 * 0.2.1, `hibari/dsp.py` (Apache-2.0).
 */
export const sampleRateHz = 24_000
export const hopSamples = 300
export const frameSamples = 1200
export const bins = frameSamples / 2 + 1

/** A pitch below this means that nothing is voiced there. */
export const leastVoicedHz = 40

/** Logarithms are natural and of magnitudes. Spectra are bin by bin: `[bin * frames + frame]`. */
export interface Parameters {
  frames: number
  /** The voiced part: the filter of the pulses. */
  harmonicLog: Float32Array
  /** Its phase against the pulses, as a number whose tanh times pi is meant. */
  harmonicTurn: Float32Array
  /** The rest: breath, hiss, and the aperiodic part of the voice. */
  restLog: Float32Array
  /** Its phase, in radians. */
  restPhase: Float32Array
  /** In Hz, one per frame; below `leastVoicedHz`, also negative, if nothing is voiced. */
  f0: Float32Array
}

/** The graph's magnitudes are cut off here, e^7. */
export const mostLog = 7

/** Of one frame; the last bin is that of half the rate. */
export interface Spectrum {
  re: Float64Array
  im: Float64Array
}
