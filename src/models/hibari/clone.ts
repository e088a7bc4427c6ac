/**
 * The approximate clone: the graph's voice, brought to the pitch, the size and the colour of a clip. It is the manner
 * of speaking that is not cloned, and much of what makes a person: `models/hibari.json` calls it approximate.
 *
 * - **Pitch**: the median by YIN.
 * - **Size**: a shorter vocal tract has higher formants. They are not measured but inferred: over speakers they go
 *   about with the cube root of pitch (the sensory reference of J. D. Miller, "Auditory-perceptual interpretation of
 *   the vowel", J. Acoust. Soc. Am. 85, 1989).
 * - **Colour**: the spectra of the clip as a whole, their average and how they vary together (`colour.ts`).
 *
 * The map needs some five seconds of speech; of less, or of a clip with noise in it, it is moved towards none. The
 * noise of the room, as it is in the quietest tenth of the clip, is taken from each band, and what is hardly louder is
 * left out.
 *
 * What the program makes of clips, clean, short and noisy ones, is in docs/benchmarks.md, "Clones of readers". What
 * the parts are worth, six readers of LibriSpeech with one clip each, five sentences: likeness by Resemblyzer to three
 * other clips of the reader (a fourth recording of the reader: 0.92, two readers: 0.57), and DNSMOS.
 *
 * |                        | clean clips | white noise 15 dB below |
 * | ---------------------- | ----------- | ----------------------- |
 * | this clone             | 0.71 / 3.32 | 0.69 / 3.43             |
 * | the noise as it is     | 0.71 / 3.30 | 0.64 / 3.27             |
 */
import { Fft, hann } from '../../audio/fft.ts'
import { levelDb } from '../../audio/pcm.ts'
import { measurePitch } from '../../audio/pitch.ts'
import { Resampler } from '../../audio/resample.ts'
import { type Clip, ClipRefused } from '../architecture.ts'
import type { Colour } from './colour.ts'
import { activeDb, bands, cepstra, loudOf, measure, toCepstrum } from './features.ts'
import { bins, frameSamples, hopSamples, type Parameters, sampleRateHz } from './parameters.ts'
import { gainOf, ownHz, type Shape } from './shape.ts'
import { speechSpan } from './speech-span.ts'
import { momentsOf, transportMap } from './transport.ts'
import { Vocoder } from './vocoder.ts'

/** What the voice is measured by: 20 s in which most sounds of English come up. */
export const sentences = [
  'The birds that imitate voices learn them from anyone who speaks nearby.',
  'She asked whether the young judge had already measured the large vehicle.',
  'Please bring fresh bread, five eggs, and a small jar of honey.',
  'Thousands of people watched the boats move slowly up the river.',
  'How could they choose a shorter path through those thick woods?',
]

const voicedSMin = 0.12
/** Beyond these the voice loses more than it gains. */
const hzMin = 80
const hzMax = 260
const formantsMin = 0.8
const formantsMax = 1.2
/** Five seconds. With fewer frames the map is drawn towards none by this share. */
const enoughFrames = 400
const shrinkage = 0.3
/** Of speech over the quietest tenth of the clip: less is a noisy room. */
const cleanDb = 25
/** What of a clip is less above its noise says more about the room than about the voice. */
const aboveNoiseDb = 6
/** Of the power of a band, at least so much is speech. */
const leastShare = 0.1
/** Added to each variance: as much as a listener hears, in dB squared. */
const ridge = 1e-3
/** The level of the other voices. */
const wantedDb = -22

interface Cloud {
  cepstra: Float64Array[]
  loudDb: number
  /** How far the quietest tenth is below the loud frames. */
  depthDb: number
}

/**
 * @param predict what the graph says of the sentence of that number, one chunk
 * @returns what `Vocoder` needs to speak with it
 * @throws ClipRefused when nothing in the clip has a pitch; the signal's reason once it aborts
 */
export async function cloneVoice(
  clip: Clip,
  predict: (sentence: string) => Promise<Parameters[]>,
  signal: AbortSignal,
): Promise<Shape> {
  const pause = () =>
    new Promise<void>((resolve, reject) => setImmediate(() => (signal.aborted ? reject(signal.reason) : resolve())))
  const pitch = await measurePitch(clip.pcm, clip.sampleRateHz, pause)
  if (pitch === null || pitch.voicedS < voicedSMin) {
    throw new ClipRefused(
      'No voice with a pitch was found in this recording. Record a few sentences, spoken normally and close by.',
    )
  }
  const heard = await cloudOfClip(clip, pause)
  const plain: Shape = {
    hz: limited(pitch.medianHz, hzMin, hzMax),
    formants: limited(Math.cbrt(pitch.medianHz / ownHz), formantsMin, formantsMax),
    breathDb: 0,
    gainDb: gainOf([[0, 0]]),
  }
  const said: Parameters[] = []
  for (const sentence of sentences) said.push(...(await predict(sentence)))
  const own = await cloudOfVoice(said, plain, pause)
  const shape = { ...plain, colour: colourBetween(own, heard) }
  const spoken = [...new Vocoder(said[0]!, speechSpan(said[0]!, 1), shape).blocks()].flatMap((block) => [...block])
  // The vocoder's sound is made twice as loud afterwards.
  const loud = levelDb(Float32Array.from(spoken, (sample) => 2 * sample))
  return {
    ...shape,
    gainDb: gainOf([[0, limited(wantedDb - loud, -30, 30)]]),
    colour: louder(shape.colour, wantedDb - loud),
  }
}

