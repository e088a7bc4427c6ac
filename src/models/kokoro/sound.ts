/**
 * Turns the graph's audio into ours. It begins and ends with silences whose length the graph chooses; they are
 * removed, so that the pauses between chunks are set by what ends them, and the ends are faded, so that joins do not
 * click.
 */
const windowS = 0.01
/** How much of the silence before and after the speech stays: the breath of an h, the end of a t. */
const keptLeadS = 0.04
const keptTailS = 0.08
const fadeS = 0.005
/** A window is silent when its level is so far below that of the loudest one. */
const silenceDb = -46

/**
 * @param pcm the graph's sound, written to
 * @param speed how fast it was spoken: what stays of the silences is shorter in fast speech
 * @param pauseS silence to put behind it
 * @returns also how many samples of the graph's were left out at the beginning
 */
export function finish(
  pcm: Float32Array,
  speed: number,
  pauseS: number,
  sampleRateHz: number,
): { pcm: Float32Array; skippedSamples: number } {
  const window = Math.round(windowS * sampleRateHz)
  const { first, last } = loudWindows(pcm, window)
  const from = Math.max(0, first * window - Math.round((keptLeadS / speed) * sampleRateHz))
  const to = Math.min(pcm.length, (last + 1) * window + Math.round((keptTailS / speed) * sampleRateHz))
  const speech = pcm.subarray(from, to)
  fade(speech, Math.round(fadeS * sampleRateHz))
  const whole = new Float32Array(speech.length + Math.round(pauseS * sampleRateHz))
  for (let at = 0; at < speech.length; at++) whole[at] = Math.min(1, Math.max(-1, speech[at]!))
  return { pcm: whole, skippedSamples: from }
}

/** The first and the last window that are not silent; all of them when the whole is. */
function loudWindows(pcm: Float32Array, size: number): { first: number; last: number } {
  const powers = Array.from({ length: Math.ceil(pcm.length / size) }, (_, index) => {
    let power = 0
    for (let at = index * size; at < Math.min(pcm.length, (index + 1) * size); at++) power += pcm[at]! ** 2
    return power
  })
  const least = powers.reduce((most, power) => Math.max(most, power), 0) * 10 ** (silenceDb / 10)
  const isLoud = (power: number) => power > least
  const first = powers.findIndex(isLoud)
  return first < 0 ? { first: 0, last: powers.length - 1 } : { first, last: powers.findLastIndex(isLoud) }
}

/** Raised cosine at both ends: the first and the last sample are 0. */
function fade(samples: Float32Array, length: number): void {
  const width = Math.min(length, samples.length >> 1)
  for (let at = 0; at < width; at++) {
    const weight = (1 - Math.cos((Math.PI * at) / width)) / 2
    samples[at]! *= weight
    samples[samples.length - 1 - at]! *= weight
  }
}