/** What is made louder before the map is louder in it, too. */
const louder = (colour: Colour, db: number): Colour => ({ ...colour, loudDb: colour.loudDb + limited(db, -30, 30) })

function colourBetween(own: Cloud, heard: Cloud): Colour {
  const from = momentsOf(own.cepstra, cepstra, ridge)
  const to = momentsOf(heard.cepstra, cepstra, ridge)
  const map = transportMap(from.covariance, to.covariance, cepstra)
  const isPoor = heard.cepstra.length < enoughFrames || heard.depthDb < cleanDb
  const share = isPoor ? shrinkage : 0
  const drawn = map.map((value, at) => (1 - share) * value + (at % (cepstra + 1) === 0 ? share : 0))
  return { mean: from.mean, target: to.mean, map: drawn, loudDb: own.loudDb }
}

/** Frames of the length and distance that the vocoder's have. */
async function cloudOfClip({ pcm, sampleRateHz: rateHz }: Clip, pause: () => Promise<void>): Promise<Cloud> {
  const resampler = new Resampler(rateHz, sampleRateHz)
  const head = resampler.push(pcm)
  const tail = resampler.flush()
  const samples = new Float32Array(head.length + tail.length)
  samples.set(head)
  samples.set(tail, head.length)
  const gathered = new Gathered()
  const fft = new Fft(frameSamples)
  const window = hann(frameSamples).map((weight) => weight / hopSamples)
  const [re, im, powers] = [new Float64Array(frameSamples), new Float64Array(frameSamples), new Float64Array(bins)]
  for (let at = 0; at + frameSamples <= samples.length; at += hopSamples) {
    if (at % (100 * hopSamples) === 0) await pause()
    for (let i = 0; i < frameSamples; i++) re[i] = samples[at + i]! * window[i]!
    im.fill(0)
    fft.transform(re, im)
    for (let bin = 0; bin < bins; bin++) powers[bin] = re[bin]! ** 2 + im[bin]! ** 2
    gathered.add(powers)
  }
  return gathered.cloud(true)
}

async function cloudOfVoice(said: readonly Parameters[], shape: Shape, pause: () => Promise<void>): Promise<Cloud> {
  const gathered = new Gathered()
  const powers = new Float64Array(bins)
  for (const parameters of said) {
    await pause()
    for (const { re, im } of new Vocoder(parameters, speechSpan(parameters, 1), shape).spectra()) {
      for (let bin = 0; bin < bins; bin++) powers[bin] = re[bin]! ** 2 + im[bin]! ** 2
      gathered.add(powers)
    }
  }
  return gathered.cloud(false)
}

/** Frames as they come; those of silence leave at the end, when it is known what is loud. */
class Gathered {
  readonly #frames: { levelDb: number; levels: Float64Array }[] = []

  add(powers: Float64Array): void {
    const levels = new Float64Array(bands)
    this.#frames.push({ levelDb: measure(powers, levels), levels })
  }

  /** @param room whether there is the noise of one, which is taken away */
  cloud(room: boolean): Cloud {
    const ordered = this.#frames.toSorted((a, b) => a.levelDb - b.levelDb)
    const loudDb = loudOf(ordered.map(({ levelDb }) => levelDb))
    const quietest = ordered.slice(0, Math.ceil(ordered.length / 10))
    const quietDb = quietest.at(-1)?.levelDb ?? loudDb
    // A clip without a pause has no quiet part: what is loud in it stays all the same.
    const noisyDb = room ? Math.min(quietDb, loudDb - 2 * aboveNoiseDb) + aboveNoiseDb : Number.NEGATIVE_INFINITY
    const leastDb = Math.max(loudDb - activeDb, noisyDb)
    const active = this.#frames.filter(({ levelDb }) => levelDb > leastDb)
    const noise = room ? noiseOf(quietest.map(({ levels }) => levels)) : new Float64Array(bands)
    return { cepstra: active.map(({ levels }) => cepstrumOf(levels, noise)), loudDb, depthDb: loudDb - quietDb }
  }
}

/** Mean power of each band. */
function noiseOf(quietest: readonly Float64Array[]): Float64Array {
  const noise = new Float64Array(bands)
  for (const levels of quietest) {
    for (let band = 0; band < bands; band++) noise[band]! += 10 ** (levels[band]! / 10) / quietest.length
  }
  return noise
}

/** @param noise of each band; of what is left there is at least a part of it */
function cepstrumOf(levels: Float64Array, noise: Float64Array): Float64Array {
  const clean = levels.map((level, band) => {
    const power = 10 ** (level / 10)
    return 10 * Math.log10(Math.max(power - noise[band]!, power * leastShare))
  })
  const cepstrum = new Float64Array(cepstra)
  toCepstrum(clean, cepstrum)
  return cepstrum
}

const limited = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value))
